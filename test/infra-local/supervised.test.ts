/*
 * Child processes end with their parent, however it ends.
 * Parents are real processes here, so that they can be killed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startSupervised } from '../../infra/local/supervised.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function start(script: string, more: { announces?: boolean } = {}) {
  const log = join(folder, `${Math.random()}.log`);
  return startSupervised({
    ...{ name: 'the child', command: '/bin/sh', args: ['-c', script], env: process.env, logFile: log, ...more },
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a supervised process', () => {
  it.each<NodeJS.Signals | 'exit'>(['SIGKILL', 'SIGTERM', 'exit'])(
    'ends when its parent ends by %s (P5)',
    async (way) => {
      const parent = join(folder, 'parent.ts');
      const source = new URL('../../infra/local/supervised.ts', import.meta.url).href;
      await writeFile(
        parent,
        `import { startSupervised } from '${source}';
         const child = await startSupervised({ name: 'c', command: 'sleep', args: ['600'], env: process.env, logFile: '${folder}/p.log' });
         console.log(child.pid);
         if (process.argv[2] === 'exit') process.exit(0);`,
      );
      const process_ = spawn(process.execPath, [parent, way], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(process_, 'exit');
      const [line] = await once(createInterface({ input: process_.stdout }), 'line');
      const pid = Number(line);
      if (way !== 'exit') {
        expect(isAlive(pid)).toBe(true);
        process_.kill(way);
      }
      await ended;
      await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 60_000 });
    },
  );

  it('is killed when it does not end on SIGTERM within its grace', async () => {
    const child = await start(`trap '' TERM; echo ready; while :; do sleep 0.1; done`, { announces: true });
    await child.firstLine;
    await child.stop(100);
    expect(isAlive(child.pid)).toBe(false);
  });

  it('tells its exit code and its last words', async () => {
    const child = await start('echo bind: address already in use >&2; exit 3');
    expect(await child.exited).toBe(3);
    expect(child.hasExited()).toBe(true);
    expect(await child.logTail()).toBe('bind: address already in use');
    await child.stop();
  });

  it('gives its first line, even when it ends at once, and an error when there is none', async () => {
    const spoken = await start('echo hello; echo more', { announces: true });
    expect(await spoken.firstLine).toBe('hello');
    const silent = await start('exit 4', { announces: true });
    await expect(silent.firstLine).rejects.toThrow('the child ended with code 4 before it said anything');
  });
});
