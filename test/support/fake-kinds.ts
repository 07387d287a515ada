/*
 * The kinds that the tests of rules are about, and a Kinds port over plain data: what is served, which rights are lacking,
 * and what asking throws.
 */
import { POLICIES } from '../../bridge/at-admission.ts';
import { kindKey } from '../../bridge/kind-key.ts';
import type { KindSchema } from '../../bridge/kind-schema.ts';
import type { KindFacts, KindRef, Kinds, ListedKind, SchemaOutcome, Watched } from '../../bridge/ports.ts';
import { watchedKey } from '../../bridge/served.ts';
import { BUCKETS } from './bridge-builders.ts';

/** More kinds than one: of the same group, of core, and without a namespace. */
export const VOLUMES: KindRef = { ...BUCKETS, resource: 'volumes' };
export const CONFIG_MAPS: KindRef = { group: '', version: 'v1', resource: 'configmaps' };

const OPEN: KindSchema = { root: { is: 'anything' }, place: () => ({ is: 'anything' }) };

/** The fake port. */
export class FakeKinds implements Kinds {
  readonly served = new Map<string, KindFacts>(
    [BUCKETS, VOLUMES, CONFIG_MAPS, POLICIES, { group: '', version: 'v1', resource: 'namespaces' }].map((kind) => [
      kindKey(kind),
      { kind: kind.resource, namespaced: kind.resource !== 'namespaces' },
    ]),
  );
  /** Verbs that are lacking, by kind, or by a part of one as `watchedKey` names it. */
  readonly lacks = new Map<string, readonly string[]>();
  /** What asking about a kind throws. */
  readonly fails = new Map<string, Error>();
  /** What the objects of a kind can have; those of a kind that is not here can have anything. */
  readonly schemas = new Map<string, SchemaOutcome>();
  /** What a fresh look at them shows, where that is something else. */
  readonly fresh = new Map<string, SchemaOutcome>();
  /** How often was asked what a kind is. */
  asked = 0;

  async describe(kind: KindRef): Promise<KindFacts | undefined> {
    this.asked += 1;
    const failure = this.fails.get(kindKey(kind));
    if (failure !== undefined) throw failure;
    return this.served.get(kindKey(kind));
  }

  async find({ group, resource, version }: ListedKind): Promise<KindRef | undefined> {
    for (const key of this.served.keys()) {
      const [ofGroup = '', one = '', ofResource] = key.split('/');
      if (ofGroup !== group || ofResource !== resource || (version ?? one) !== one) continue;
      const found = { group, version: one, resource };
      if ((await this.describe(found)) !== undefined) return found;
    }
    return undefined;
  }

  async schemaOf(kind: KindRef, _word: string, isFresh = false): Promise<SchemaOutcome> {
    const fresh = this.fresh.get(kindKey(kind));
    if (isFresh && fresh !== undefined) this.schemas.set(kindKey(kind), fresh);
    return this.schemas.get(kindKey(kind)) ?? { known: true, schema: OPEN };
  }

  async isServed({ group, resource }: Pick<KindRef, 'group' | 'resource'>): Promise<boolean> {
    return [...this.served.keys()].some((key) => key.startsWith(`${group}/`) && key.endsWith(`/${resource}`));
  }

  async lacking(watched: Watched, verbs: readonly string[]): Promise<readonly string[]> {
    const lacks = this.lacks.get(watchedKey(watched)) ?? this.lacks.get(kindKey(watched)) ?? [];
    return verbs.filter((verb) => lacks.includes(verb));
  }
}
