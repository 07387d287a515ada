/*
 * Keys for our calls to SQS that the SDK's chain gets from STS, as for a Pod with a role of its own. One renewal serves all
 * calls, so an answer that is lost must not stop them for good.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { credentialsOfSdk } from '../../bridge/sqs-client.ts';

const TIMEOUT_MS = 100;
const ANSWER = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
  <SessionToken>token</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>`;

let folder: string;
let sts: Server;
let isSilent = true;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sqs-credentials-'));
  sts = createServer((request, response) => {
    request.resume();
    if (!isSilent) response.writeHead(200, { 'content-type': 'text/xml' }).end(ANSWER);
  });
  await new Promise<void>((resolve) => sts.listen(0, '127.0.0.1', resolve));
  const address = sts.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const token = join(folder, 'token');
  await writeFile(token, 'token of the account');
  const environment = {
    AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/bridge',
    AWS_WEB_IDENTITY_TOKEN_FILE: token,
    AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${port}`,
    AWS_CONFIG_FILE: join(folder, 'none'),
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  sts.closeAllConnections();
  sts.close();
  await rm(folder, { recursive: true, force: true });
});

it('come at a later call when STS was silent at the one before (P4)', async () => {
  isSilent = true;
  const keys = credentialsOfSdk('eu-central-1', TIMEOUT_MS);
  await expect(keys()).rejects.toThrow('requestTimeout');
  isSilent = false;
  // On a busy machine an answer may take longer than is waited for here.
  await expect
    .poll(() => keys().catch(() => undefined))
    .toMatchObject({ accessKeyId: 'ASIAEXAMPLE', sessionToken: 'token' });
});
