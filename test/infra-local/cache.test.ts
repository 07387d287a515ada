/*
 * The cache of costly things: whole or absent, filled once, also when a process died over it.
 * Each test has a cache folder of its own.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cached, cacheRoot } from '../../infra/local/cache.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'finalizer-bridge-test-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** The lock of a process that held it when it ended. */
async function leaveLock(pid: number): Promise<void> {
  await mkdir(join(root, 'locks', 'k'), { recursive: true });
  await writeFile(join(root, 'locks', 'k', 'owner.json'), JSON.stringify({ pid, host: hostname(), token: 'dead' }));
}

const quiet = () => undefined;
const write = (text: string) => (folder: string) => writeFile(join(folder, 'content'), text);

describe('the cache', () => {
  it('is where the XDG specification says', () => {
    expect(cacheRoot({ XDG_CACHE_HOME: '/var/x', HOME: '/srv/me' })).toBe('/var/x/finalizer-bridge');
    expect(cacheRoot({ XDG_CACHE_HOME: 'relative', HOME: '/srv/me' })).toBe('/srv/me/.cache/finalizer-bridge');
    expect(cacheRoot({ HOME: '/srv/me' })).toBe('/srv/me/.cache/finalizer-bridge');
  });

  it('fills an entry once, however many ask at the same time, and says who waits', async () => {
    let fills = 0;
    const said: string[] = [];
    const ask = () =>
      cached({
        root,
        key: 'k',
        say: (line) => said.push(line),
        fill: async (folder) => {
          fills++;
          await writeFile(join(folder, 'content'), 'whole');
        },
      });
    const folders = await Promise.all([ask(), ask(), ask()]);

    expect(new Set(folders)).toEqual(new Set([join(root, 'k')]));
    expect(fills).toBe(1);
    expect(said).toContain('waiting for another process that prepares k');
    expect(await readFile(join(root, 'k', 'content'), 'utf8')).toBe('whole');
    expect((await readdir(root)).sort()).toEqual(['k', 'locks']);
    expect(await readdir(join(root, 'locks'))).toEqual([]);
  });

  it('leaves nothing of an entry whose filling failed, and fills it at the next try', async () => {
    const failing = cached({ root, key: 'k', say: quiet, fill: () => Promise.reject(new Error('no network')) });
    await expect(failing).rejects.toThrow('no network');
    expect(await readdir(root)).toEqual(['locks']);

    await cached({ root, key: 'k', say: quiet, fill: write('later') });
    expect(await readFile(join(root, 'k', 'content'), 'utf8')).toBe('later');
  });

  it('takes the lock of a process that is gone, and clears away what that left half done (P5)', async () => {
    const gone = 2 ** 22 + 1; // above the largest process id there can be
    await leaveLock(gone);
    await writeFile(join(root, 'k.tmp-abc'), 'half');

    await cached({ root, key: 'k', say: quiet, fill: write('whole') });

    expect((await readdir(root)).sort()).toEqual(['k', 'locks']);
  });

  it('lets one of many processes in at a time, also when all of them find the lock of one that is gone (P10)', async () => {
    await leaveLock(2 ** 22 + 1);
    // Each fails its filling, so that every one of them gets in, and says so when it is not alone there.
    const script = `
      import { rm, writeFile } from 'node:fs/promises';
      import { join } from 'node:path';
      import { cached } from ${JSON.stringify(join(import.meta.dirname, '../../infra/local/cache.ts'))};
      const [root] = process.argv.slice(1);
      const fill = async (folder) => {
        await writeFile(join(root, 'inside'), '', { flag: 'wx' });
        for (let file = 0; file < 50; file++) await writeFile(join(folder, String(file)), 'content');
        await rm(join(root, 'inside'));
        throw new Error('was alone');
      };
      await cached({ root, key: 'k', say: () => {}, fill }).catch(({ message }) => console.log(message));`;
    const run = promisify(execFile);
    const all = Array.from({ length: 5 }, () => run(process.execPath, ['--input-type=module', '--eval', script, root]));
    expect((await Promise.all(all)).map(({ stdout }) => stdout.trim())).toEqual(all.map(() => 'was alone'));
    expect(await readdir(root)).toEqual(['locks']);
  }, 480_000);
});
