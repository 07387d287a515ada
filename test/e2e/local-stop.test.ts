/*
 * The whole local system in a process of its own: usable, restartable, and gone without a trace when that process is told to end.
 * Two servers of its own, the only ones beside the shared ones, since those must not be stopped during a run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod/mini';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const announcement = z.object({ pids: z.array(z.number()), kept: z.number(), sameUid: z.boolean(), queue: z.string() });

/** Starts the system, puts an object in, restarts the API server, tells what became of it, and waits to be told to end. */
const SCRIPT = `
import { startLocalSystem } from '${new URL('../../infra/local/system.ts', import.meta.url).href}';
const say = (line) => console.error(line);
const system = await startLocalSystem({ say, handlers: ['s3-bucket'], queuesInOwnProcess: true });
const { kube, queues } = system;
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', namespace: 'default' } };
const [created] = await kube.apply([map]);
await kube.restart();
const { status, body } = await kube.request('GET', '/api/v1/namespaces/default/configmaps/kept');
const { apiServer, etcd } = kube.pids();
console.log(JSON.stringify({
  pids: [apiServer, etcd, queues.pid, system.cloud().pid],
  kept: status,
  sameUid: body.metadata.uid === created.metadata.uid,
  queue: system.handler('s3-bucket').requests.url,
}));
setInterval(() => {}, 1000);
`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the local system', () => {
  it.each<[NodeJS.Signals, number | null]>([
    ['SIGINT', 130],
    ['SIGKILL', null],
  ])('keeps its data over a restart of the API server, and ends on %s with all its servers', async (signal, code) => {
    const script = join(folder, `${signal}.ts`);
    const own = await mkdtemp(join(folder, 'tmp-'));
    await writeFile(script, SCRIPT);
    const child = spawn(process.execPath, [script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: own },
    });
    const ended = once(child, 'exit');
    const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
    const { pids, kept, sameUid, queue } = z.parse(announcement, JSON.parse(String(line)));
    expect([kept, sameUid, pids.map(isAlive)]).toEqual([200, true, [true, true, true, true]]);
    expect(new URL(queue).hostname).toBe('127.0.0.1');

    child.kill(signal);

    expect((await ended)[0]).toBe(code);
    await expect.poll(() => pids.map(isAlive), { timeout: 60_000 }).toEqual([false, false, false, false]);
    // A killed process cannot tidy up; any other leaves nothing.
    if (signal === 'SIGINT') expect(await readdir(own)).toEqual([]);
  });
});
