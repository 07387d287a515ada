/*
 * Traps about rules: one that is edited between two requests, or between a look and what follows from it, and a budget whose
 * tokens are used late. Ids are those of the protocol's list. Run by traps.test.ts and mutants.slow.test.ts.
 */
import { RuleBook } from '../../bridge/rule-book.ts';
import { parseRules } from '../../bridge/rules.ts';
import { annotate, createWorld, deleteAndPublish, finish, HOUR, MACHINE, MINUTE, RESOURCE, uidOf } from './deletion.ts';
import { runFleet } from './fleet/fleet.ts';
import type { FleetPlan, ObjectPlan, Weather } from './fleet/plan.ts';
import { ON_DELETE, OWNER_TAG, RELEASE, RETRY, ruleText } from './installation.ts';
import { expectIn, type Trap } from './trap.ts';

const SECOND = 1_000;

function ruleOf(overrides: Readonly<Record<string, unknown>>) {
  const parsed = parseRules(ruleText(overrides), 'rules.yaml');
  const [rule] = parsed.ok ? parsed.rules : [];
  if (rule === undefined) throw new Error('reading the rule of a scenario: there is none');
  return rule;
}

/** Four requests of one deletion under two forms of its rule, of which the last outlives the others by a term. */
const v20: Trap = {
  id: 'V20',
  title: 'a release waits for the last of the many requests of one deletion that are alive at once',
  async run(product) {
    const book = new RuleBook([ruleOf({})]);
    const world = await createWorld({ seed: 7, book, ...(product === undefined ? {} : { product }) });
    const uid = uidOf(world);
    world.cloud.tag(RESOURCE, uid, { [OWNER_TAG]: uid, later: uid });
    let sent = 0;
    world.requests.onSend(() => {
      sent += 1;
    });
    world.requests.hold(3 * HOUR - 5 * MINUTE);
    await deleteAndPublish(world);
    book.set(ruleOf({ ownership: { tags: { [OWNER_TAG]: 'object.metadata.uid', later: 'object.metadata.uid' } } }));
    await world.run(10 * MINUTE);
    annotate(world, { [RETRY]: `${uid}/1` });
    await world.run(HOUR);
    expectIn(world, 'V20', `4 requests, not ${sent}`, sent === 4);
    annotate(world, { [RELEASE]: uid });
    await finish(world);
    expectIn(world, 'V20', 'the object to be gone', world.server.get(MACHINE) === undefined);
    return world.promises.broken.length === 0 ? [] : [world.report()];
  },
};

/** The look was made while the rule was paused, so that an edit can come between it and the send. */
const v23: Trap = {
  id: 'V23',
  title: 'an edit of the rule that the bridge knows of counts for what was looked at before it',
  async run(product) {
    const book = new RuleBook([ruleOf({ paused: true, policy: "'Delete'" })]);
    const world = await createWorld({ seed: 7, book, ...(product === undefined ? {} : { product }) });
    annotate(world, { [ON_DELETE]: 'Retain' });
    world.server.delete(MACHINE, 'owner');
    await world.run(2 * SECOND);
    let sent = 0;
    world.requests.onSend(() => {
      sent += 1;
    });
    // From now on the policy reads the annotation.
    book.set(ruleOf({}));
    await world.run(MINUTE);
    expectIn(world, 'V23', `nothing to be asked for, not ${sent} times`, sent === 0);
    expectIn(world, 'V23', 'the resource to be kept', world.cloud.find(RESOURCE) !== undefined);
    expectIn(world, 'V23', 'the object to be gone', world.server.get(MACHINE) === undefined);
    world.cloud.delete(RESOURCE, 'owner');
    await finish(world);
    return world.promises.broken.length === 0 ? [] : [world.report()];
  },
};

const CALM: Weather = {
  ...{ isFair: false, calmAt: 10 * MINUTE, faultShare: 0, faults: [], restartMs: 5 * SECOND },
  ...{ leaders: 'one', bridgeSkews: [0, 0], functionSkew: 0, watchFaultShare: 0, watchLagMs: 0 },
  ...{ queue: { copies: 0, delayMs: 0, shuffled: false }, refusedShare: 0, lostShare: 0 },
  ...{ admission: false, admissionLagMs: 0 },
};

/** Volumes that are deleted at these times (ms), under a rule with a budget. */
function braked(seed: number, budget: Readonly<Record<string, unknown>>, deletedAt: readonly number[]): FleetPlan {
  const thing = { rule: 'volumes', tags: 'own', isThere: true, isNamed: true, deletionMs: 0 } as const;
  const objects = deletedAt.map((at, index): ObjectPlan => {
    const life = { createdAt: index * 10, deletedAt: at };
    return { index, kind: 'volumes', labels: {}, ...life, things: [thing], isRetained: false, doings: [] };
  });
  const kept = { name: 'volumes', kind: 'volumes', handler: 'disk', field: 'volume', binding: 'uid' } as const;
  return { seed, weather: CALM, rules: [{ ...kept, spec: { budget } }], objects, acts: [] };
}

const v21: Trap = {
  id: 'V21',
  title: 'tokens that were taken early and not used let no more deletions go than the budget has, in any window',
  async run(product) {
    // The first takes a block of four; when the others come, its window has gone by.
    const early = 30 * SECOND;
    const late = early + 150 * SECOND;
    const deletedAt = [early, ...Array.from({ length: 60 }, () => late)];
    const { broken } = await runFleet(braked(21, { limit: 40, window: '1m' }, deletedAt), product ? { product } : {});
    return broken.map(({ promise, what }) => `${promise}: ${what}`);
  },
};

/** The traps. */
export const ruleTraps: readonly Trap[] = [v20, v21, v23];
