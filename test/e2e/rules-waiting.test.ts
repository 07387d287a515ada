/*
 * Rules on a real API server that wait for each other's entries, or for a controller's finalizer without a slash: one
 * tells people before the other deletes, a circle is refused, and a proof that binds nothing is not accepted. The test
 * plays both functions.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Spec } from '../support/rule-corpus.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type Hands, handsOf } from '../support/site-hands.ts';
import { queuesOf } from '../support/site-queues.ts';
import { type SiteRules, siteRulesOf } from '../support/site-rules.ts';
import { entryOf, type Thing, type Things, thingsOf } from '../support/site-things.ts';

/** Longer than the quarter of a minute after which a rule that is not accepted is judged again. */
const RECOVERS_WITHIN = 60_000;

let site: TestSite;
let rules: SiteRules;
let things: Things;
let hands: Hands;
let teller: Hands;
logFailures(() => site);

beforeAll(async () => {
  site = await startSite({ name: 'rule-waiting', handlers: ['by-hand', 'tell'] });
  [rules, things] = [siteRulesOf(site), thingsOf(site)];
  const queues = queuesOf(site);
  [hands, teller] = [handsOf(site, queues, 'by-hand'), handsOf(site, queues, 'tell')];
  await rules.install();
  const bridge = await site.startBridgeOverApi({ kinds: [{ group: '', resource: 'configmaps' }] });
  await bridge.ready();
});
afterAll(async () => {
  await rules?.removeAll();
  await site?.stop();
});

/** A rule for the objects that carry a label, whatever its own name. */
function spec(label: string, changes: Spec = {}): Spec {
  return rules.spec(label, changes);
}

const waitFor = (...finalizers: string[]) => ({ waitFor: { finalizers, atMost: '1h' } });

async function made(name: string, label: string, by: readonly string[], metadata: object = {}): Promise<Thing> {
  const thing = await things.bucket(name, { labels: { rule: label }, ...metadata });
  for (const rule of by) await things.claimed(thing, rule);
  return thing;
}

describe.concurrent('two rules for one object', () => {
  it('K7 tell people first, and delete when they were told', async ({ expect }) => {
    await rules.apply('wait-notice', spec('wait', { handler: 'tell' }));
    await rules.apply('wait-delete', spec('wait', waitFor(entryOf('wait-notice'))));
    await Promise.all(['wait-notice', 'wait-delete'].map((name) => rules.ready(name)));
    const thing = await made('told', 'wait', ['wait-notice', 'wait-delete']);
    await things.delete(thing);
    await teller.requested(thing);
    const said = await things.says(thing, 'wait-delete', 'WaitingForFinalizers', 45_000);
    expect(said).toMatchObject({ phase: 'Pending', message: expect.stringContaining('wait-notice') });
    expect(hands.of(thing)).toEqual([]);

    await teller.finish(thing);

    await hands.requested(thing);
    expect(await things.finalizers(thing)).toEqual([entryOf('wait-delete')]);
    await hands.finish(thing);
    await things.gone(thing);
  });

  it('K7 may not wait for each other: the youngest in the circle is refused until it is broken', async () => {
    const names = ['circle-first', 'circle-middle', 'circle-last'] as const;
    await rules.apply('circle-first', spec('circle', waitFor(entryOf('circle-last'))));
    await rules.says('circle-first', 'Accepted', { status: 'True', message: 'no rule for' });
    await rules.apply('circle-middle', spec('circle', waitFor(entryOf('circle-first'))));
    await rules.ready('circle-middle');
    await rules.apply('circle-last', spec('circle', waitFor(entryOf('circle-middle'))));
    const [youngest, others] = await youngestOf(names);

    const wanted = { status: 'False', reason: 'WaitsInCircle', message: `${youngest} is the youngest` } as const;
    await rules.says(youngest, 'Accepted', wanted);

    await Promise.all(others.map((name) => rules.ready(name, RECOVERS_WITHIN)));
    await rules.apply(others[0] ?? '', spec('circle'));
    await Promise.all(names.map((name) => rules.ready(name, RECOVERS_WITHIN)));
  });

  it('K7 are refused if an edit closes the circle: the younger, at once', async () => {
    await rules.apply('edit-one', spec('edit'));
    await rules.apply('edit-two', spec('edit'));
    const [younger, [elder = '']] = await youngestOf(['edit-one', 'edit-two']);
    await rules.apply(younger, spec('edit', waitFor(entryOf(elder))));
    await Promise.all([younger, elder].map((name) => rules.ready(name)));

    await rules.apply(elder, spec('edit', waitFor(entryOf(younger))));

    const circle = `${younger} -> ${elder} -> ${younger}`;
    await rules.says(younger, 'Accepted', { status: 'False', reason: 'WaitsInCircle', message: circle });
    await rules.ready(elder);
  });
});

/** Times have whole seconds, and of one second the uid decides. */
async function youngestOf(names: readonly string[]): Promise<readonly [youngest: string, others: readonly string[]]> {
  const found = await Promise.all(names.map((name) => rules.found(name)));
  const age = ({ metadata }: (typeof found)[number]) => `${metadata.creationTimestamp} ${metadata.uid}`;
  const [youngest = '', ...others] = found
    .sort((left, right) => (age(left) < age(right) ? 1 : -1))
    .map(({ metadata }) => metadata.name);
  return [youngest, others];
}

describe.concurrent('a finalizer without a slash', () => {
  it('K7 is waited for as it stands on the object', async ({ expect }) => {
    const finalizer = 'awsmachine.infrastructure.cluster.x-k8s.io';
    await rules.apply('wait-capa', spec('wait-capa', waitFor(finalizer)));
    await rules.ready('wait-capa');
    const thing = await made('machine', 'wait-capa', ['wait-capa'], { finalizers: [finalizer] });
    await things.delete(thing);
    await things.says(thing, 'wait-capa', 'WaitingForFinalizers', 45_000);
    expect(hands.of(thing)).toEqual([]);

    await things.free(thing, finalizer);

    await hands.finish(thing);
    await things.gone(thing);
  });
});

describe.concurrent('a proof of ownership', () => {
  const byName = { ownership: { tags: { owner: 'object.metadata.name' } } };

  it('K21 by name alone is refused for a kind in namespaces, and works for one without', async () => {
    await rules.apply('proof-name', spec('proof', byName));
    const wanted = { status: 'False', reason: 'OwnershipNotBound', message: 'are in namespaces' } as const;
    await rules.says('proof-name', 'Accepted', wanted);
    await rules.says('proof-name', 'Ready', { status: 'False', reason: 'OwnershipNotBound' });
    const match = { group: '', version: 'v1', resource: 'persistentvolumes' };

    await rules.apply('proof-wide', spec('proof', { match, ...byName }));

    await rules.says('proof-wide', 'Accepted', { status: 'True', reason: 'OwnershipWeak' });
  });

  it('of none is in force, and said to be none', async () => {
    await rules.apply('proof-none', spec('proof-none', { ownership: { none: true } }));

    await rules.says('proof-none', 'Accepted', { status: 'True', reason: 'OwnershipNone' });

    await rules.ready('proof-none');
  });
});
