/*
 * Writes the record of a deletion on its object, and keeps what the API server answers: it is what the next look would have to
 * read. Called by standing.ts and publishing.ts, and by failing.ts for what goes wrong again and again; what stands in a record
 * is record.ts.
 */
import { heardOf } from './audit.ts';
import { carriedOver } from './carried-record.ts';
import { entryOf, hasEntry } from './finalizer.ts';
import { factsOf, recall } from './observe.ts';
import { advance, type Facts, type Pending, type Standing } from './pending.ts';
import { ApiError, type KubeObject, type ObjectMeta, type PatchOutcome } from './ports.ts';
import { type Record, readRecordUnder, recordKey, saysTheSame, writeRecord } from './record.ts';
import { nameOf, pathOf, type Run } from './run.ts';
import { trimmed } from './wire.ts';

/** What a webhook or a policy of somebody may answer beside 422 to a write that it does not take. */
const REFUSED: ReadonlySet<number> = new Set([400, 403, 413]);

/**
 * Writes the record.
 * @throws when the object moved: nothing that depends on the record may go on.
 */
export async function record(run: Run, standing: Standing, next?: number): Promise<void> {
  const { reach, pending } = run;
  if (!reach.lease.holds()) throw new Error(`recording on ${nameOf(pending)}: the lease is not held`);
  // The watch may have brought one that another process wrote since the last look: what it names must not be lost (trap V10).
  recall(pending, run.rule, reach.clock.now());
  const wanted = recordOf(run, standing, next);
  // What the write was made for: the watch may move on while it is under way.
  const before = pending.meta;
  const readAt = reach.clock.monotonic();
  const operations = writeRecord(before, pending.rule, wanted);
  const outcome = await owedUntil(run, () => reach.cluster.patch(pathOf(pending), operations, 'whole'));
  if (outcome.kind !== 'patched') {
    pending.facts = undefined;
    if (outcome.kind === 'conflict' && (await hasNotMoved(run, before)))
      throw new Unrecordable(run, standing, outcome.said);
    throw new Error(`recording on ${nameOf(pending)}: ${outcome.kind}`);
  }
  // What this process wrote last still stood there: nobody writes over it any more.
  const stood = before.annotations?.[recordKey(pending.rule)];
  if (stood !== undefined && stood === pending.recordedText) pending.overwritten = 0;
  advance(pending, trimmed(outcome.meta));
  pending.facts = factsAfter(run, outcome.object, readAt);
  pending.recordedAt = reach.clock.now();
  pending.recordedText = pending.meta.annotations?.[recordKey(pending.rule)];
  pending.recordedReason = inShort(standing);
}

/** The answer to the write is what the next look would read; whether that may look shows there, as after any GET. */
function factsAfter({ reach, pending, rule }: Run, object: KubeObject | undefined, readAt: number): Facts | undefined {
  if (object === undefined || !hasEntry(object.metadata, entryOf(pending.rule))) return undefined;
  return factsOf({ object, name: pending.rule, rule, clusterUid: reach.clusterId.uid, readAt });
}

/**
 * Writes what is owed. What comes while the write is under way is not in it, and is owed anew (P5); and what is written without the
 * rule says nothing of a retry or a refusal, so they are owed still.
 */
async function owedUntil({ pending, rule }: Run, write: () => Promise<PatchOutcome>): Promise<PatchOutcome> {
  const { owesRecord, owesRefusal } = pending;
  let isWritten = false;
  pending.owesRecord = false;
  pending.owesRefusal = false;
  try {
    const outcome = await refusedOr(write());
    isWritten = outcome.kind === 'patched' && rule !== undefined;
    return outcome;
  } finally {
    pending.owesRecord ||= owesRecord && !isWritten;
    pending.owesRefusal ||= owesRefusal && !isWritten;
  }
}

async function refusedOr(writing: Promise<PatchOutcome>): Promise<PatchOutcome> {
  try {
    return await writing;
  } catch (error) {
    if (!(error instanceof ApiError) || !REFUSED.has(error.status)) throw error;
    return { kind: 'conflict', said: error.body || error.message };
  }
}

/** The API server refuses the record of an object that has not moved, as where its annotations are full. */
export class Unrecordable extends Error {
  /** Why the deletion is not done, which nobody can read on the object. */
  readonly standing: Standing;

  constructor({ pending }: Run, standing: Standing, said = 'refused although nothing had changed') {
    super(`recording on ${nameOf(pending)}: ${said}`);
    this.standing = { ...standing, message: `${standing.message}; cannot be recorded: ${said.slice(0, 256)}` };
  }
}

async function hasNotMoved({ reach, pending }: Run, { uid, resourceVersion }: ObjectMeta): Promise<boolean> {
  const object = await reach.cluster.get(pathOf(pending));
  return object?.metadata.uid === uid && object.metadata.resourceVersion === resourceVersion;
}

/** A record is best-effort unless results or a second target depend on it: then a failure keeps them in the queue. */
export async function recordIfNew(run: Run, standing: Standing, next: number | undefined): Promise<void> {
  const wanted = recordOf(run, standing, next);
  if (!saysTheSame(readRecordUnder(run.rule, run.pending), wanted)) await record(run, standing, next);
}

/** Phase and reason: what a record is news by. */
export function inShort({ phase, reason }: Standing): string {
  return `${phase} ${reason}`;
}

function recordOf({ pending, rule }: Run, standing: Standing, next: number | undefined): Record {
  const { refusal, firstPublished, retryHandled, retries, unknownTarget } = pending;
  const { phase, reason, message } = standing;
  const heard = heardOf(pending);
  const words = heard.length === 0 ? {} : { heard: [...heard] };
  const told = { phase, reason, message, since: new Date(standing.since).toISOString(), ...words };
  // Without the rule, what an earlier process wrote under it must survive: it may come back.
  if (rule === undefined) return { ...carriedOver(pending.meta, pending), ...told };
  return {
    uid: pending.meta.uid,
    ruleUid: rule.uid,
    ...told,
    ...(firstPublished === undefined ? {} : { firstPublished: new Date(firstPublished).toISOString() }),
    ...(next === undefined ? {} : { next: new Date(next).toISOString() }),
    ...(retryHandled === undefined ? {} : { retry: retryHandled }),
    ...(retries === 0 ? {} : { retries }),
    targets: [...pending.seen],
    ...(unknownTarget === true ? { unknownTarget } : {}),
    ...(refusal === undefined ? {} : { refused: written(refusal) }),
  };
}

function written({ dueAt, ...refusal }: NonNullable<Pending['refusal']>): NonNullable<Record['refused']> {
  return { ...refusal, due: new Date(dueAt).toISOString() };
}
