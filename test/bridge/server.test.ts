/*
 * Health, readiness and metrics as probes and Prometheus get them, over a real socket: status, type and body of each page,
 * and what happens when one fails.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../bridge/metrics.ts';
import type { Readiness } from '../../bridge/readiness.ts';
import { type Server, startServer } from '../../bridge/server.ts';
import { keptLog } from '../support/bridge-builders.ts';
import { ManualClock } from '../support/manual-clock.ts';

let server: Server;
let url: string;
let readiness: Readiness;
let fault: Error | undefined;
const kept = keptLog();

beforeEach(async () => {
  readiness = { ready: true, role: 'standby', reasons: [] };
  fault = undefined;
  server = await startServer({
    ...{ host: '127.0.0.1', port: 0, metrics: createMetrics(), clock: new ManualClock(), log: kept.log },
    bridge: () => undefined,
    readiness: () => readiness,
    isLeader: () => {
      if (fault !== undefined) throw fault;
      return true;
    },
  });
  url = `http://127.0.0.1:${server.port}`;
});
afterEach(() => server.stop());

describe('the server', () => {
  it('says that the process is alive, whatever is wrong with its work', async () => {
    readiness = { ready: false, role: 'leader', reasons: ['blind'] };
    const answer = await fetch(`${url}/healthz`);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok\n']);
  });

  it('says whether it is ready by the status, and why not in the body (K10)', async () => {
    expect((await fetch(`${url}/readyz?verbose`)).status).toBe(200);
    readiness = { ready: false, role: 'leader', reasons: ['rule a: it is not being watched'] };
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'application/json; charset=utf-8']);
    expect(await answer.json()).toEqual(readiness);
  });

  it('shows the metrics in the format that Prometheus reads', async () => {
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await answer.text()).toContain('\nfinalizer_bridge_leader 1\n');
  });

  it('has no other page, and changes nothing', async () => {
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/healthz`, { method: 'POST', body: 'x' })).status).toBe(404);
    const head = await fetch(`${url}/metrics`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('answers 500 for a page that fails, says so in the log, and goes on (P10)', async () => {
    fault = new Error('no lease');
    expect((await fetch(`${url}/metrics`)).status).toBe(500);
    expect(kept.lines.at(-1)).toMatchObject({ level: 'error', fields: { url: '/metrics', err: 'no lease' } });
    fault = undefined;
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
  });

  it('is not started on a port that is taken', async () => {
    const taken = { host: '127.0.0.1', port: server.port, metrics: createMetrics(), clock: new ManualClock() };
    const starting = startServer({
      ...{ ...taken, log: kept.log, bridge: () => undefined, readiness: () => readiness, isLeader: () => false },
    });
    await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
