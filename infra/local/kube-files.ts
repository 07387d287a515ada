/*
 * The files kube-apiserver is started with: keys for ServiceAccount tokens, and the token of the admin.
 * Written by kube into its private folder; the server adds its own certificate there.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface KubeFiles {
  readonly folder: string;
  /** The server's self-signed certificate with its issuer, there once the server has started. */
  readonly caFile: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  readonly tokens: string;
  readonly adminToken: string;
}

/** Keys are kept when the folder has some, so that tokens survive a start from the same folder; the admin's token is new. */
export async function writeKubeFiles(folder: string): Promise<KubeFiles> {
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
  const adminToken = randomBytes(24).toString('base64url');
  const tokens = join(folder, 'tokens.csv');
  // Token, name, uid and group.
  await writeFile(tokens, `${adminToken},admin,admin,system:masters\n`, { mode: 0o600 });
  return {
    folder,
    caFile: join(folder, 'apiserver.crt'),
    serviceAccountKey,
    serviceAccountPublicKey,
    tokens,
    adminToken,
  };
}
