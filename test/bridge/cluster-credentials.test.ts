/*
 * Kubeconfigs whose user has its token in a file, as a laptop or a Pod of another cluster may have: the library that reads
 * them does not know of that.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { explainFailure } from '../../bridge/cli/failure-words.ts';
import { createCredentials, loadKubeConfig } from '../../bridge/cluster-credentials.ts';
import { createHttp } from '../../bridge/cluster-http.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import { eventually } from '../support/eventually.ts';
import { isAlive } from '../support/living.ts';
import { ManualClock } from '../support/manual-clock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterEach(async () => await rm(folder, { recursive: true }));

/** Writes a kubeconfig with this user. */
async function kubeconfig(user: object): Promise<string> {
  const file = join(folder, 'config');
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'local' },
    clusters: [{ name: 'local', cluster: { server: 'https://127.0.0.1:1', 'insecure-skip-tls-verify': true } }],
    users: [
      { name: 'bridge', user },
      { name: 'another', user: { token: 'of-another' } },
    ],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'bridge' } }],
  };
  await writeFile(file, stringify(config));
  return file;
}

const tokenIn = async (file: string, user?: string) => {
  const { headers } = await createCredentials(() => loadKubeConfig(file, { user }), new ManualClock()).current();
  return headers.Authorization;
};

describe("a user's tokenFile", () => {
  it('is read, from where the kubeconfig is', async () => {
    await mkdir(join(folder, 'secrets'));
    await writeFile(join(folder, 'secrets/token'), 'of-file');
    expect(await tokenIn(await kubeconfig({ tokenFile: 'secrets/token' }))).toBe('Bearer of-file');
    expect(await tokenIn(await kubeconfig({ tokenFile: join(folder, 'secrets/token') }))).toBe('Bearer of-file');
  });

  it('counts before a token beside it, and for no other user', async () => {
    await writeFile(join(folder, 'token'), 'of-file');
    const file = await kubeconfig({ tokenFile: 'token', token: 'of-user' });
    expect(await tokenIn(file)).toBe('Bearer of-file');
    expect(await tokenIn(file, 'another')).toBe('Bearer of-another');
  });

  it('that is rotated is read again when the token was refused (K14)', async () => {
    const [file, clock] = [await kubeconfig({ tokenFile: 'token' }), new ManualClock()];
    await writeFile(join(folder, 'token'), 'first');
    const source = createCredentials(() => loadKubeConfig(file), clock);
    const refused = await source.current();
    await writeFile(join(folder, 'token'), 'second');
    await clock.advance(2_000);
    expect((await source.renewed(refused)).headers.Authorization).toBe('Bearer second');
  });

  it('that cannot be read is a failure, and not nobody', async () => {
    const cause = expect.objectContaining({ code: 'ENOENT' });
    await expect(tokenIn(await kubeconfig({ tokenFile: 'nowhere' }))).rejects.toMatchObject({ cause });
  });
});

describe('a program that is asked for credentials', () => {
  const asking = async (script: string) => {
    const command = join(folder, 'plug-in');
    await writeFile(command, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never' };
    const [file, clock] = [await kubeconfig({ exec }), new ManualClock()];
    const http = createHttp({ credentials: source(file, clock), metrics: createMetrics(), clock });
    const ask = () => {
      const asked = http.ask({ method: 'GET', path: '/version', doing: 'asking' });
      return asked.then(String, (error: unknown) => explainFailure(error).message);
    };
    return { clock, ask, said: ask() };
  };
  const source = (file: string, clock: ManualClock) => createCredentials(() => loadKubeConfig(file), clock);

  it.each([
    ['fails, and says why', 'echo log in first >&2; exit 1', 'log in first'],
    ['fails, and says nothing', 'exit 3', 'it failed, and said nothing'],
    ['prints rubbish', 'echo rubbish', 'is not valid JSON'],
  ])('and %s is told as what it is, and not as an API server that is away', async (_, script, words) => {
    const { said } = await asking(script);

    expect(await said).toMatch(/^asking: no credentials of the program \S+plug-in <- /);
    expect(await said).toContain(words);
    expect(await said).not.toContain('API server');
  });

  it('and hangs is waited for no longer than an answer, and ended with what it has started: none pile up', async () => {
    const pids = join(folder, 'pids');
    const begun = async () => (await readFile(pids, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
    const { clock, said, ask } = await asking(`echo $$ >> ${pids}; sleep 60 & echo $! >> ${pids}; wait`);
    for (const round of [1, 2, 3]) {
      const words = round === 1 ? said : ask();
      await eventually('it and another process are there', async () => (await begun()).length === 2 * round);
      expect((await begun()).filter(isAlive)).toHaveLength(2);

      await clock.advance(15_000);

      expect(await words).toMatch(
        /no credentials of the program \S+plug-in, which was ended <- no answer within 15000 ms/,
      );
      expect(clock.due).toEqual([]);
      await eventually('both are ended', async () => !(await begun()).some(isAlive));
    }
  });

  it('and was ended a moment ago is waited for until it is over, and then another is started', async () => {
    const pids = join(folder, 'pids');
    const begun = async () => (await readFile(pids, 'utf8').catch(() => '')).split('\n').filter(Boolean).length;
    const { clock, said, ask } = await asking(`echo $$ >> ${pids}; exec sleep 60`);
    await eventually('it is there', async () => (await begun()) === 1);
    // What is asked for in the very moment of its end is told of it, and the next one comes at once.
    const next = said.then(ask);
    await clock.advance(15_000);
    expect(await said).toContain('which was ended');
    await eventually('another is there', async () => (await begun()) === 2);
    await clock.advance(15_000);
    expect(await next).toContain('which was ended');
  });

  it('and leaves another one running with its output is not waited for: what it has said counts', async () => {
    const pids = join(folder, 'pids');
    const token = JSON.stringify({
      ...{ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' },
      status: { token: 'of-program', clientSecret: 'x'.repeat(100_000) },
    });
    await writeFile(join(folder, 'said'), token);
    const command = join(folder, 'plug-in');
    const script = `sleep 60 &\necho $! > ${pids}\ncat ${join(folder, 'said')}`;
    await writeFile(command, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never' };
    const clock = new ManualClock();
    const asked = source(await kubeconfig({ exec }), clock).current();
    let isTold = false;
    const told = asked.finally(() => {
      isTold = true;
    });
    await eventually('it is over, and a second later what it said is taken', async () => {
      // Less than it is waited for in all.
      if (clock.due.some((ms) => ms <= 1_000)) await clock.advance(1_000);
      return isTold;
    });
    expect((await told).headers.Authorization).toBe('Bearer of-program');
    const pid = Number(await readFile(pids, 'utf8'));
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
  });

  it('and cannot be ended is started no second time while it lives', async () => {
    const pids = join(folder, 'pids');
    const { clock, said, ask } = await asking(`echo $$ >> ${pids}; exec sleep 60`);
    await eventually('it is there', async () => (await readFile(pids, 'utf8').catch(() => '')) !== '');
    const [pid = 0] = (await readFile(pids, 'utf8')).split('\n').map(Number);
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw new Error('EPERM');
    });
    await clock.advance(15_000);
    await said;
    const again = ask();
    await clock.advance(1_000);
    expect(await again).toContain('one that hangs could not be ended, so no other is started');
    expect(await readFile(pids, 'utf8')).toBe(`${pid}\n`);
    kill.mockRestore();
    process.kill(pid, 'SIGKILL');
    await eventually('another is started', async () => {
      void ask();
      return (await readFile(pids, 'utf8')).trim().split('\n').length > 1;
    });
    await clock.advance(15_000);
  });
});

it('a kubeconfig without a user, or with a token, is read as before', async () => {
  expect(await tokenIn(await kubeconfig({ token: 'of-user' }))).toBe('Bearer of-user');
  expect(await tokenIn(await kubeconfig({}))).toBeUndefined();
});

it('a kubeconfig that is being written, and names no address yet, is not taken for the new one (K14)', async () => {
  const file = await kubeconfig({ token: 'of-user' });
  const clock = new ManualClock();
  const source = createCredentials(() => loadKubeConfig(file), clock);
  const before = await source.current();
  await clock.advance(2_000);
  const whole = await readFile(file, 'utf8');
  await writeFile(file, whole.replace('https://127.0.0.1:1', 'ht'));
  await expect(source.renewed(before)).rejects.toThrow('Invalid URL');
  await writeFile(file, whole);
  await clock.advance(120_000);
  expect(await source.current()).toMatchObject({ origin: 'https://127.0.0.1:1' });
});

it('a kubeconfig that nobody has is told as missing', () => {
  vi.stubEnv('KUBECONFIG', undefined);
  vi.stubEnv('HOME', folder);
  try {
    expect(() => loadKubeConfig(undefined)).toThrow('there is none: KUBECONFIG is not set, there is no ~/.kube/config');
  } finally {
    vi.unstubAllEnvs();
  }
});
