/*
 * The cache of costly things: whole or absent, filled once, also when a process died over it.
 * Each test has a cache folder of its own.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cached, cacheRoot } from '../../infra/local/cache.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'finalizer-bridge-test-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

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
    expect(await readdir(root)).toEqual(['k']);
  });

  it('leaves nothing of an entry whose filling failed, and fills it at the next try', async () => {
    const failing = cached({ root, key: 'k', say: quiet, fill: () => Promise.reject(new Error('no network')) });
    await expect(failing).rejects.toThrow('no network');
    expect(await readdir(root)).toEqual([]);

    await cached({ root, key: 'k', say: quiet, fill: write('later') });
    expect(await readFile(join(root, 'k', 'content'), 'utf8')).toBe('later');
  });

  it('takes the lock of a process that is gone, and clears away what that left half done (P5)', async () => {
    const gone = 2 ** 22 + 1; // above the largest process id there can be
    await writeFile(join(root, 'k.lock'), String(gone));
    await writeFile(join(root, 'k.tmp-abc'), 'half');

    await cached({ root, key: 'k', say: quiet, fill: write('whole') });

    expect(await readdir(root)).toEqual(['k']);
  });
});
