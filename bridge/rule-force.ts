/*
 * Puts what was judged of a rule in force in the book: its latest generation if that is accepted, else the last one that
 * was, so that what is pending under it is not forgotten. This process remembers that one, or the rule's own status does,
 * over a restart. Called by rule-enforcing.ts, rule-taking.ts, unjudged.ts and withdrawal.ts.
 */
import * as z from 'zod/mini';
import { kindKey } from './kind-key.ts';
import type { KubeObject, ObjectMeta } from './ports.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import { type Judgement, whyRefused } from './rule-judge.ts';
import { ruleFromObject } from './rules.ts';
import { generationOf, isRememberable, matchOf } from './teardown-rules.ts';

const fields = z.record(z.string(), z.unknown());
const remembered = z.looseObject({
  status: z.looseObject({
    lastAccepted: z.object({ uid: z.string(), generation: z.number(), spec: fields }),
  }),
});

/** The generation of a rule that was accepted last, as its status keeps it. */
export type LastAccepted = z.output<typeof remembered>['status']['lastAccepted'];

/** What the status is to keep of a rule whose generation as it stands is accepted; undefined if it is too large. */
export function toRemember(object: KubeObject): LastAccepted | undefined {
  if (!isRememberable(object)) return undefined;
  return { uid: object.metadata.uid, generation: generationOf(object), spec: fields.parse(object.spec) };
}

/** The last accepted generation that a rule's status keeps; undefined when it keeps none of this very rule. */
export function lastAcceptedOf(object: KubeObject): Rule | undefined {
  const kept = remembered.safeParse(object).data?.status.lastAccepted;
  if (kept === undefined || kept.uid !== object.metadata.uid) return undefined;
  const { generation, spec } = kept;
  const parsed = ruleFromObject({ ...object, metadata: { ...object.metadata, generation }, spec });
  if (!parsed.ok) return undefined;
  // What cannot be changed is as it was: what says otherwise was not written by this bridge.
  return kindKey(parsed.rule.match) === kindKey(matchOf(object)) ? parsed.rule : undefined;
}

/** Puts a judgement in force. */
export function putInForce(book: RuleBook, object: KubeObject, judgement: Judgement): void {
  const { rule, fault } = judgement;
  forgetNamesake(book, object);
  const last = book.named(object.metadata.name);
  if (rule === undefined)
    keepLast(book, object, { why: whyRefused(judgement), isServed: fault?.reason !== 'UnknownResource' });
  // A generation is read once (rule-reader.ts): the very same rule is in force already.
  else if (last !== rule) book.set(rule);
}

/**
 * Keeps the last accepted generation, saying why it is not the latest; `isServed`: its kind can be watched; `mayTake`: one that is
 * not in force yet may come into force.
 */
export function keepLast(
  book: RuleBook,
  object: KubeObject,
  { why, isServed, mayTake = true }: { readonly why: string; readonly isServed: boolean; readonly mayTake?: boolean },
): void {
  const { name, deletionTimestamp } = object.metadata;
  // Nothing new gets its entry, from the moment at which it comes into force.
  const isGoing = deletionTimestamp !== undefined;
  forgetNamesake(book, object);
  const last = book.named(name) ?? (mayTake ? lastAcceptedOf(object) : undefined);
  if (last === undefined) book.refuse(name, why, isServed ? matchOf(object) : undefined);
  else if (last.notAccepted !== why) book.set({ ...last, notAccepted: why, ...(isGoing ? { isWithdrawn: true } : {}) });
}

/** One of the same name that went without being seen to go says nothing about this one. */
function forgetNamesake(book: RuleBook, { metadata: { name, uid } }: KubeObject): void {
  const known = book.named(name);
  if (known !== undefined && known.uid !== uid) book.delete(name);
}

/** No new object gets the entry of a rule that is being deleted, whatever else can be found out about it. */
export function stopTaking(book: RuleBook, { name, uid }: ObjectMeta): void {
  const rule = book.named(name);
  if (rule?.uid === uid && rule.isWithdrawn !== true) book.set({ ...rule, isWithdrawn: true });
}
