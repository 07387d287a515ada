/*
 * The API server goes and comes again, with 20,000 objects of a watched kind and deletions under way: none is lost, also of
 * those that nobody could see, and the bridge neither storms nor grows. An API server of its own, as the others' must not
 * go; what the bridge asks of it is counted by a proxy between them.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LEASE_MS } from '../../bridge/leader-state.ts';
import { EXIT } from '../../bridge/stopping.ts';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { type Kube, startKube } from '../../infra/local/kube.ts';
import { eventually } from '../support/eventually.ts';
import { sumOf } from '../support/metrics-page.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Hands, handsOf } from '../support/site-hands.ts';
import { queuesOf } from '../support/site-queues.ts';
import { siteRulesOf } from '../support/site-rules.ts';
import { entryOf, type Thing, type Things, thingsOf } from '../support/site-things.ts';

const LIVE = 20_000;
/** Deletions made before the bridge is cut off, and while it is. */
const EACH = 40;
const RULE = 'fire-restart';
/** For a kind that is defined in the cluster: such are served a little later than the others. */
const DEFINED = 'fire-restart-defined';
const AT_ONCE = 32;
const LISTING = { verb: 'watch', resourceVersion: '' } as const;
const READY_WITHIN = 60_000;
const REQUESTED_WITHIN = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'finalizer-bridge-fire-restart-'));
const heapFile = join(folder, 'heap');
/** Loaded before the bundle: collects garbage on SIGUSR2 and writes how many MB are left. */
const TELLS_HEAP = `data:text/javascript,${encodeURIComponent(`
  import { renameSync, writeFileSync } from 'node:fs';
  const file = ${JSON.stringify(heapFile)};
  process.on('SIGUSR2', () => {
    gc();
    writeFileSync(file + '.new', String(process.memoryUsage().heapUsed / 1e6));
    renameSync(file + '.new', file);
  });
`)}`;

let kube: Kube;
let site: TestSite;
let bridge: BridgeProcess;
let things: Things;
let hands: Hands;
let collection: string;
logFailures(() => site);

beforeAll(async () => {
  kube = await startKube({ say: () => undefined });
  const nodeArgs = ['--expose-gc', '--import', TELLS_HEAP];
  site = await startSite({ name: RULE, handlers: ['by-hand'], faults: true, bundled: true, kube, nodeArgs });
  [things, hands] = [thingsOf(site), handsOf(site, queuesOf(site), 'by-hand')];
  collection = `/api/v1/namespaces/${site.namespace}/configmaps`;
  await inParallel(
    Array.from({ length: LIVE }, (_, index) => index),
    async (index) => {
      const { status } = await kube.request('POST', collection, { metadata: { name: `live-${index}` } });
      expect(status).toBe(201);
    },
  );
  const rules = siteRulesOf(site);
  await rules.install();
  bridge = await start();
  const labelSelector = { matchLabels: { rule: RULE } };
  await rules.apply(
    RULE,
    rules.spec(RULE, { match: { group: '', version: 'v1', resource: 'configmaps', labelSelector } }),
  );
  await rules.apply(DEFINED, rules.spec(DEFINED));
  await Promise.all([rules.ready(RULE), rules.ready(DEFINED)]);
  await bridge.ready();
});
afterAll(async () => {
  await site?.stop();
  await kube?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}

const start = () => site.startBridgeOverApi({ kinds: [{ group: '', resource: 'configmaps' }] });

/**
 * Ready again. Where the API server was away for longer than the lease can wait, as on a busy machine, the bridge has ended
 * and is started again, as the kubelet does.
 */
async function readyAgain(): Promise<'the same' | 'another'> {
  const isTheSame = await Promise.race([
    bridge.exited.then((code) => {
      expect(code).toBe(EXIT.lostLease);
      return false;
    }),
    bridge.ready(READY_WITHIN).then(() => true),
  ]);
  if (isTheSame) return 'the same';
  bridge = await start();
  await bridge.ready(READY_WITHIN + LEASE_MS);
  return 'another';
}

/**
 * Does what a bridge has to answer; where it ended meanwhile, as above, another one does.
 * @returns how many others it took
 */
async function answered(work: () => Promise<unknown>): Promise<number> {
  const done = work().then(() => 'done' as const);
  for (let others = 0; ; others += 1) {
    const end = await Promise.race([done, bridge.exited]);
    if (end === 'done') return others;
    expect(end).toBe(EXIT.lostLease);
    bridge = await start();
    await bridge.ready(READY_WITHIN + LEASE_MS);
  }
}

/** Objects that have the entry of the rule. */
async function make(prefix: string): Promise<readonly Thing[]> {
  const made: Thing[] = [];
  await inParallel(
    Array.from({ length: EACH }, (_, index) => `${prefix}-${index}`),
    async (name) => {
      made.push(
        await things.create(collection, { metadata: { name, labels: { rule: RULE }, finalizers: [entryOf(RULE)] } }),
      );
    },
  );
  return made;
}

/** The same of the kind that is defined in the cluster. */
async function makeDefined(): Promise<readonly Thing[]> {
  const names = Array.from({ length: EACH }, (_, index) => `defined-${index}`);
  const metadata = { labels: { rule: DEFINED }, finalizers: [entryOf(DEFINED)] };
  return await Promise.all(names.map((name) => things.bucket(name, metadata)));
}

/** What the bridge keeps in its heap when all garbage is gone, in MB: how soon it goes by itself depends on the machine. */
async function memory(): Promise<number> {
  rmSync(heapFile, { force: true });
  bridge.signal('SIGUSR2');
  return await eventually('the bridge tells its heap', () =>
    existsSync(heapFile) ? Number(readFileSync(heapFile, 'utf8')) : undefined,
  );
}

it('P4 loses no deletion when the API server restarts among 20,000 objects, starts no storm, and is ready within seconds', async () => {
  const { proxy } = site.faults();
  const configMaps = { group: '', resource: 'configmaps' } as const;
  const [unseen, late] = [await make('unseen'), await make('late')];
  const pending = [...(await make('pending')), ...(await makeDefined())];
  await inParallel(pending, (thing) => things.delete(thing));
  await answered(() => inParallel(pending, (thing) => hands.requested(thing, REQUESTED_WITHIN)));
  const before = { memory: await memory(), calls: proxy.asked.length, watches: proxy.count({ verb: 'watch' }) };
  // A server that has just begun does not bring every list to its end.
  const listed = () => proxy.count({ ...configMaps, ...LISTING }) - proxy.ended({ ...configMaps, ...LISTING });
  const lists = listed();

  const away = proxy.when({}).strike({ kind: 'refuse' });
  proxy.sever();
  await inParallel(unseen, (thing) => things.delete(thing));
  await kube.restart();
  away.lift();
  const from = performance.now();
  await inParallel(late, (thing) => things.delete(thing));
  const which = await readyAgain();
  const readyAfter = performance.now() - from;
  const all = [...pending, ...unseen, ...late];
  const others = await answered(async () => {
    await inParallel(all, (thing) => hands.finish(thing, REQUESTED_WITHIN));
    await inParallel(all, (thing) => things.gone(thing, REQUESTED_WITHIN));
  });

  const after = {
    memory: await memory(),
    watches: proxy.count({ verb: 'watch' }) - before.watches,
    lists: listed() - lists,
    pages: proxy.count({ ...configMaps, verb: 'list' }),
    calls: proxy.asked.length - before.calls,
  };
  console.info(
    `restart: ${which} bridge ready after ${Math.round(readyAfter)} ms, ${JSON.stringify({ before: before.memory, after })}`,
  );
  // Rules and two kinds, each tried with growing pauses while nobody answered.
  expect(after.watches, 'watches').toBeLessThan(45);
  // One, and a few that are refused while the server begins.
  expect(after.lists + after.pages, 'lists').toBeLessThanOrEqual(3);
  expect(after.calls, 'calls').toBeLessThan(4 * EACH * 6);
  expect(after.memory - before.memory, 'MB more than before').toBeLessThan(20);
  const said = async () => {
    const page = await bridge.metrics();
    const removed = sumOf(page, 'finalizer_bridge_entries_removed_total', { reason: 'Gone' });
    return {
      ...{ bypassed: sumOf(page, 'finalizer_bridge_bypassed_total'), removed },
      pending: sumOf(page, 'finalizer_bridge_pending'),
    };
  };
  // An object is gone before the bridge has heard so. One that came in between knows of its own removals only.
  const removed = others === 0 ? 4 * EACH : expect.any(Number);
  await expect.poll(said).toEqual({ bypassed: 0, removed, pending: 0 });
});
