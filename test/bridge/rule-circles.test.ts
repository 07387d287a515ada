/*
 * Rules that wait for each other's entries: of every circle one rule is refused, always the same, and nothing else is.
 * The question alone over any graph of rules; then the real keeper over fakes, and a file of rules.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rulesReached, type Waiter, waiterOf, waitsAmong } from '../../bridge/rule-circles.ts';
import { RECHECK_MS, REJUDGE_MS } from '../../bridge/rule-enforcing.ts';
import { parseRules } from '../../bridge/rules.ts';
import { HANDLER, RULE, ruleText } from '../support/bridge-builders.ts';
import { VOLUMES } from '../support/fake-kinds.ts';
import { holds } from '../support/property.ts';
import { ruleObject } from '../support/rule-objects.ts';
import { RuleScene } from '../support/rule-scene.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const waitFor = (...rules: string[]) => ({
  waitFor: { finalizers: rules.map((name) => `finalizer-bridge.dev/${name}`), atMost: '1h' },
});

/** Rules of two kinds and two ages, so that uids decide as well. */
const graphs = fc
  .array(
    fc.record({ waitsFor: fc.subarray([...NAMES, 'nobody'], { maxLength: 2 }), age: fc.nat(2), isOther: fc.boolean() }),
    {
      minLength: NAMES.length,
      maxLength: NAMES.length,
    },
  )
  .map((drafts) =>
    drafts.map(({ waitsFor, age, isOther }, at): Waiter => {
      const [name = '', resource = ''] = [NAMES[at], isOther && at % 3 === 0 ? 'volumes' : 'buckets'];
      return { name, uid: `uid-${(at * 5) % 7}`, createdAt: age, kind: { group: 'g', resource }, waitsFor };
    }),
  );

/** Whether some way of waiting leads from a rule back to itself, by closing the relation over and over. */
function circular(rules: readonly Waiter[]): ReadonlySet<string> {
  const kindOf = new Map(rules.map(({ name, kind }) => [name, kind.resource]));
  const reach = new Map(
    rules.map(({ name, waitsFor }) => [
      name,
      new Set(waitsFor.filter((other) => kindOf.get(other) === kindOf.get(name))),
    ]),
  );
  for (const _ of NAMES) {
    for (const set of reach.values()) for (const name of [...set]) for (const on of reach.get(name) ?? []) set.add(on);
  }
  return new Set([...reach].filter(([name, set]) => set.has(name)).map(([name]) => name));
}

const refusedOf = (rules: readonly Waiter[]) =>
  rules.filter((rule) => waitsAmong(rules, rule).circle !== undefined).map(({ name }) => name);

describe('among any rules', () => {
  it('a rule is refused only for a circle that it stands in, and without those refused there is none', () => {
    const seen = { circles: 0, none: 0 };
    holds(
      fc.property(graphs, (rules) => {
        const refused = refusedOf(rules);
        const inCircles = circular(rules);
        for (const name of refused) expect(inCircles).toContain(name);
        expect(circular(rules.filter(({ name }) => !refused.includes(name)))).toEqual(new Set());
        seen[inCircles.size > 0 ? 'circles' : 'none'] += 1;
      }),
      { numRuns: 500 },
    );
    expect(Math.min(seen.circles, seen.none), JSON.stringify(seen)).toBeGreaterThan(5);
  });

  it('the circle that is told is one: each waits for the next, the rule stands at both ends and is the youngest', () => {
    holds(
      fc.property(graphs, (rules) => {
        const byName = new Map(rules.map((rule) => [rule.name, rule]));
        for (const rule of rules) {
          const { circle = [rule.name] } = waitsAmong(rules, rule);
          expect([circle.at(0), circle.at(-1)]).toEqual([rule.name, rule.name]);
          for (const [at, next] of circle.slice(1).entries()) {
            expect(byName.get(circle[at] ?? '')?.waitsFor).toContain(next);
          }
          const age = ({ createdAt, uid }: Waiter) => `${createdAt}/${uid}`;
          for (const name of circle) {
            const other = byName.get(name);
            expect(other && age(other) <= age(rule)).toBe(true);
          }
        }
      }),
    );
  });

  it('the same is refused in whatever order they are looked at', () => {
    holds(
      fc.property(
        graphs.chain((rules) => fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length }))),
        ([rules, shuffled]) => {
          expect(refusedOf(shuffled).sort()).toEqual(refusedOf(rules).sort());
        },
      ),
    );
  });

  it('every rule that a newly closed circle refuses is told of to be judged again, if it is not the one at hand', () => {
    holds(
      fc.property(graphs, (rules) => {
        const start = rules[0];
        if (start === undefined) return;
        const before = refusedOf(rules.map((rule) => (rule === start ? { ...rule, waitsFor: [] } : rule)));
        const { younger } = waitsAmong(rules, start);
        for (const name of refusedOf(rules)) {
          if (name !== start.name && !before.includes(name)) expect(younger).toContain(name);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('following what a rule waits for reads each rule once, and answers as a look at all of them', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, async (rules) => {
        const start = rules[0];
        if (start === undefined) return;
        const read: string[] = [];
        const reached = await rulesReached(start, async (name) => {
          read.push(name);
          return rules.find((rule) => rule.name === name);
        });
        expect(new Set(read).size).toBe(read.length);
        const [some, all] = [waitsAmong(reached, start), waitsAmong(rules, start)];
        expect([some.circle, some.strangers]).toEqual([all.circle, all.strangers]);
      }),
    );
  });
});

describe('a rule as the API server has it', () => {
  it('waits for the rules whose entries it names, each once, and for nobody where it cannot be read', () => {
    const { waitFor: both } = waitFor('b', 'b');
    const changes = { waitFor: { ...both, finalizers: [...both.finalizers, 'a.b/c', 'finalizer-bridge.dev.x/d'] } };
    expect(waiterOf(ruleObject(changes))).toMatchObject({ name: RULE, waitsFor: ['b'] });
    expect(waiterOf(ruleObject({ waitFor: { finalizers: 'b' } }))).toBeUndefined();
    expect(waiterOf(ruleObject())?.waitsFor).toEqual([]);
  });
});

describe('two rules for one kind', () => {
  it('may wait one for the other: the second asks when the first is done', async () => {
    const scene = await RuleScene.start();
    await scene.apply({}, 'notify');
    await scene.apply(waitFor('notify'), 'teardown');
    expect(scene.said('Ready', 'teardown')).toBe('True Ready');
    await scene.create('logs');
    await scene.delete('logs');
    await scene.clock.advance(600_000);
    expect(scene.requests.map(({ data }) => data.rule.name)).toEqual(['notify']);
    expect(scene.standing('logs', 'teardown')).toBe('Pending WaitingForFinalizers');
    expect(await scene.deliver(scene.request)).toBe(true);
    await scene.clock.advance(1_000);
    expect(scene.requests.map(({ data }) => data.rule.name)).toEqual(['notify', 'teardown']);
    expect(await scene.deliver(scene.request)).toBe(true);
    expect(scene.cluster.peek('logs')).toBeUndefined();
  });

  it('may not wait for each other: the one that closes the circle is refused, and recovers when it is broken', async () => {
    const scene = await RuleScene.start();
    await scene.apply(waitFor('teardown'), 'notify');
    expect(scene.condition('Accepted', 'notify')?.message).toContain('is called teardown');
    await scene.apply(waitFor('notify'), 'teardown');
    expect(scene.said('Accepted', 'teardown')).toBe('False WaitsInCircle');
    expect(scene.condition('Accepted', 'teardown')?.message).toContain('teardown -> notify -> teardown');
    expect(scene.said('Ready', 'notify')).toBe('True Ready');
    await scene.clock.advance(REJUDGE_MS + 2_000);
    expect(scene.condition('Accepted', 'notify')?.message).toBe('the rule is in force');
    await scene.apply({}, 'notify');
    await scene.clock.advance(REJUDGE_MS + 2_000);
    expect(scene.said('Ready', 'teardown')).toBe('True Ready');
  });

  it('and an edit of the elder that closes the circle refuses the younger at once, not minutes later', async () => {
    const scene = await RuleScene.start();
    await scene.apply({}, 'notify');
    await scene.clock.advance(1_000);
    await scene.apply(waitFor('notify'), 'teardown');
    await scene.clock.advance(REJUDGE_MS * 2);
    expect(scene.said('Ready', 'teardown')).toBe('True Ready');
    await scene.apply(waitFor('teardown'), 'notify');
    expect(scene.said('Accepted', 'notify')).toBe('True Accepted');
    expect(scene.said('Accepted', 'teardown')).toBe('False WaitsInCircle');
    expect(scene.book.named('teardown')?.notAccepted).toContain('teardown -> notify -> teardown');
  });

  it('are judged the same after a restart, and by a second bridge', async () => {
    const first = await RuleScene.start();
    for (const [name, other] of [
      ['r-a', 'r-b'],
      ['r-b', 'r-c'],
      ['r-c', 'r-a'],
    ] as const) {
      await first.apply(waitFor(other), name);
      await first.clock.advance(1_000);
    }
    const says = (scene: RuleScene) => ['r-a', 'r-b', 'r-c'].map((name) => scene.said('Accepted', name));
    const wanted = ['True Accepted', 'True Accepted', 'False WaitsInCircle'];
    expect(says(first)).toEqual(wanted);
    const second = await RuleScene.start({ world: first });
    expect(second.book.rules.map(({ name }) => name).sort()).toEqual(['r-a', 'r-b']);
    await first.stop();
    const third = await RuleScene.start({ world: first });
    await third.clock.advance(RECHECK_MS + REJUDGE_MS);
    expect(says(third)).toEqual(wanted);
    await Promise.all([second.stop(), third.stop()]);
  });
});

describe('rules for two kinds', () => {
  it('never stand on one object, so they make no circle', async () => {
    const scene = await RuleScene.start();
    await scene.apply(waitFor('volumes'), 'buckets');
    await scene.apply({ ...waitFor('buckets'), match: { ...VOLUMES } }, 'volumes');
    expect([scene.said('Ready', 'buckets'), scene.said('Ready', 'volumes')]).toEqual(['True Ready', 'True Ready']);
  });
});

describe('rules of a file', () => {
  const file = (...rules: (readonly [name: string, ...waitsFor: string[]])[]) =>
    parseRules(
      `[${rules.map(([name, ...others]) => ruleText(others.length > 0 ? waitFor(...others) : {}, name)).join(',')}]`,
      'rules.yaml',
    );

  it('that wait in a circle are a fault of the file, told once', () => {
    expect(file(['a', 'b'], ['b', 'c'], ['c', 'a'])).toEqual({
      ok: false,
      faults: [
        {
          path: 'rules.yaml: c: spec.waitFor.finalizers',
          message: expect.stringMatching(/^WaitsInCircle: .*c -> a -> b -> c$/),
        },
      ],
    });
    expect(file(['a', 'a'])).toMatchObject({ ok: false });
  });

  it('may wait for each other one way', () => {
    expect(file(['a'], ['b', 'a'], ['c', 'a', 'b'])).toMatchObject({ ok: true, rules: [{ handler: HANDLER }, {}, {}] });
  });
});
