/*
 * Writes over HTTP/2 that are given up before their bodies were sent, on real sockets. The calls are made by a process of its
 * own, which may take little memory and is ended with the test: without bridge/unsent-bodies.ts it is lost as soon as the
 * server reads on.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { on } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type StallingServer, startStallingServer } from '../support/stalling-server.ts';

const PROGRAM = join(import.meta.dirname, '../support/unsent-calls.ts');
/** Of addresses, of which a Node.js at work has 1 GB, in KB. Where the system sets no such bound, the watchdog is one. */
const LIMITED = 'ulimit -v 3000000; exec "$@"';
const WATCHDOG = { timeout: 120_000, killSignal: 'SIGKILL' } as const;

let server: StallingServer;
let caller: ChildProcess;
let came: AsyncIterator<readonly unknown[]>;

beforeEach(async () => {
  server = await startStallingServer();
  caller = spawn('sh', ['-c', LIMITED, 'sh', process.execPath, PROGRAM, server.url], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    ...WATCHDOG,
  });
  came = on(caller, 'message', { close: ['exit'] });
});
afterEach(async () => {
  caller.kill('SIGKILL');
  await server.stop();
});

/** What came of it; undefined when the process ended over it. */
async function order(what: string): Promise<unknown> {
  caller.send(what);
  const { value } = await came.next();
  return value?.[0];
}

describe('P4 a process that gave writes up before their bodies were sent', () => {
  it('goes on when a server that stood still reads on, and its next write is done', async () => {
    expect(await order('write')).toBe(200);
    server.stall();
    expect(await order('give up later')).toBe(40);
    server.goOn();
    expect(await order('write')).toBe(200);
    await eventually('the server has been told of each', () => server.open === 0);
  });

  it('goes on however much that was: over one connection Node.js would end every call from 10 MB on', async () => {
    expect(await order('write')).toBe(200);
    for (let round = 0; round < 4; round += 1) {
      server.stall();
      expect(await order('give up much')).toBe(40);
      server.goOn();
      // The first may meet the end of the connection, as every call may.
      let failed = 0;
      while (failed < 20 && (await order('write')) !== 200) failed += 1;
      expect(failed).toBeLessThan(20);
    }
    await eventually('the server has been told of each', () => server.open === 0);
  });

  it('goes on when it did so in the turn that sent one, to a server in the best of health', async () => {
    expect(await order('write')).toBe(200);
    expect(await order('give up at once')).toBe(1);
    expect(await order('write')).toBe(200);
    await eventually('the server has been told of it', () => server.open === 0);
  });
});
