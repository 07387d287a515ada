/*
 * Act 3: the object whose bucket carries no proof. Shows what it says to whoever looks at it, and releases it by the word
 * of a person. Called by story.ts after everything else is gone; the bucket has to outlive its object.
 */
import { attemptAt, deletionBegan, expiresAt, runEndsBy, TERM_DEFAULT_MS } from '../../bridge/contract.ts';
import { giveWord, kubectlName } from './api.ts';
import type { BridgeRecord, Observed } from './objects.ts';
import type { Thing } from './outside.ts';
import type { Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';

/** What of an object that is held was seen by whoever looked at it. */
export interface Held {
  readonly object: string;
  readonly reason: string;
}

/** Waits until the object says why it is held, and shows it. */
export async function showHeld(stage: Stage, timeline: Timeline, { object }: Thing): Promise<Held> {
  const { objects, namespace } = stage;
  const about = ({ uid }: { readonly uid: string }) => uid === objects.get(object)?.uid;
  const isTold = () => objects.get(object)?.record?.phase === 'Held' && objects.events.some(about);
  await objects.until(`${object} to say why it is held, by annotation and Event`, isTold);
  const held = objects.get(object);
  if (held?.record === undefined) throw new Error(`reading the record of ${object}: it is gone`);
  const { record } = held;
  timeline.command(`kubectl -n ${namespace} describe ${kubectlName(stage, object)}`);
  timeline.output(
    `Finalizers:   ${held.finalizers.join(', ')}`,
    `Annotations:  ${record.annotation}:`,
    `                ${shortened(record)}`,
    ...objects.events.filter(about).map(({ type, reason, note }) => `Events:       ${type} ${reason} ${note}`),
  );
  return { object, reason: record.reason };
}

/** Releases it at once, says what the plain word would have meant, and waits until the object is gone. */
export async function release(stage: Stage, timeline: Timeline, { object }: Thing): Promise<void> {
  const { objects, narrator } = stage;
  const held = objects.get(object);
  if (held === undefined) throw new Error(`releasing ${object}: it was never seen`);
  const safe = safeAfter(held);
  const minutes = Math.round((safe - Date.now()) / 60_000);
  timeline.line(object, [
    'A person who wants to keep the bucket releases the object, by an annotation with its uid.',
    `The uid alone would wait for ${minutes} min more, until ${clock(safe)} UTC: then the last request has`,
    'surely expired, and no teardown can come any more. With /now the person takes that chance.',
  ]);
  await giveWord(stage, timeline, { object, key: 'release.finalizer-bridge.dev/', value: `${held.uid}/now` });
  await objects.until(`${object} to be gone`, () => objects.get(object)?.isPresent === false);
  await narrator.settled();
  await objects.until(`the Event about the release of ${object}`, () =>
    objects.events.some(({ uid, reason }) => uid === held.uid && reason === 'Released'),
  );
}

/** When no request that was sent for this deletion can still run, in ms since the epoch. The rule says no term of its own. */
function safeAfter({ deletionTimestamp, record }: Observed): number {
  if (deletionTimestamp === undefined || record?.firstPublished === undefined)
    throw new Error('reading when a request was first published: the object does not say it');
  const terms = { began: deletionBegan(deletionTimestamp), term: TERM_DEFAULT_MS };
  return runEndsBy(expiresAt(terms, attemptAt(terms, Date.parse(record.firstPublished))));
}

function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

/** What a person reads of the record; the rest is the bridge's memory. */
function shortened({ phase, reason, message, since }: BridgeRecord): string {
  return `{"phase":"${phase}","reason":"${reason}","message":"${message}","since":"${since}", …}`;
}
