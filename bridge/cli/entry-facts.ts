/*
 * All that can be told of one entry of an object without the bridge: its rule, where the deletion stands by the record on
 * the object, what people have said, the target, and by when no request can still run. Called by explain.ts, which prints it.
 */
import { entryOf } from '../finalizer.ts';
import { othersRunsEnd } from '../observe.ts';
import type { KubeObject } from '../ports.ts';
import { type Record, readRecordOfAnyRule } from '../record.ts';
import type { Evaluation } from '../rule.ts';
import { isApproved, reasonGiven, releaseWord, retryWord, unreadWords } from '../words.ts';
import {
  type Advice,
  adviceFor,
  adviceOnLive,
  adviceOnNoAnswer,
  adviceOnNoQueue,
  adviceOnOtherKind,
  type Commands,
} from './advice.ts';
import { type HeldObject, heldInStatus, toldByStatus } from './held-objects.ts';
import type { RuleSight } from './rule-sight.ts';
import { adviceAtFirst, adviceOnSilence } from './silence.ts';
import { beganOf } from './subject.ts';
import { timeOf } from './times.ts';

/** The bridge has had time to say something: 30 s of quiet, a minute between records, and room. */
export const SILENT_MS = 120_000;
/** A function that is well answers sooner, if only with what it waits for. */
const UNANSWERED_MS = 5 * 60_000;

/** What `explain -o json` says of an entry. Times are RFC 3339, UTC. */
export interface EntryFacts {
  readonly rule: string;
  readonly entry: string;
  /** `Missing`: there is no such TeardownRule. `OtherKind`: it is for another kind. `Unreadable`: the caller may not read it. */
  readonly ruleState: 'Accepted' | 'NotAccepted' | 'Missing' | 'OtherKind' | 'Unreadable';
  readonly ruleDetail?: string | undefined;
  readonly handler?: string | undefined;
  /** `Live`: not being deleted. `Silent`: the bridge has written nothing (yet). */
  readonly state: 'Live' | 'Silent' | 'Pending' | 'Held';
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly since?: string | undefined;
  readonly firstPublished?: string | undefined;
  /** Whether a request was sent or may have been, as far as the object says; false is no proof that none was. */
  readonly isAsked: boolean;
  /** When the bridge looks again without being told. */
  readonly nextLook?: string | undefined;
  readonly refused?: Pick<NonNullable<Record['refused']>, 'reason' | 'message' | 'due'> | undefined;
  readonly policy?: string | undefined;
  readonly target?: Evaluation['target'] | undefined;
  readonly ownership?: Evaluation['ownership'] | undefined;
  /** No request that was sent by now can still run after this. */
  readonly noRequestRunsAfter?: string | undefined;
  readonly words: readonly string[];
  readonly waitsFor: string;
  readonly next: Advice['next'];
}

/** What is looked at. `object` is as of the rule's version of the kind. */
export interface EntryLook {
  readonly name: string;
  readonly object: KubeObject;
  readonly sight: RuleSight;
  readonly now: number;
  readonly commands: Commands;
}

/** The facts of one entry. */
export function factsOfEntry(look: EntryLook): EntryFacts {
  const { name, object, sight, now } = look;
  const { metadata } = object;
  const rule = sight.kind === 'found' ? sight.rule : undefined;
  const began = beganOf(metadata);
  const record = began === undefined ? undefined : readRecordOfAnyRule(metadata, name);
  const told =
    began === undefined || sight.kind !== 'found'
      ? undefined
      : toldByStatus(heldInStatus(sight.object), metadata.uid, record);
  const evaluation = rule?.evaluate(object);
  const { waitsFor, next } =
    told === undefined
      ? advice(look, { record, began, evaluation })
      : adviceFor({ phase: 'Held', reason: told.reason }, look.commands);
  return {
    ...{ rule: name, entry: entryOf(name), ...ruleFacts(sight), handler: rule?.handler },
    state: began === undefined ? 'Live' : told === undefined ? (record?.phase ?? 'Silent') : 'Held',
    ...recordFacts(record),
    ...toldFacts(told),
    isAsked: told !== undefined || isAsked(record),
    policy: evaluation?.policy.kind === 'found' ? evaluation.policy.policy : evaluation?.policy.detail,
    ...{ target: evaluation?.target, ownership: evaluation?.ownership },
    noRequestRunsAfter: began === undefined ? undefined : timeOf(othersRunsEnd(rule, { began, until: now })),
    words: began === undefined ? [] : wordsOn(look, record),
    ...{ waitsFor, next },
  };
}

function ruleFacts(sight: RuleSight): Pick<EntryFacts, 'ruleState' | 'ruleDetail'> {
  switch (sight.kind) {
    case 'missing':
      return { ruleState: 'Missing', ruleDetail: 'rules of a file that the bridge reads are not seen here' };
    case 'elsewhere':
      return { ruleState: 'OtherKind', ruleDetail: `the TeardownRule of that name is for ${sight.selects}` };
    case 'unreadable':
      return { ruleState: 'Unreadable', ruleDetail: sight.why };
    case 'found': {
      const refusal = sight.accepted?.status === 'False' ? sight.accepted.message : undefined;
      const fault = sight.faults.length > 0 ? sight.faults.join('; ') : refusal;
      const isGoing = sight.object.metadata.deletionTimestamp !== undefined;
      const detail = fault ?? (isGoing ? 'the rule is being withdrawn' : hindrance(sight));
      return { ruleState: fault === undefined ? 'Accepted' : 'NotAccepted', ruleDetail: detail };
    }
    default:
      return sight satisfies never;
  }
}

/** What keeps a rule that is accepted from seeing its objects: rights, or a namespace that is served no more. */
function hindrance({ conditions }: Extract<RuleSight, { kind: 'found' }>): string | undefined {
  const found = conditions.find(
    ({ type, status }) => (type === 'Permitted' || type === 'Watching') && status === 'False',
  );
  return found === undefined ? undefined : `${found.reason}: ${found.message}`;
}

function recordFacts(record: Record | undefined): Partial<EntryFacts> {
  if (record === undefined) return {};
  const { reason, message, since, firstPublished, next, refused } = record;
  return {
    ...{ reason, message, since, firstPublished, nextLook: next },
    refused: refused && { reason: refused.reason, message: refused.message, due: refused.due },
  };
}

function isAsked({ firstPublished, targets = [], unknownTarget = false }: Partial<Record> = {}): boolean {
  return firstPublished !== undefined || unknownTarget || targets.some(({ requested }) => requested);
}

/** Of an object that takes no record. */
function toldFacts(told: HeldObject | undefined): Partial<EntryFacts> {
  if (told === undefined) return {};
  const from = "as the rule's status says: nothing could be written on the object";
  const message = told.message === undefined ? `${from}; the Events about it say more` : `${told.message} (${from})`;
  return { reason: told.reason, message, since: told.since, nextLook: undefined };
}

interface Found {
  readonly record: Record | undefined;
  readonly began: number | undefined;
  readonly evaluation: Evaluation | undefined;
}

function advice({ now, commands, object, name, sight }: EntryLook, { record, began, evaluation }: Found): Advice {
  const hasNoRule = sight.kind === 'missing' || sight.kind === 'elsewhere';
  if (began === undefined) return adviceOnLive(hasNoRule, commands);
  if (record === undefined && now - began > SILENT_MS) return adviceOnSilence(commands);
  if (record === undefined) return adviceAtFirst(expectedOf(sight, evaluation), commands);
  // A release said after the record was written is what counts next.
  if (record.reason !== 'ReleaseWaiting' && releaseWord(object.metadata, name) !== 'none')
    return adviceFor({ phase: 'Pending', reason: 'ReleaseWaiting' }, commands);
  if (record.reason === 'RuleNotAccepted' && isWithoutQueue(sight)) return adviceOnNoQueue(commands);
  const sent = Date.parse(record.firstPublished ?? '');
  if (record.reason === 'Requested' && now - sent > UNANSWERED_MS) return adviceOnNoAnswer(commands);
  return record.reason === 'NoRule' && sight.kind === 'elsewhere'
    ? adviceOnOtherKind(sight.selects, commands)
    : adviceFor(record, commands);
}

/** What the bridge is going to do with a deletion of which it has not written yet. */
function expectedOf(sight: RuleSight, evaluation: Evaluation | undefined): Parameters<typeof adviceAtFirst>[0] {
  if (sight.kind !== 'found') return 'unknown';
  if (sight.accepted?.status === 'False' || sight.rule === undefined) return 'RuleNotAccepted';
  if (evaluation?.policy.kind === 'found' && evaluation.policy.policy === 'Retain') return 'Retain';
  return sight.rule.paused ? 'Paused' : 'Request';
}

function isWithoutQueue(sight: RuleSight): boolean {
  return sight.kind === 'found' && sight.accepted?.status === 'False' && sight.accepted.reason === 'NoQueue';
}

/** What people have said about this deletion, and whether it was heard. */
function wordsOn({ object: { metadata }, name }: EntryLook, record: Record | undefined): readonly string[] {
  const release = releaseWord(metadata, name);
  const retry = retryWord(metadata, name);
  const reason = reasonGiven(metadata, name);
  const isHeard = retry === undefined || record?.retry === retry;
  return [
    release === 'none'
      ? ''
      : `release${release === 'now' ? ' at once' : ''}${reason === undefined ? '' : `: ${reason}`}`,
    retry === undefined ? '' : `retry ${retry}${isHeard ? ', heard by the bridge' : ', not heard by the bridge yet'}`,
    isApproved(metadata, name) ? 'approved' : '',
    ...unreadWords(metadata, name).map((fault) => `not understood: ${fault}`),
  ].filter((word) => word !== '');
}
