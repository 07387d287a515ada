/*
 * Takes the entry off, and ends the memory of a deletion once the entry or the object is known to be gone.
 * Called by reconcile.ts. Results in hand are acknowledged only after the API server has confirmed (K5): by the PATCH's
 * own answer, or by a fresh GET that no longer shows the entry. A 409 or 422 says nothing by itself.
 */
import type { Decision } from './decide.ts';
import { entryOf, hasEntry, removeEntry } from './finalizer.ts';
import { beganAt, type Pending } from './pending.ts';
import type { Cluster, Lease } from './ports.ts';
import type { Reporter, Telling } from './reporter.ts';
import { nameOf, pathOf, type Reach, type Step } from './run.ts';
import { reasonGiven } from './words.ts';

type Remove = Extract<Decision, { act: 'remove' }>;

/** What ending the memory of a deletion needs. */
export interface Ending
  extends Pick<Reach, 'clock' | 'pendings' | 'finished' | 'metrics' | 'log' | 'labelOf' | 'forget'> {
  readonly reporter: Pick<Reporter, 'tell'>;
}

/** What taking an entry off needs. */
export interface Removing extends Ending {
  readonly lease: Pick<Lease, 'holds'>;
  readonly cluster: Pick<Cluster, 'get' | 'patch'>;
}

/** What is taken off, and by which means. */
export interface Removal {
  readonly reach: Removing;
  readonly pending: Pending;
}

/** Removes the entry on the strength of a decision. */
export async function remove({ reach, pending }: Removal, decision: Remove): Promise<Step> {
  const entry = entryOf(pending.rule);
  const operations = removeEntry(pending.meta, entry);
  if (operations === undefined) throw new Error(`removing finalizer from ${nameOf(pending)}: it is not there`);
  if (!reach.lease.holds()) throw new Error(`removing finalizer from ${nameOf(pending)}: the lease is not held`);
  pending.removing = decision;
  const before = pending.meta.resourceVersion;
  const outcome = await reach.cluster.patch(pathOf(pending), operations);
  switch (outcome.kind) {
    case 'patched':
      if (hasEntry(outcome.meta, entry)) {
        throw new Error(`removing finalizer from ${nameOf(pending)}: the API server kept it`);
      }
      finish(reach, pending, 'entry');
      return { kind: 'done' };
    case 'missing':
      finish(reach, pending, 'object');
      return { kind: 'done' };
    case 'conflict':
      return await lookAgain(reach, pending, before);
    default:
      return outcome satisfies never;
  }
}

/** After a conflict only a fresh GET tells; when nothing had moved, the write itself was refused. */
async function lookAgain(reach: Removing, pending: Pending, before: string): Promise<Step> {
  const object = await reach.cluster.get(pathOf(pending));
  if (object?.metadata.uid === pending.meta.uid && object.metadata.resourceVersion === before) {
    throw new Error(`removing finalizer from ${nameOf(pending)}: refused although nothing had changed`);
  }
  pending.facts = undefined;
  return { kind: 'again' };
}

/** Ends the memory of a deletion, and tells how it ended, once. */
export function finish(reach: Ending, pending: Pending, gone: 'object' | 'entry'): void {
  if (!pending.wasOver) tellEnd(reach, pending, gone);
  for (const settle of pending.settles.splice(0)) settle(true);
  reach.pendings.delete(pending.key);
  reach.finished.add(pending);
  // Where the watch was faster than the answer there is nothing to wait for.
  if (pending.doubted) reach.finished.seenOff(pending.key);
  reach.forget(pending.key);
}

/** Without a removal of ours somebody else has taken the entry off: that is told, with the target (`Bypassed`). */
function tellEnd(reach: Ending, pending: Pending, gone: 'object' | 'entry'): void {
  const { removing, rule, meta } = pending;
  const label = reach.labelOf(rule, pending.kind);
  const seconds = (reach.clock.now() - beganAt(pending)) / 1000;
  if (removing === undefined && isAnswered(pending)) {
    reach.metrics.removed.inc({ rule: label, reason: 'Elsewhere' });
    reach.log.info(
      { rule, uid: meta.uid, seconds },
      `removing finalizer from ${nameOf(pending)}: somebody else was faster`,
    );
  } else if (removing === undefined) {
    reach.metrics.bypassed.inc({ rule: label });
    const what = gone === 'object' ? 'the object is gone' : 'the entry is gone from the object';
    reach.reporter.tell(pending, {
      type: 'Warning',
      reason: 'Bypassed',
      action: 'Teardown',
      message: `${rule}: ${what} before a result came; the outside resource may have leaked${leakOf(pending)}`,
    });
  } else {
    reach.metrics.removed.inc({ rule: label, reason: removing.reason });
    reach.metrics.duration.observe({ rule: label, reason: removing.reason }, Math.max(0, seconds));
    const telling = tellingOf(removing, pending);
    if (telling === undefined)
      reach.log.debug({ rule, uid: meta.uid, seconds }, `removing finalizer from ${nameOf(pending)}: done`);
    else reach.reporter.tell(pending, telling);
  }
}

/** The target the object had was said to be gone: whoever took the entry off, nothing has leaked. */
function isAnswered({ gones, meta, facts }: Pending): boolean {
  const target = facts?.evaluation?.target;
  return target?.kind === 'found' && gones.some((gone) => gone.uid === meta.uid && gone.target === target.digest);
}

/** The target, as far as it is known: what a person has to look after now. */
function leakOf({ facts }: Pending): string {
  const target = facts?.evaluation?.target;
  return target?.kind === 'found' ? `: ${JSON.stringify(target.target).slice(0, 512)}` : '';
}

/** What a removal is worth telling; a happy one is not (P8). */
function tellingOf({ reason, evidence }: Remove, { rule, meta }: Pending): Telling | undefined {
  const action = 'Teardown';
  const said = reasonGiven(meta, rule);
  const why = said === undefined ? '' : `: ${said}`;
  switch (reason) {
    case 'Gone':
      if (evidence !== 'absent') return undefined;
      return {
        type: 'Warning',
        reason: 'FoundNothing',
        action,
        message: `${rule}: the first look found nothing to delete`,
      };
    case 'Released':
      return {
        type: 'Warning',
        reason,
        action,
        message: `${rule}: released on a person's word, without teardown${why}`,
      };
    case 'Retained':
      return { type: 'Normal', reason, action, message: `${rule}: the outside resource is kept, as the policy says` };
    case 'TargetMissing':
      return {
        type: 'Warning',
        reason,
        action,
        message: `${rule}: released, the object never got an outside resource`,
      };
    default:
      return reason satisfies never;
  }
}
