/*
 * What is said of a rule that cannot be judged, because the API server answers no question about its kind, once that
 * lasts: why, in the rule's own conditions. Called by rule-keeper.ts after some failures. An acceptance of the same
 * generation stands, and so does what is in force; nothing new comes into force unjudged.
 */
import { explain } from './log.ts';
import { noteNamespaces } from './noted-namespaces.ts';
import type { KubeObject, Lease } from './ports.ts';
import type { RuleBook } from './rule-book.ts';
import { keepLast, lastAcceptedOf } from './rule-force.ts';
import { knownNamespaces, NOWHERE, saysWhere } from './rule-namespaces.ts';
import { type StatusOptions, updateStatus } from './rule-status.ts';
import { holdItself, type TakingOptions } from './rule-taking.ts';
import { type Condition, generationOf, statusOf } from './teardown-rules.ts';

/** What saying needs. */
export interface UnjudgedOptions extends StatusOptions, Pick<TakingOptions, 'contests'> {
  readonly lease: Lease;
  readonly book: RuleBook;
}

/** Says it. Rejects when the status cannot be written. */
export async function sayUnjudged(options: UnjudgedOptions, object: KubeObject, error: unknown): Promise<void> {
  const { book, lease } = options;
  const { name, uid } = object.metadata;
  const cause = explain(error);
  const inForce = book.named(name);
  if (inForce === undefined || inForce.uid !== uid) {
    const isLeading = lease.holds();
    if (isLeading) await takeOnUnjudged(options, object);
    const mayTake = isLeading || saysWhere(object, options.served);
    keepLast(book, object, { why: `not judged yet: ${cause}`, isServed: true, mayTake });
  }
  if (!lease.holds() || isAccepted(object)) return;
  const generation = generationOf(object);
  const isWorking = inForce?.uid === uid && inForce.notAccepted === undefined;
  const rest = isWorking
    ? `generation ${inForce.generation ?? 0} stays in force`
    : 'nothing is published for it meanwhile';
  const message = `generation ${generation} cannot be judged now, which is tried again: ${cause}; ${rest}`;
  const unknown = (type: Condition['type']): Condition => ({ type, status: 'Unknown', reason: 'NotJudged', message });
  const conditions = isWorking ? [unknown('Accepted')] : [unknown('Accepted'), unknown('Ready')];
  await updateStatus(options, { name, conditions });
}

/** What was accepted before puts entries on as soon as it is in force: the rule has to say where, and to hold itself (P5, P9). */
async function takeOnUnjudged(options: UnjudgedOptions, object: KubeObject): Promise<void> {
  // Where nothing comes into force nothing gets an entry, and nobody would find out later that none is where it says (P9).
  const isTaken = lastAcceptedOf(object) !== undefined;
  const served = isTaken || options.served.namespaces === undefined ? options.served : NOWHERE;
  const noted = await noteNamespaces(options, object, { served, emptied: [] });
  options.book.note(object.metadata.name, options.served.namespaces && knownNamespaces(noted));
  // One that puts no entry on may go without being withdrawn: that could not be judged either.
  if (isTaken && object.metadata.deletionTimestamp === undefined) await holdItself(options, noted);
}

/** Whether this very generation was accepted before. */
function isAccepted(object: KubeObject): boolean {
  const accepted = statusOf(object).conditions?.find(({ type }) => type === 'Accepted');
  return accepted?.status === 'True' && accepted.observedGeneration === generationOf(object);
}
