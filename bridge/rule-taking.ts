/*
 * Takes a rule on before anything gets its entry: its status names where entries may be, and the rule holds itself, so that it is
 * withdrawn when it is deleted. Called by rule-enforcing.ts for every look at a live rule, before it is put in force.
 */
import { addEntry } from './finalizer.ts';
import { noteNamespaces } from './noted-namespaces.ts';
import type { Cluster, KubeObject } from './ports.ts';
import type { RuleBook } from './rule-book.ts';
import { lastAcceptedOf } from './rule-force.ts';
import type { Judgement } from './rule-judge.ts';
import { knownNamespaces, NOWHERE, saysWhere } from './rule-namespaces.ts';
import { type Places, type PlacesOptions, seeToFormer, seeToPlaces } from './rule-places.ts';
import { rulePath, WITHDRAWAL_FINALIZER } from './teardown-rules.ts';

/** That the rule holds itself, as a change that others may undo. */
const HELD = 'held';

/** What taking on needs. */
export interface TakingOptions extends PlacesOptions {
  readonly cluster: Cluster;
  readonly book: RuleBook;
}

/** Before anything gets the rule's entry its status says where that may be. */
async function placesOf(
  options: TakingOptions,
  object: KubeObject,
  judgement: Judgement,
): Promise<Pick<Places, 'object'> & Partial<Places>> {
  const { book, served } = options;
  // The generation that was accepted last goes on putting entries on.
  const rule = judgement.rule ?? book.named(object.metadata.name) ?? lastAcceptedOf(object);
  if (rule !== undefined) return await seeToPlaces(options, object, { rule, judgement });
  if (served.namespaces === undefined) return { object: await seeToFormer(options, object) };
  return { object: await noteNamespaces(options, object, { served: NOWHERE, emptied: [] }) };
}

/** The rule before anything gets its entry. */
export interface TakenOn extends Partial<Places> {
  readonly object: KubeObject;
  /** For how many ms the rule stays without the finalizer of ours that somebody takes off again and again. */
  readonly heldIn?: number;
}

/**
 * Without the lease, as after a leap of the wall clock until it is renewed, nothing can be written on the rule: one that is not in
 * force yet comes into force only if it says already all that it has to. Throws otherwise, to be tried again.
 */
export function takeOnAsSaid({ book, served }: TakingOptions, object: KubeObject): TakenOn {
  const { name, uid } = object.metadata;
  if (book.named(name)?.uid === uid) return { object };
  if (!saysWhere(object, served)) throw new Error(`putting rule ${name} in force: the lease is not held`);
  book.note(name, served.namespaces && knownNamespaces(object));
  return { object };
}

/** Before anything gets the rule's entry the rule holds itself: deleted a moment later it is withdrawn all the same (P9). */
export async function takeOn(options: TakingOptions, seen: KubeObject, judgement: Judgement): Promise<TakenOn> {
  const { object, ...places } = await placesOf(options, seen, judgement);
  return { ...places, ...(await holdItself(options, object)) };
}

/** Puts our finalizer on a rule that lacks it. Throws when the rule has changed. */
export async function holdItself(
  { cluster, contests }: Pick<TakingOptions, 'cluster' | 'contests'>,
  object: KubeObject,
): Promise<Pick<TakenOn, 'object' | 'heldIn'>> {
  const { name, uid } = object.metadata;
  const operations = addEntry(object.metadata, WITHDRAWAL_FINALIZER);
  if (operations === undefined) return { object };
  const heldIn = contests.waitFor(uid, HELD);
  if (heldIn > 0) return { object, heldIn };
  const outcome = await cluster.patch(rulePath(name), operations);
  if (outcome.kind === 'conflict') throw new Error(`holding rule ${name}: it has changed`);
  if (outcome.kind === 'missing') return { object };
  contests.wrote(uid, HELD);
  return { object: { ...object, metadata: { ...object.metadata, ...outcome.meta } } };
}
