/*
 * Holds what is there against what must be: the ledger of the soak against the API server and the cloud. Run again and again
 * while things settle, and once at the end; a finding at the end is a broken promise. No I/O here.
 */
import { expectedOf, type Made } from './ledger.ts';

/** An object as the API server has it. */
export interface SeenObject {
  readonly uid: string;
  readonly deleting: boolean;
  readonly hasEntry: boolean;
  /** Of the bridge's record; undefined where there is none. */
  readonly reason?: string;
}

/** What is there now. */
export interface Seen {
  /** By uid. */
  readonly objects: ReadonlyMap<string, SeenObject>;
  /** By bucket, how many versions and delete markers it has. */
  readonly buckets: ReadonlyMap<string, number>;
}

/** What is not as it must be. */
export interface Finding {
  /** `leaked`: the object went, what it stands for is there. `overDeleted`: what had to stay is gone. */
  readonly kind: 'leaked' | 'overDeleted' | 'lost' | 'stuck' | 'unclaimed';
  readonly name: string;
  readonly detail: string;
}

/** Everything that is not as it must be; empty when all has settled. */
export function audit(ledger: Iterable<Made>, seen: Seen): readonly Finding[] {
  return [...ledger].flatMap((made) => [...findingsOfObject(made, seen), ...findingsOfBucket(made, seen)]);
}

function findingsOfObject(made: Made, { objects }: Seen): readonly Finding[] {
  const { name, sort, uid } = made;
  const expected = expectedOf(made);
  const object = objects.get(uid);
  const found = (kind: Finding['kind'], detail: string) => [{ kind, name, detail: `${sort}: ${detail}` }];
  if (object === undefined) return expected.object === 'there' ? found('lost', 'the object is gone') : [];
  if (made.deletedAt === undefined) return object.hasEntry ? [] : found('unclaimed', 'it is live and has no entry');
  if (expected.object === 'gone') return found('stuck', `still there, and says ${object.reason ?? 'nothing'}`);
  return object.reason === expected.reason
    ? []
    : found('stuck', `says ${object.reason ?? 'nothing'} instead of ${expected.reason}`);
}

function findingsOfBucket(made: Made, { objects, buckets }: Seen): readonly Finding[] {
  const { name, sort, uid, bucket, versions } = made;
  const expected = expectedOf(made);
  const left = buckets.get(bucket);
  const found = (kind: Finding['kind'], detail: string) => [{ kind, name, detail: `${sort}: ${detail}` }];
  if (expected.bucket === 'there') {
    if (left === undefined) return found('overDeleted', `bucket ${bucket} is gone`);
    return left < versions ? found('overDeleted', `bucket ${bucket} has ${left} of ${versions} versions`) : [];
  }
  // While the object is there its bucket may be, too; that is told of the object.
  return left !== undefined && !objects.has(uid) ? found('leaked', `bucket ${bucket} is there`) : [];
}
