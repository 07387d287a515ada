/*
 * The promises as code, asked at every write, every deletion outside, every send and every acknowledgement of a world.
 * Made by world.ts. A broken promise is noted, never thrown, so that a run shows all that follows from it.
 */
import { decodeRequest, decodeResult, type Result } from '../../bridge/contract.ts';
import type { KubeObject, PatchOperation } from '../../bridge/ports.ts';
import type { ApiServer, Write } from './api-server.ts';
import type { VirtualTime } from './clock.ts';
import type { Cloud, CloudDeletion } from './cloud.ts';
import { faultsOfGuards } from './fleet/ledger-patches.ts';
import { ENTRY, hasOurEntry, isHeld, KIND, ON_DELETE, RECORD, RELEASE, recordOn } from './installation.ts';
import type { ReceivedMessage, SimulatedQueue, StoredMessage } from './queue.ts';

/** The tag that keeps a resource whatever happens. */
const KEEP_TAG = 'finalizer-bridge.dev/keep';
/** A `gone` counts this long after its request expired, and clocks may be off by as much again. */
const GONE_GRACE_MS = 120_000;
/** A run may outlive the expiry of its request by its last call. */
const LAST_CALL_MS = 30_000;
/** What was read this long ago may still be acted on, the slowest wire included. */
const STALE_MS = 150_000;

/** What is looked at. */
export interface Witnessed {
  readonly time: VirtualTime;
  readonly server: ApiServer;
  readonly cloud: Cloud;
  readonly requests: SimulatedQueue;
  readonly results: SimulatedQueue;
  isBridge(process: string): boolean;
  /** What a function process works on; undefined for everybody else. */
  batchOf(process: string): readonly ReceivedMessage[] | undefined;
}

type Answer = Result['data'];

/** The witness of one world. */
export class Promises {
  /** What was broken, in order, each beginning with the promise's id. */
  readonly broken: string[] = [];
  readonly #world: Witnessed;
  readonly #answers: Answer[] = [];
  /** uids whose entry is off without a teardown because a person or a policy said so. */
  readonly #freed = new Map<string, 'now' | 'waited' | 'bypassed'>();
  /** Every object that there ever was. */
  readonly #known = new Set<string>();
  readonly #retainedSince = new Map<string, number>();

  constructor(world: Witnessed) {
    this.#world = world;
    world.server.onWrite((write) => this.#onWrite(write));
    world.cloud.onDelete((deletion) => this.#onDelete(deletion));
    world.requests.onSend((message) => this.#onRequest(message));
    world.results.onSend((message) => this.#onResult(message));
    world.results.onDelete((message, by) => this.#onAcknowledged(message, by));
    world.requests.onDelete((message, by) => this.#onRequestDone(message, by));
  }

  /** Notes a broken promise. */
  note(promise: string, what: string): void {
    this.broken.push(`${promise}: ${what} (at ${new Date(this.#world.time.now()).toISOString()})`);
  }

  /** What has to be true once a world has settled. `deadLetters`: how many of them the scenario has made itself. */
  atEnd(isSettled: boolean, deadLetters = 0): void {
    const { server, cloud, requests, results } = this.#world;
    if (!isSettled) this.note('P4', 'it never came to an end');
    for (const object of server.all(KIND)) {
      if (object.metadata.deletionTimestamp !== undefined && hasOurEntry(object) && !isHeld(object)) {
        this.note('P4', `${object.metadata.name} is neither gone nor held with a reason`);
      }
    }
    for (const { name, owner } of cloud.all()) {
      const object = this.#objectOf(owner);
      if (this.#known.has(owner) && !hasOurEntry(object) && !this.#freed.has(owner))
        this.note('P1', `${name} of ${owner} has leaked`);
    }
    const dead = [...requests.deadLetters, ...results.deadLetters].map(({ messageId }) => messageId);
    if (dead.length !== deadLetters) this.note('P6', `${dead.join(', ') || 'nothing'} became a dead letter`);
  }

  #onWrite({ before, after, by, operations }: Write): void {
    this.#noteRetain(after);
    if (after !== undefined) this.#known.add(after.metadata.uid);
    if (before === undefined) return;
    const isOff = hasOurEntry(before) && !hasOurEntry(after) && before.metadata.deletionTimestamp !== undefined;
    if (!this.#world.isBridge(by)) {
      if (isOff) this.#freed.set(before.metadata.uid, 'bypassed');
      return;
    }
    for (const fault of faultsOfPatch(before, after, operations ?? [])) this.note('P3', `${by} ${fault}`);
    if (isOff) this.#onEntryOff(before, by);
  }

  /** P1: off only for a valid gone of what is gone indeed, a policy, or a person's word. */
  #onEntryOff({ metadata: { name, uid, annotations = {} }, status }: KubeObject, by: string): void {
    const word = annotations[RELEASE];
    if (word === `${uid}/now`) this.#freed.set(uid, 'now');
    else if (word === uid || annotations[ON_DELETE] === 'Retain') this.#freed.set(uid, 'waited');
    if (this.#freed.has(uid)) return;
    const left = this.#world.cloud.all().filter(({ owner }) => owner === uid);
    for (const resource of left) this.note('P1', `${by} freed ${name} while its ${resource.name} still exists`);
    const isTargeted = typeof status === 'object' && status !== null && 'machine' in status;
    const now = this.#world.time.now();
    const isConfirmed = this.#answers.some(
      ({ object, expires, result }) =>
        result.outcome === 'gone' && object.uid === uid && now <= Date.parse(expires) + GONE_GRACE_MS,
    );
    if (isTargeted && !isConfirmed) this.note('P1', `${by} freed ${name} without a gone that counts`);
  }

  /** P2: only while the owner is being deleted and still held by us, in time, and never what is to be kept. */
  #onDelete({ resource, by }: CloudDeletion): void {
    const batch = this.#world.batchOf(by);
    // What people and others take down themselves is theirs.
    if (batch === undefined) return;
    const { name, owner, tags } = resource;
    const object = this.#objectOf(owner);
    if (tags.has(KEEP_TAG)) this.note('P2', `${by} deletes ${name}, which is to be kept`);
    const isFree = this.#freed.get(owner);
    const isPending = object?.metadata.deletionTimestamp !== undefined && hasOurEntry(object);
    if (!isPending && isFree !== 'now' && isFree !== 'bypassed') {
      const why = object === undefined ? 'has been freed' : 'is not being deleted, or free';
      this.note('P2', `${by} deletes ${name}, whose owner ${owner} ${isFree === 'waited' ? 'was to keep it' : why}`);
    }
    const last = Math.max(
      ...batch.map(({ body }) => {
        const decoded = decodeRequest(body);
        return decoded.ok ? Date.parse(decoded.message.data.expires) : 0;
      }),
    );
    if (this.#world.time.now() > last + LAST_CALL_MS) this.note('P2', `${by} deletes ${name} on an expired request`);
  }

  /** P2, trap V2: what is to be retained is not asked for any more. */
  #onRequest({ body, sender }: StoredMessage): void {
    const decoded = decodeRequest(body);
    if (!decoded.ok) {
      this.note('P6', `${sender} sent what is no request: ${decoded.detail}`);
      return;
    }
    const since = this.#retainedSince.get(decoded.message.data.object.uid);
    if (since !== undefined && this.#world.time.now() > since + STALE_MS) {
      this.note('P2', `${sender} published ${decoded.message.id} although it is to be retained`);
    }
  }

  #onResult({ body }: StoredMessage): void {
    const decoded = decodeResult(body);
    if (decoded.ok) this.#answers.push(decoded.message.data);
  }

  /** P5: a request is deleted only when its answer is in the queue, and a "not yet" is no answer to end on. */
  #onRequestDone({ body }: StoredMessage, by: string): void {
    const decoded = decodeRequest(body);
    const id = decoded.ok ? decoded.message.id : 'what is no request';
    const isAnswered = this.#answers.some(
      ({ requestId, result }) => requestId === id && (result.outcome !== 'pending' || result.reason === 'Expired'),
    );
    if (!isAnswered) this.note('P5', `${by} deleted ${id} without an answer that ends it`);
  }

  /** P5: a gone is acknowledged only when the entry is off, or the record says what holds it. */
  #onAcknowledged({ body }: StoredMessage, by: string): void {
    const decoded = decodeResult(body);
    if (!decoded.ok) {
      this.note('P6', `${by} deleted a result that it cannot have understood`);
      return;
    }
    const { object: reference, result, expires, requestId, targetDigest } = decoded.message.data;
    const object = this.#objectOf(reference.uid);
    if (result.outcome !== 'gone' || object === undefined || !hasOurEntry(object)) return;
    if (this.#world.time.now() > Date.parse(expires)) return;
    const record = recordOn(object);
    const isRecorded = record?.uid === reference.uid && JSON.stringify(record.targets ?? '').includes(targetDigest);
    if (!isRecorded) this.note('P5', `${by} acknowledged the gone of ${requestId} before the entry was off`);
  }

  #noteRetain(object: KubeObject | undefined): void {
    if (object === undefined) return;
    const { uid, annotations = {} } = object.metadata;
    if (annotations[ON_DELETE] !== 'Retain') this.#retainedSince.delete(uid);
    else if (!this.#retainedSince.has(uid)) this.#retainedSince.set(uid, this.#world.time.now());
  }

  #objectOf(uid: string): KubeObject | undefined {
    return this.#world.server.all(KIND).find(({ metadata }) => metadata.uid === uid);
  }
}

/** Entries of other rules, none of which is there, begin so; a word that releases one, and its name. */
const STRAY = 'finalizer-bridge.dev/';
const WORD = 'release.finalizer-bridge.dev/';

/** P3: only our entry and our record, and what a person has released of rules that are not there, on exactly the object that was decided on, and never the list as a whole. */
function faultsOfPatch(
  before: KubeObject,
  after: KubeObject | undefined,
  operations: readonly PatchOperation[],
): readonly string[] {
  const { name, uid, finalizers = [], annotations = {} } = before.metadata;
  const faults = [...faultsOfGuards(before, operations)];
  const isReleased = (entry: string) =>
    entry.startsWith(STRAY) && [uid, `${uid}/now`].includes(annotations[WORD + entry.slice(STRAY.length)] ?? '');
  const foreign = (list: readonly string[]) => list.filter((entry) => entry !== ENTRY && !isReleased(entry)).join(' ');
  if (after === undefined) {
    if (foreign(finalizers) !== '') faults.push(`took entries of others off ${name}`);
    return faults;
  }
  if (foreign(finalizers) !== foreign(after.metadata.finalizers ?? []))
    faults.push(`changed foreign entries of ${name}`);
  const others = ({ [RECORD]: _ours, ...rest }: Readonly<Record<string, string>>) => JSON.stringify(rest);
  if (others(annotations) !== others(after.metadata.annotations ?? {})) faults.push(`changed annotations of ${name}`);
  const content = ({ metadata: _metadata, ...rest }: KubeObject) => JSON.stringify(rest);
  if (content(before) !== content(after)) faults.push(`changed the content of ${name}`);
  return faults;
}
