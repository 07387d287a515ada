/*
 * Deletions under rules from a real API server that wait for something or are kept: what the rule says then, and how each
 * goes on when the object or the rule is changed. The test plays the function.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { sumOf } from '../support/metrics-page.ts';
import type { Spec } from '../support/rule-corpus.ts';
import { type RuleSite, startRuleSite } from '../support/rule-site.ts';
import { logFailures, type TestSite } from '../support/site.ts';
import type { Hands } from '../support/site-hands.ts';
import type { SiteRules } from '../support/site-rules.ts';
import type { Thing, Things } from '../support/site-things.ts';

const ON_DELETE = 'team.example.com/on-delete';
const BY_ANNOTATION = `object.metadata.annotations[?'${ON_DELETE}'].orValue('Delete')`;

let ruled: RuleSite;
let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
let bridge: BridgeProcess;
logFailures(() => site);

beforeAll(async () => {
  ruled = await startRuleSite({ name: 'rule-standing' });
  ({ site, rules, things, hands } = ruled);
  bridge = await site.startBridgeOverApi();
});
afterAll(() => ruled?.stop());

async function rule(name: string, changes: Spec): Promise<void> {
  await rules.apply(name, rules.spec(name, changes));
  await rules.ready(name);
}

/** An object that carries the rule's entry. */
async function made(name: string, of: string, metadata: object = {}): Promise<Thing> {
  const thing = await things.bucket(name, { labels: { rule: of }, ...metadata });
  await things.claimed(thing, of);
  return thing;
}

async function goes(thing: Thing): Promise<void> {
  await hands.finish(thing);
  await things.gone(thing);
}

describe.concurrent('a policy that reads an annotation', () => {
  it('retains what says so: nothing is requested, and the object goes at once', async ({ expect }) => {
    await rule('st-policy', { policy: BY_ANNOTATION });
    const kept = await made('kept', 'st-policy', { annotations: { [ON_DELETE]: 'Retain' } });
    const other = await made('other', 'st-policy');

    await Promise.all([things.delete(kept), things.delete(other)]);

    await things.gone(kept);
    await goes(other);
    expect(hands.of(kept)).toEqual([]);
    await expect.poll(() => things.events(kept)).toMatchObject([{ reason: 'Retained' }]);
    const removed = async () =>
      sumOf(await bridge.metrics(), 'finalizer_bridge_entries_removed_total', {
        rule: 'st-policy',
        reason: 'Retained',
      });
    await expect.poll(removed).toBe(1);
  });

  it('holds what says neither Delete nor Retain, until it does', async ({ expect }) => {
    await rule('st-odd', { policy: BY_ANNOTATION });
    const thing = await made('odd', 'st-odd', { annotations: { [ON_DELETE]: 'Keep' } });
    await things.delete(thing);
    const said = await things.says(thing, 'st-odd', 'PolicyInvalid');
    expect(said).toMatchObject({ phase: 'Held', message: expect.stringContaining('Keep') });

    await things.annotate(thing, { [ON_DELETE]: 'Retain' });

    await things.gone(thing);
    expect(hands.of(thing)).toEqual([]);
  });
});

describe.concurrent('a target that is missing', () => {
  const target = { bucket: 'object.status.bucketName' };

  it('holds the object; when the rule is changed to Release it goes at once', async ({ expect }) => {
    await rule('st-missing', { target });
    const thing = await made('unmade', 'st-missing');
    await things.delete(thing);
    await things.says(thing, 'st-missing', 'TargetMissing');

    await rules.patch('st-missing', { whenTargetMissing: 'Release' });

    await things.gone(thing);
    await expect
      .poll(async () => (await things.events(thing)).map(({ reason }) => reason).sort())
      .toEqual(['TargetMissing', 'TeardownHeld']);
    expect(hands.of(thing)).toEqual([]);
  });

  it('holds the object; when the target comes it is taken down', async ({ expect }) => {
    await rule('st-late', { target, whenTargetMissing: 'Hold' });
    const thing = await made('made-late', 'st-late');
    await things.delete(thing);
    await things.says(thing, 'st-late', 'TargetMissing');

    await things.edit(thing, [{ op: 'add', path: '/status', value: { bucketName: 'late' } }]);

    expect((await hands.requested(thing)).request.data.target).toEqual({ bucket: 'late' });
    await goes(thing);
  });
});

describe.concurrent('a first look that finds nothing, under whenAbsent: Hold', () => {
  it('holds the object until a person asks for another look, or releases it', async ({ expect }) => {
    await rule('st-absent', { whenAbsent: 'Hold' });
    const [again, released] = [await made('again', 'st-absent'), await made('released', 'st-absent')];
    for (const thing of [again, released]) {
      await things.delete(thing);
      await hands.answer(thing, { outcome: 'gone', evidence: 'absent' });
    }
    for (const thing of [again, released]) {
      expect(await things.says(thing, 'st-absent', 'FoundNothing')).toMatchObject({ phase: 'Held' });
    }

    await things.retry(again, 'st-absent');
    await things.release(released, 'st-absent', `${released.uid}/now`);

    await things.gone(released);
    await expect.poll(() => hands.of(again)).toHaveLength(2);
    await goes(again);
  });
});

describe.concurrent('a finalizer that a rule waits for', () => {
  it('K7 and that stays on too long holds the object; it goes on by itself when it is off', async ({ expect }) => {
    const finalizer = 'example.com/slow';
    await rule('st-patient', { waitFor: { finalizers: [finalizer], atMost: '1s' } });
    const thing = await made('slow', 'st-patient', { finalizers: [finalizer] });
    await things.delete(thing);
    const said = await things.says(thing, 'st-patient', 'WaitForTimedOut');
    expect(said).toMatchObject({ phase: 'Held', message: expect.stringContaining(finalizer) });
    expect(hands.of(thing)).toEqual([]);

    await things.free(thing, finalizer);

    await goes(thing);
  });
});
