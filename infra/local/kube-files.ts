/*
 * The files kube-apiserver is started with: keys for ServiceAccount tokens, and the tokens of the admin and of extra users.
 * Written by kube into its private folder; the server adds its own certificate there.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A user known by a fixed token; what it may do is up to RBAC. */
export interface KubeUser {
  readonly name: string;
  readonly groups?: readonly string[];
}

export interface KubeFiles {
  readonly folder: string;
  /** The server's self-signed certificate with its issuer, there once the server has started. */
  readonly caFile: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  readonly tokens: string;
  readonly adminToken: string;
  /** Tokens by user name, without the admin. */
  readonly userTokens: Readonly<Record<string, string>>;
}

/** Keys are kept when the folder has some, so that tokens survive a start from the same folder; the fixed tokens are new. */
export async function writeKubeFiles(folder: string, users: readonly KubeUser[]): Promise<KubeFiles> {
  const serviceAccountKey = join(folder, 'service-account.key');
  const serviceAccountPublicKey = join(folder, 'service-account.pub');
  const present = await readFile(serviceAccountKey, 'utf8').catch(() => undefined);
  if (present === undefined) {
    const pair = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      privateKeyEncoding: { type: 'sec1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    await writeFile(serviceAccountPublicKey, pair.publicKey, { mode: 0o600 });
    await writeFile(serviceAccountKey, pair.privateKey, { mode: 0o600 });
  }
  const adminToken = newToken();
  const userTokens = Object.fromEntries(users.map((user) => [user.name, newToken()]));
  const lines = users.map(({ name, groups = [] }) => tokenLine(userTokens[name] ?? '', name, groups));
  const tokens = join(folder, 'tokens.csv');
  await writeFile(tokens, [tokenLine(adminToken, 'admin', ['system:masters']), ...lines, ''].join('\n'), {
    mode: 0o600,
  });
  return {
    folder,
    caFile: join(folder, 'apiserver.crt'),
    serviceAccountKey,
    serviceAccountPublicKey,
    tokens,
    adminToken,
    userTokens,
  };
}

const newToken = () => randomBytes(24).toString('base64url');

/** token, name, uid, and the groups as one quoted field. */
function tokenLine(token: string, name: string, groups: readonly string[]): string {
  return `${token},"${name}","${name}"${groups.length === 0 ? '' : `,"${groups.join(',')}"`}`;
}
