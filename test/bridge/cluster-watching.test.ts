/*
 * A watch over real sockets and virtual time: what a connection does that is open and silent (K10), and one that is cut in
 * the middle of a line. The server writes by hand what an API server would; how a watch goes on is in watch.test.ts.
 */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCluster } from '../../bridge/cluster.ts';
import { createCredentials } from '../../bridge/cluster-credentials.ts';
import { createHttp } from '../../bridge/cluster-http.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import type { KindRef, ObjectMeta } from '../../bridge/ports.ts';
import { STALL_MS, Watcher } from '../../bridge/watch.ts';
import type { Sink } from '../../bridge/watch-sink.ts';
import { BUCKETS, counts, keptLog, metaOf } from '../support/bridge-builders.ts';
import { eventually } from '../support/eventually.ts';
import { type LocalApi, startLocalApi } from '../support/local-api.ts';
import { ManualClock } from '../support/manual-clock.ts';

const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const present = (name: string, resourceVersion: string) =>
  line('MODIFIED', { metadata: metaOf({ name, uid: `uid-${name}`, resourceVersion }) });
const synced = (resourceVersion: string) =>
  line('BOOKMARK', { metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } } });

let api: LocalApi;
/** The watches that were opened, and from where. */
let opened: { readonly from: string | null; readonly response: ServerResponse; isOpen: boolean }[];
let seen: string[];
let watcher: Watcher;
let clock: ManualClock;
let metrics: ReturnType<typeof createMetrics>;

beforeEach(async () => {
  [opened, seen, clock, metrics] = [[], [], new ManualClock(), createMetrics()];
  api = await startLocalApi((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://api');
    const one = { from: searchParams.get('resourceVersion'), response, isOpen: true };
    opened.push(one);
    response.once('close', () => {
      one.isOpen = false;
    });
    response.writeHead(200).flushHeaders();
  });
  const note = (what: string) => (_kind: KindRef, more?: ObjectMeta | string) => {
    seen.push([what, typeof more === 'string' ? more : (more?.name ?? '')].join(' ').trim());
  };
  const sink: Sink = {
    ...{ listing: note('listing'), present: note('present'), deleted: note('deleted'), synced: note('synced') },
    ...{ blind: note('blind'), resumed: note('resumed') },
  };
  const http = createHttp({ credentials: createCredentials(() => api.config(), clock), metrics, clock });
  const cluster = createCluster({ http, clock, identity: 'test', fieldManager: 'test' });
  watcher = new Watcher({ kind: BUCKETS, cluster, clock, random: () => 0.5, sink, metrics, log: keptLog().log });
  watcher.start();
  const [first] = await openedUpTo(1);
  first?.response.write(present('logs', '4') + synced('5'));
  await eventually('the list is complete', () => seen.includes('synced'));
});
afterEach(async () => {
  await watcher.stop();
  await api.stop();
});

const openedUpTo = (count: number) =>
  eventually(`${count} watches were opened`, () => opened.length === count && opened);

describe('a watch', () => {
  it('K10 whose connection stays open and silent is cut by the watchdog, and what began meanwhile is found', async () => {
    await clock.advance(STALL_MS - 1);
    expect(opened.map(({ isOpen }) => isOpen)).toEqual([true]);
    await clock.advance(1);
    await eventually('it counts as blind', () => seen.at(-1) === 'blind Stalled');
    expect(watcher.isWatching).toBe(false);
    await eventually('the connection is given up', () => opened[0]?.isOpen === false);
    await clock.advance(1_000);
    const [, second] = await openedUpTo(2);
    expect(second?.from).toBe('5');
    second?.response.write(present('deleted-meanwhile', '7'));
    await eventually('it is found', () => seen.at(-1) === 'present deleted-meanwhile');
    expect(await counts(metrics.watchRestarts)).toEqual({ 'storage.example.com/buckets/Stalled': 1 });
  });

  it.each([
    [
      'ends in the middle of a line',
      (response: ServerResponse) => void response.end(present('half', '6').slice(0, 30)),
    ],
    [
      'breaks in the middle of a line',
      (response: ServerResponse) => {
        response.write(present('half', '6').slice(0, 30), () => response.destroy());
      },
    ],
    [
      'has a line that is half of one',
      (response: ServerResponse) => {
        response.write(`${present('half', '6').slice(0, 30)}\n${present('after', '7')}`);
      },
    ],
  ])('K11 that %s goes on before that line, which is never half understood', async (_how, strike) => {
    const [first] = opened;
    if (first !== undefined) strike(first.response);
    await eventually('it counts as blind', () => seen.at(-1)?.startsWith('blind') === true);
    expect(seen).toEqual(['listing', 'present logs', 'synced', expect.stringMatching(/^blind (Ended|Broken)$/)]);
    await clock.advance(1_000);
    const [, second] = await openedUpTo(2);
    expect(second?.from).toBe('5');
    second?.response.write(present('half', '6'));
    await eventually('the line is seen', () => seen.at(-1) === 'present half');
  });
});
