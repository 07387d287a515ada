/*
 * Known-bad edits that only worlds of many deletions can catch, or are to catch as well: brakes, withdrawals, takeovers, the
 * books of what is over. Each names the promise that must be found broken. Read by fleet-mutants.slow.test.ts.
 */
import type { Mutation } from './mutant.ts';

/** The edits. `caughtBy` is the promise; the seeds of the test are the first ones. */
export const fleetMutations: readonly Mutation[] = [
  {
    what: 'forgets the budget on a restart',
    file: 'bridge/brake.ts',
    from: 'const blocks = readBlocks(statusOf(object).budget,',
    to: 'const blocks = readBlocks(this.#blocks.has(uid) ? statusOf(object).budget : undefined,',
    caughtBy: 'P5',
  },
  {
    what: 'lets tokens of a budget live on after their block counts no more',
    file: 'bridge/publishing.ts',
    from: 'return pending.tokenLapsesAt === undefined || reach.clock.monotonic() >= pending.tokenLapsesAt;',
    to: 'return pending.tokenLapsesAt === undefined;',
    caughtBy: 'P5',
  },
  {
    what: 'lets a rule go after one sweep, before the admission policy has forgotten it',
    file: 'bridge/settling.ts',
    from: 'export const SETTLE_MS = 60_000;',
    to: 'export const SETTLE_MS = 0;',
    caughtBy: 'P9',
  },
  {
    what: 'lets a release overtake a request',
    file: 'bridge/decide.ts',
    from: "if (see.release === 'now' || !mayStillRun(see, now))",
    to: "if (see.release !== 'none')",
    caughtBy: 'P2',
  },
  {
    what: 'frees what was refused',
    file: 'bridge/decide.ts',
    from: "return { act: 'hold', reason: refusal.reason, message: refusal.message, wakeAt: refusal.dueAt };",
    to: "return { act: 'remove', reason: 'Gone' };",
    caughtBy: 'P1',
  },
  {
    what: 'writes the whole list of finalizers',
    file: 'bridge/finalizer.ts',
    from: 'return [...guards(meta), ...removals];',
    to: "return [...guards(meta), { op: 'replace', path: '/metadata/finalizers', value: meta.finalizers?.filter((other) => other !== entry) }];",
    caughtBy: 'P3',
  },
  {
    what: 'acknowledges a result before the entry is off',
    file: 'bridge/inbox.ts',
    from: 'const cancel = options.clock.after(SETTLE_WITHIN_MS, () => resolve(false));',
    to: 'const cancel = () => {}; resolve(true);',
    caughtBy: 'P5',
  },
  {
    what: 'believes any sender of a request',
    file: 'functions/guards.ts',
    from: "if (!isSender(senderId, cluster.sender)) return { verdict: 'ignore', reason: 'UnknownSender' };",
    to: '',
    caughtBy: 'P2',
  },
  {
    what: 'keeps what is over in memory',
    file: 'bridge/removal.ts',
    from: 'reach.pendings.delete(pending.key);',
    to: '',
    caughtBy: 'P8',
  },
  {
    what: 'reads every object twice',
    file: 'bridge/reconcile.ts',
    from: 'const readAt = reach.clock.monotonic();',
    to: 'const readAt = reach.clock.monotonic(); await getOf(reach, pending);',
    caughtBy: 'P8',
  },
  {
    what: 'deletes what is to be kept',
    file: 'functions/ownership.ts',
    from: 'if (tags.has(KEEP_TAG)) return',
    to: "if (tags.has('')) return",
    caughtBy: 'P2',
  },
  {
    what: 'forgets targets that were requested and never confirmed',
    file: 'bridge/decide.ts',
    from: 'return see.seen.some(isOpen) ? undefined : gone;',
    to: 'return isOpen === undefined ? undefined : gone;',
    caughtBy: 'P1',
  },
  {
    what: 'never looks again at what nobody answered',
    file: 'bridge/work-queue.ts',
    from: 'if (wakeAt !== undefined) this.addAt(key, wakeAt);',
    to: '',
    caughtBy: 'P4',
  },
];
