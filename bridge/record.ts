/*
 * The bridge's record of one deletion under one rule: one annotation on the object, read and written as pure values.
 * Called by observe.ts (reading) and recording.ts (writing); what is written without the rule is in carried-record.ts. It can make
 * the bridge more careful, never less: what it does not say may still have happened. It counts only for the uid and the rule uid it
 * names (trap V14); one that cannot be read says that nobody knows what was requested (P1).
 */
import * as z from 'zod/mini';
import { digest, reason, timestamp } from './contract.ts';
import { guards } from './finalizer.ts';
import type { ObjectMeta, PatchOperation } from './ports.ts';
import { retryWord } from './words.ts';

/** Annotation key prefix; the rule's name follows. */
export const RECORD_PREFIX = 'status.finalizer-bridge.dev/';
/** Longest message in a record, in UTF-8 bytes. */
export const RECORD_MESSAGE_MAX_BYTES = 512;

/** A target this deletion has met. `requested`: a request for it may have been sent. */
const knownTarget = z.object({ target: digest, rule: digest, requested: z.boolean(), started: z.boolean() });
export type KnownTarget = Readonly<z.output<typeof knownTarget>>;

/** The latest refusal; it says more than the record's own reason when something else holds the object as well. */
const refusedSchema = z.object({
  target: digest,
  rule: digest,
  attempt: z.int(),
  retry: z.int(),
  reason,
  message: z.string(),
  due: timestamp,
});

const uid = z.string().check(z.minLength(1));

const recordSchema = z.object({
  uid,
  ruleUid: z.string(),
  phase: z.enum(['Pending', 'Held']),
  reason,
  message: z.string(),
  since: timestamp,
  firstPublished: z.optional(timestamp),
  next: z.optional(timestamp),
  retry: z.optional(z.string()),
  retries: z.optional(z.int().check(z.gte(0), z.lte(1_000_000))),
  targets: z.array(knownTarget),
  unknownTarget: z.optional(z.boolean()),
  refused: z.optional(refusedSchema),
  heard: z.optional(z.array(z.string().check(z.maxLength(16))).check(z.maxLength(4))),
});

/** In the place of the rule's digest, of a target that was met while the ownership could not be computed. */
export const UNPROVEN = '0'.repeat(64);

/** Stands among the targets for those that a record names in a way that cannot be read: asked for, and never confirmed. */
const UNREAD: KnownTarget = { target: '0'.repeat(64), rule: UNPROVEN, requested: true, started: false };

/** Whether a record says which target it is. */
export function isNamed({ target }: KnownTarget): boolean {
  return target !== UNREAD.target;
}

/** Of a record that is not read whole, as one of a later version may be: all that can be, by itself. */
const partsSchema = z.object({
  uid,
  ruleUid: z.string(),
  firstPublished: z.catch(z.optional(timestamp), undefined),
  retry: z.catch(z.nullish(z.string()), null),
  retries: z.catch(recordSchema.shape.retries, undefined),
  targets: z.catch(z.array(z.catch(knownTarget, UNREAD)), [UNREAD]),
  unknownTarget: z.catch(recordSchema.shape.unknownTarget, true),
  refused: z.catch(recordSchema.shape.refused, undefined),
});

/**
 * The record; times are RFC 3339 UTC. `retry` is the last retry word handled, `retries` how many were; `heard` are the other words
 * of a person that were told of. `targets` names every one that was requested until now, save one that an earlier bridge may
 * have requested before there was a record: `unknownTarget`.
 */
export type Record = Readonly<z.output<typeof recordSchema>>;

/** The annotation of a rule's record. */
export function recordKey(rule: string): string {
  return RECORD_PREFIX + rule;
}

/** The record an object carries for a rule, if it is of this very object and rule. */
export function readRecord(
  meta: ObjectMeta,
  rule: { readonly name: string; readonly uid: string },
): Record | undefined {
  const record = readRecordOfAnyRule(meta, rule.name);
  return record?.ruleUid === rule.uid || isOfAnyRule(record) ? record : undefined;
}

/** Written without a rule it says what was requested under one of that name, and may have been under this one. */
function isOfAnyRule(record: Record | undefined): boolean {
  if (record?.ruleUid !== NONE_NAMED) return false;
  return record.unknownTarget === true || record.targets.some(({ requested }) => requested);
}

/** What an object says of a deletion under a rule; without the rule, what was written under whichever there was. */
export function readRecordUnder(
  rule: { readonly name: string; readonly uid: string } | undefined,
  { meta, rule: name }: { readonly meta: ObjectMeta; readonly rule: string },
): Record | undefined {
  return rule === undefined ? readRecordOfAnyRule(meta, name) : readRecord(meta, rule);
}

/** What was read last of a sight of an object: one look asks for it several times. */
const lastRead = new WeakMap<ObjectMeta, { readonly text: string; readonly record: Record | undefined }>();

/**
 * The record an object carries for a rule of that name, whichever it was; of this very object it is. One that is too damaged to
 * say whose it is may be: its uid is empty, and `countsFor` says for whom it counts.
 */
export function readRecordOfAnyRule(meta: ObjectMeta, rule: string): Record | undefined {
  const text = meta.annotations?.[recordKey(rule)];
  if (text === undefined) return undefined;
  const last = lastRead.get(meta);
  if (last?.text === text) return last.record;
  const written = parseJson(text);
  const whole = recordSchema.safeParse(written).data ?? partOf(meta, rule, written) ?? damaged(meta, rule, text);
  const record = whole.uid === meta.uid || whole.uid === NONE_NAMED ? whole : undefined;
  lastRead.set(meta, { text, record });
  return record;
}

/**
 * What can be read of a record that is not of this version's form. It says which targets were requested, and what cannot be read
 * of that may have been: to take it for no record would be less careful than whoever wrote it was (P1). Where it says in a way of
 * its own which retry was handled last, the one that stands on the object was said before it is read, and is none for what comes.
 */
function partOf(meta: ObjectMeta, rule: string, written: unknown): Record | undefined {
  const part = partsSchema.safeParse(written).data;
  if (part === undefined) return undefined;
  const retry = part.retry === null ? retryWord(meta, rule) : part.retry;
  const unknownTarget = !part.targets.every(isNamed) || part.unknownTarget;
  return { ...notReadWhole(meta), ...part, retry, unknownTarget };
}

/**
 * What has to be taken of a record that is cut off, or lacks whose it is: that others than those known may have been requested.
 * It counts under any rule of the name, and no retry that stands on the object is about what comes.
 */
function damaged(meta: ObjectMeta, rule: string, text: string): Record {
  const named = { uid: UID_NAMED.exec(text)?.[1] ?? NONE_NAMED, ruleUid: NONE_NAMED };
  return { ...notReadWhole(meta), ...named, retry: retryWord(meta, rule), targets: [UNREAD], unknownTarget: true };
}

/** Stands for the uid that a damaged record does not name, and for that of a rule which is not there. */
export const NONE_NAMED = '';
/** Inside of a text, quotes are escaped, so what matches is no part of a message. */
const UID_NAMED = /"uid"\s*:\s*"([^"\\]+)"/;

/**
 * Whether a record counts for a bridge that knows all that was sent in a deletion, or does not. Who has watched it from its
 * beginning has not asked anything yet, so a damaged record that names nobody is older, as where an object was copied (V14).
 */
export function countsFor({ uid: named }: Record, { knowsAllSent }: { readonly knowsAllSent: boolean }): boolean {
  return named !== NONE_NAMED || !knowsAllSent;
}

function notReadWhole(meta: ObjectMeta): Pick<Record, 'phase' | 'reason' | 'message' | 'since'> {
  return {
    ...{ phase: 'Pending', reason: 'Requested' },
    message: 'a record was written here that this version cannot read whole',
    since: meta.deletionTimestamp ?? meta.creationTimestamp,
  };
}

/** Writes a record over exactly what was read there, on exactly the object that was read. */
export function writeRecord(meta: ObjectMeta, rule: string, record: Record): readonly PatchOperation[] {
  const [key, all] = [recordKey(rule), '/metadata/annotations'];
  const path = `${all}/${escapePointer(key)}`;
  // What a person wants to know comes first: kubectl describe cuts annotations short.
  const { phase, reason, message, since, ...rest } = clipped(record);
  const value = JSON.stringify({ phase, reason, message, since, ...rest });
  const old = meta.annotations?.[key];
  if (old !== undefined) {
    return [...guards(meta), { op: 'test', path, value: old }, { op: 'replace', path, value }];
  }
  return meta.annotations !== undefined
    ? [...guards(meta), { op: 'add', path, value }]
    : // One version of a kind may show some where another, in which it was seen, shows none: they are not ours (P3).
      [...guards(meta), { op: 'test', path: all, value: null }, { op: 'add', path: all, value: { [key]: value } }];
}

/** Whether it names every target that was requested. */
export function namesRequested(record: Pick<Record, 'targets'> | undefined, seen: readonly KnownTarget[]): boolean {
  const named = record?.targets.filter(({ requested }) => requested).map(({ target }) => target) ?? [];
  return seen.every(({ requested, target }) => !requested || named.includes(target));
}

/** Whether two records say the same, leaving aside when the next look is due. */
export function saysTheSame(left: Record | undefined, right: Record): boolean {
  // What is news mostly is so by these two, and the rest costs more to compare.
  if (left?.phase !== right.phase || left.reason !== right.reason) return false;
  const told = ({ next, ...rest }: Record) => JSON.stringify(rest);
  // What was read is in the order of the schema already.
  return told(left) === told(recordSchema.parse(clipped(right)));
}

function clipped(record: Record): Record {
  const clip = (text: string) => clipUtf8(text, RECORD_MESSAGE_MAX_BYTES);
  const { refused } = record;
  return {
    ...record,
    message: clip(record.message),
    ...(refused === undefined ? {} : { refused: { ...refused, message: clip(refused.message) } }),
  };
}

/** Cuts a text to at most `max` UTF-8 bytes, never inside a character. */
export function clipUtf8(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text;
  const bytes = Buffer.from(text).subarray(0, max - 3);
  return `${new TextDecoder().decode(bytes).replace(/\ufffd+$/, '')}…`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
