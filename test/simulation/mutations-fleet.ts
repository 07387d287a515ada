/*
 * Known-bad edits that only worlds of many deletions can catch, or are to catch as well: brakes, withdrawals, takeovers, the
 * books of what is over, namespaces that are left. Each names the promise that must be found broken. Read by
 * fleet.slow.test.ts.
 */
import type { Mutation } from './mutant.ts';

/** An edit; `caughtBy` is the promise that is found broken, in the world of `seed` or in one of the next. */
export interface FleetMutation extends Mutation {
  readonly seed: number;
}

/** The edits. */
export const fleetMutations: readonly FleetMutation[] = [
  {
    what: 'forgets the budget on a restart',
    file: 'bridge/brake.ts',
    from: 'readBlocks(statusOf(object).budget, metTimes',
    to: 'readBlocks(this.#blocks.has(uid) ? statusOf(object).budget : undefined, metTimes',
    seed: 25,
    caughtBy: 'P5',
  },
  {
    what: 'lets a rule go after one sweep, before the admission policy has forgotten it',
    file: 'bridge/settling.ts',
    from: 'export const SETTLE_MS = 60_000;',
    to: 'export const SETTLE_MS = 0;',
    seed: 16,
    caughtBy: 'P9',
  },
  {
    what: 'frees what was refused',
    file: 'bridge/decide.ts',
    from: "return { act: 'hold', reason: refusal.reason, message: refusal.message, wakeAt: refusal.dueAt };",
    to: "return { act: 'remove', reason: 'Gone' };",
    seed: 3,
    caughtBy: 'P1',
  },
  {
    what: 'writes the whole list of finalizers',
    file: 'bridge/finalizer.ts',
    from: 'return [...guards(meta), ...removals];',
    to: "return [...guards(meta), { op: 'replace', path: '/metadata/finalizers', value: meta.finalizers?.filter((other) => other !== entry) }];",
    seed: 1,
    caughtBy: 'P3',
  },
  {
    what: 'acknowledges a result before the entry is off',
    file: 'bridge/inbox.ts',
    from: 'const cancel = options.clock.after(SETTLE_WITHIN_MS, () => resolve(false));',
    to: 'const cancel = () => {}; resolve(true);',
    seed: 2,
    caughtBy: 'P5',
  },
  {
    what: 'keeps what is over in memory',
    file: 'bridge/removal.ts',
    from: 'reach.pendings.delete(pending.key);',
    to: '',
    seed: 1,
    caughtBy: 'P8',
  },
  {
    what: 'reads every object twice',
    file: 'bridge/reconcile.ts',
    from: 'const readAt = reach.clock.monotonic();',
    to: 'const readAt = reach.clock.monotonic(); await getOf(reach, pending);',
    seed: 2,
    caughtBy: 'P8',
  },
  {
    what: 'forgets a namespace that is being left while objects there carry its entry',
    file: 'bridge/leavings.ts',
    from: 'if (count === 0) return sawNobody',
    to: 'if (count !== undefined) return sawNobody',
    seed: 9,
    caughtBy: 'P9',
  },
  {
    what: 'takes a namespace in which nothing may be listed for empty',
    file: 'bridge/namespace-existence.ts',
    from: "=== 'missing' ? 'listed' : 'forbidden';",
    to: "!== 'ending' ? 'listed' : 'forbidden';",
    seed: 55,
    caughtBy: 'P9',
  },
  {
    what: 'lets the rights in a namespace go before the last entry',
    file: 'bridge/kept-rights.ts',
    from: 'knownNamespaces(rule).includes(namespace)) return;',
    to: 'knownNamespaces(rule).includes(namespace)) break;',
    seed: 9,
    caughtBy: 'P9',
  },
  {
    what: 'keeps rights from before although the whole cluster is served',
    file: 'bridge/rule-places.ts',
    from: 'await rights.outgrow(former);',
    to: 'former;',
    seed: 4,
    caughtBy: 'P9',
  },
  {
    what: 'forgets that the whole cluster was served',
    file: 'bridge/rule-namespaces.ts',
    from: 'return isTakenOn(object) ? [ANYWHERE] : [];',
    to: 'return isTakenOn(object) ? [] : [];',
    seed: 22,
    caughtBy: 'P9',
  },
  {
    what: 'cannot read the targets of a record that says more of them',
    file: 'bridge/record.ts',
    from: 'const knownTarget = z.object({',
    to: 'const knownTarget = z.strictObject({',
    seed: 38,
    caughtBy: 'P4',
  },
  {
    what: 'acts on answers about objects where it was not told to look',
    file: 'bridge/inbox.ts',
    from: 'if (!isLookedInto(options.served, object)) return elsewhere(options, result);',
    to: '',
    seed: 201,
    caughtBy: 'P3',
  },
  {
    what: 'takes what no proof is asked of for what has a strong one',
    file: 'bridge/decide.ts',
    from: "return rule !== undefined && rule.binding !== 'uid';",
    to: "return rule !== undefined && rule.binding === 'name';",
    seed: 55,
    caughtBy: 'P2',
  },
  {
    what: 'deletes without a proof although the function does not allow that',
    file: 'functions/guards.ts',
    from: "('none' in data.ownership && !config.ownershipNone ? OWNERSHIP_NEEDED : undefined)",
    to: 'undefined',
    seed: 59,
    caughtBy: 'P2',
  },
  {
    what: 'takes a namespace that is being deleted for one that stays',
    file: 'bridge/rule-rights.ts',
    from: "const [absent, ending] = [going('missing'), going('ending')];",
    to: "const [absent, ending] = [going('missing'), []];",
    seed: 85,
    caughtBy: 'P7',
  },
  {
    what: 'takes a record that it cannot read whole for none',
    file: 'bridge/record.ts',
    from: '?? partOf(meta, rule, written) ?? damaged(meta, rule, text);',
    to: "?? { ...damaged(meta, rule, text), uid: 'nobody' };",
    seed: 481,
    caughtBy: 'P1',
  },
];
