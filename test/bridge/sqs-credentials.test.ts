/*
 * Keys for our calls to SQS that the SDK's chain gets: from STS, as for a Pod with a role of its own, and from a process. One
 * renewal serves all calls, so an answer that is lost must not stop them for good.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { boundedKeys, credentialsOfSdk } from '../../bridge/sqs-keys.ts';
import type { SigningCredentials } from '../../bridge/sqs-signature.ts';
import { eventually } from '../support/eventually.ts';
import { isAlive } from '../support/living.ts';
import { ManualClock } from '../support/manual-clock.ts';

const TIMEOUT_MS = 100;
const ANSWER = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
  <SessionToken>token</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>`;

let folder: string;
let sts: Server;
let isSilent = true;
/** The environment of a profile whose process does not end, unless its file is there, and writes its id when it begins. */
async function useHangingProcess(): Promise<{
  readonly begun: () => Promise<readonly number[]>;
  readonly mend: () => Promise<void>;
}> {
  const [begun, mended, config] = ['begun', 'mended', 'config'].map((name) => join(folder, name));
  const keys = '{"Version":1,"AccessKeyId":"ASIAPROCESS","SecretAccessKey":"secret","SessionToken":"token"}';
  const script = join(folder, 'process.sh');
  // It ends with the test at the latest: when its folder is gone.
  const hang = `while [ ! -e "${mended}" ] && [ -d "${folder}" ]; do sleep 0.05; done`;
  await writeFile(script, `echo $$ >> "${begun}"\n[ -e "${mended}" ] || { ${hang}; exit 1; }\necho '${keys}'\n`);
  await writeFile(config ?? '', `[default]\ncredential_process = /bin/sh ${script}\n`);
  for (const name of ['AWS_ROLE_ARN', 'AWS_WEB_IDENTITY_TOKEN_FILE']) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONFIG_FILE', config);
  return {
    begun: async () => (await readFile(begun ?? '', 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number),
    mend: () => writeFile(mended ?? '', ''),
  };
}

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
  // Which of the two there are, a machine that is busy has a say in.
  await expect(keys()).rejects.toThrow(/requestTimeout|establish a connection/);
  isSilent = false;
  // On a busy machine an answer may take longer than is waited for here.
  await expect
    .poll(() => keys().catch(() => undefined))
    .toMatchObject({ accessKeyId: 'ASIAEXAMPLE', sessionToken: 'token' });
});

it('come from another process when one did not end, which is ended: no two ever hang (P4)', async () => {
  const clock = new ManualClock();
  const { begun, mend } = await useHangingProcess();
  const keys = boundedKeys(() => credentialsOfSdk('eu-central-1'), clock);
  const hanging = async () => (await begun()).filter(isAlive).length;
  for (let round = 0; round < 3; round += 1) {
    const said: string[] = [];
    await eventually('a process hangs', async () => {
      void keys().catch((error: unknown) => said.push(String(error)));
      // Where the process of the round before took its time to end, it is asked for again after a while only.
      const [, pause] = /again in (\d+) s/.exec(said.join()) ?? [];
      if (pause !== undefined) await clock.advance(Number(pause) * 1000);
      said.length = 0;
      // What was given up before is over by the time at which another is waited for.
      return clock.due.length > 0 && (await hanging()) > 0;
    });
    expect(await hanging()).toBe(1);
    await clock.advance(60_000);
    await eventually('that it was ended is said', () => said.join().includes('the process that was asked is ended'));
    await eventually('none hangs', async () => (await hanging()) === 0);
  }
  await mend();
  await eventually('they come', async () => (await keys().catch(() => undefined))?.accessKeyId === 'ASIAPROCESS');
});

describe('keys that do not come', () => {
  const KEYS = { accessKeyId: 'AKID', secretAccessKey: 'secret' };

  function bench() {
    const clock = new ManualClock();
    const chains: PromiseWithResolvers<SigningCredentials>[] = [];
    const begin = () => {
      const chain = Promise.withResolvers<SigningCredentials>();
      chains.push(chain);
      return () => chain.promise;
    };
    const keys = boundedKeys(begin, clock);
    const failed = async (ms: number) => {
      const given = expect(keys()).rejects.toThrow();
      await clock.advance(ms);
      await given;
    };
    return { clock, chains, keys, failed };
  }

  it('are asked for ever less often, up to every ten minutes, and as at first once they came', async () => {
    const { clock, chains, keys, failed } = bench();
    const pauses: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      await failed(60_000);
      const [, left] = /again in (\d+) s/.exec(String(await keys().catch((error: unknown) => error))) ?? [];
      pauses.push(Number(left));
      await clock.advance(Number(left) * 1000);
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600]);
    const got = keys();
    chains.at(-1)?.resolve(KEYS);
    expect(await got).toEqual(KEYS);
    expect(chains).toHaveLength(8);
  });

  it('count when they come late', async () => {
    const { clock, chains, keys, failed } = bench();
    await failed(60_000);
    chains[0]?.resolve(KEYS);
    await clock.advance(0);
    expect(await keys()).toEqual(KEYS);
    expect(chains).toHaveLength(1);
  });

  it('hold up no stop, and are not taken for hanging then', async () => {
    const { chains, keys } = bench();
    const cut = new AbortController();
    const given = expect(keys(cut.signal)).rejects.toThrow('getting keys');
    cut.abort();
    await given;
    const got = keys();
    chains[0]?.resolve(KEYS);
    expect(await got).toEqual(KEYS);
  });

  it('for a reason are asked for again at once', async () => {
    const clock = new ManualClock();
    const tries = [Promise.reject(new Error('no profile')), Promise.resolve(KEYS)].values();
    const keys = boundedKeys(() => () => tries.next().value ?? Promise.resolve(KEYS), clock);
    await expect(keys()).rejects.toMatchObject({ cause: { message: 'no profile' } });
    expect(await keys()).toEqual(KEYS);
  });
});
