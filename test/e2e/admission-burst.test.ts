/*
 * No object slips through between its creation and its deletion: a thousand are created and deleted at once while no bridge
 * runs, on a real API server with the admission policy. Then a bridge starts, and each goes through teardown, once.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { collectionOf, configMaps } from '../support/admission-kinds.ts';
import { type AdmissionScene, repeat, startAdmissionScene } from '../support/admission-scene.ts';
import { sharedKube } from '../support/e2e.ts';
import { eventually } from '../support/eventually.ts';
import { sumOf } from '../support/metrics-page.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { queuesOf, type Taken } from '../support/site-queues.ts';

const SITE = 'admission-burst';
const RULE = `${SITE}-configmaps`;
/** Of the rules that a scene makes. */
const HANDLER = 'sns-notify';
const COUNT = 1_000;
const labels = { site: SITE };
const kube = sharedKube();
let scene: AdmissionScene;
let site: TestSite;
logFailures(() => site);

beforeAll(async () => {
  scene = await startAdmissionScene(kube, SITE, [configMaps]);
  await scene.rule(RULE, configMaps, { match: { labelSelector: { matchLabels: labels } } });
  await scene.settled();
  site = await startSite({ name: 'burst', handlers: [HANDLER] });
});
afterAll(async () => {
  await site?.stop();
  await scene?.stop();
  await kube.close();
});

const path = () => collectionOf(configMaps, SITE);
const listed = z.object({
  items: z.array(
    z.object({
      metadata: z.object({
        name: z.string(),
        uid: z.string(),
        deletionTimestamp: z.optional(z.string()),
        finalizers: z.optional(z.array(z.string())),
      }),
    }),
  ),
});
const objects = async (query = '') =>
  z.parse(listed, (await kube.request('GET', `${path()}${query}`)).body).items.map((one) => one.metadata);
/** Asked many times a second: a list of all would cost more than what becomes of them. */
const areGone = async () => (await objects('?limit=1')).length === 0;

/** A function with nothing to do: takes what comes, and answers that it is gone. Resolves when `isOver`. */
async function answerAll(isOver: () => Promise<boolean>): Promise<readonly Taken[]> {
  const queues = queuesOf(site);
  const taken: Taken[] = [];
  let isDone = false;
  const work = async () => {
    while (!isDone) {
      const one = await queues.receive(HANDLER);
      if (one === undefined) continue;
      taken.push(one);
      await queues.answer(one, { outcome: 'gone', evidence: 'deleted' });
      await queues.done(one);
    }
  };
  const working = Promise.all(Array.from({ length: 8 }, work));
  try {
    await eventually('every object is gone', isOver, 90_000);
  } finally {
    isDone = true;
    await working;
  }
  return taken;
}

describe('1,000 objects that are created and deleted at once', () => {
  it('all carry the entry and stay while no bridge runs, and each goes through one teardown when one starts', async () => {
    await repeat(COUNT, async (index) => {
      const name = `brief-${index}`;
      const { status } = await scene.create(configMaps, { name, labels });
      expect(status).toBe(201);
      expect((await kube.request('DELETE', `${path()}/${name}`)).status).toBe(200);
    });
    const held = (await objects()).filter(({ deletionTimestamp }) => deletionTimestamp !== undefined);
    expect(held).toHaveLength(COUNT);
    expect(held.filter(({ finalizers }) => finalizers?.join() !== scene.entry(RULE))).toEqual([]);

    const bridge = await site.startBridgeOverApi({ kinds: [{ group: '', resource: 'configmaps' }] });
    const taken = await answerAll(areGone);

    const asked = taken.map(({ request: { data } }) => `${data.object.uid} ${data.rule.name} ${data.target.name}`);
    expect(asked.sort()).toEqual(held.map(({ uid, name }) => `${uid} ${RULE} ${name}`).sort());
    const page = await bridge.metrics();
    expect(sumOf(page, 'finalizer_bridge_entries_removed_total', { rule: RULE })).toBe(COUNT);
    expect(sumOf(page, 'finalizer_bridge_entries_removed_total', { rule: RULE, reason: 'Gone' })).toBe(COUNT);
  });
});
