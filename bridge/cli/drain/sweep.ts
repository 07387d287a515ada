/*
 * Looks through kinds for objects that carry an entry of ours: metadata only, page by page, a few kinds at once. A sweep
 * goes over every kind that can be listed and patched, since a rule may be gone and its objects anywhere (K26, K33); a count
 * goes over the kinds of one rule. Where a kind may not be listed as a whole, it is looked through in the namespaces that
 * rules name, and in those that are told.
 */

import { atOnce } from '../../at-once.ts';
import { rulesHolding } from '../../finalizer.ts';
import { kindKey, kindName } from '../../kind-key.ts';
import { listAll } from '../../listing.ts';
import { explain } from '../../log.ts';
import { listPart } from '../../namespace-existence.ts';
import type { KindRef, ObjectMeta, ObjectPath } from '../../ports.ts';
import { isRefusedKind } from '../../rule-facts.ts';
import { ANYWHERE, knownNamespaces } from '../../rule-namespaces.ts';
import type { Discovery } from '../catalogue.ts';
import type { DrainWorld } from './api.ts';
import type { RuleSight } from './rules.ts';

const KINDS_AT_ONCE = 4;
/** Characters. */
const WHY_MAX = 200;
/** A list that expires between two pages, or whose answer is lost, says nothing of what it would have shown. */
const LOOKS_MAX = 5;
const AGAIN_MS = 2_000;

/** An object that carries an entry. */
export interface Carrier {
  readonly kind: KindRef;
  readonly meta: ObjectMeta;
}

/** What was not looked at, and why. */
export interface Unseen {
  readonly what: string;
  readonly why: string;
}

/** All that carries entries. */
export interface Swept {
  /** By the entry's rule. */
  readonly carriers: ReadonlyMap<string, readonly Carrier[]>;
  readonly unseen: readonly Unseen[];
}

/** Looks through every kind that rules may hold. Throws ApiError when not even the kinds can be told. */
export async function sweep(
  world: DrainWorld,
  rules: ReadonlyMap<string, Pick<RuleSight, 'object'>>,
  namespaces: readonly string[] = [],
): Promise<Swept & { readonly discovery: Discovery }> {
  const discovery = await world.discover();
  const kinds = discovery.kinds.filter((kind) => kind.holdable && !isRefusedKind(kind));
  const named = new Set([...rules.values()].flatMap(({ object }) => knownNamespaces(object)));
  for (const namespace of namespaces) named.add(namespace);
  named.delete(ANYWHERE);
  const swept = await lookThrough(world, { kinds, else: { namespaces: [...named], isAll: false }, looks: LOOKS_MAX });
  const groups = discovery.unreachable.map((what) => ({ what, why: 'its API server does not answer' }));
  return { ...swept, unseen: [...groups, ...swept.unseen], discovery };
}

/** What is looked through. */
export interface Looking {
  readonly kinds: readonly KindRef[];
  /** Where a kind is looked through that may not be listed as a whole; `isAll`: there is nothing anywhere else. */
  readonly else?: { readonly namespaces: readonly string[]; readonly isAll: boolean } | undefined;
  /** How often a kind is looked through whose list fails; once unless told, for who comes again. */
  readonly looks?: number;
}

/** Looks through some kinds. What cannot be listed is said; the others are looked at (P10). */
export async function lookThrough(
  { cluster, clock }: Pick<DrainWorld, 'cluster' | 'clock'>,
  { kinds, else: parts, looks = 1 }: Looking,
): Promise<Swept> {
  const found = new Map<string, Map<string, Carrier>>();
  const unseen: Unseen[] = [];
  const look = async (kind: KindRef) => {
    const each = (meta: ObjectMeta) => {
      for (const rule of rulesHolding(meta)) {
        // A kind can be served by two groups: by its uid an object is one.
        found.set(rule, (found.get(rule) ?? new Map<string, Carrier>()).set(meta.uid, { kind, meta }));
      }
    };
    for (let left = looks; ; left -= 1) {
      try {
        unseen.push(...(await lookThroughOne({ cluster }, { kind, parts, each })));
        return;
      } catch (error) {
        if (left <= 1) return void unseen.push({ what: kindName(kind), why: shortly(error) });
      }
      await new Promise<void>((resolve) => void clock.after(AGAIN_MS, resolve));
    }
  };
  await atOnce(KINDS_AT_ONCE, [...new Map(kinds.map((kind) => [kindKey(kind), kind])).values()], look);
  return { carriers: new Map([...found].map(([rule, byUid]) => [rule, [...byUid.values()]])), unseen };
}

interface LookingAtOne {
  readonly kind: KindRef;
  readonly parts: Looking['else'];
  each(meta: ObjectMeta): void;
}

/** Resolves with what may not be listed. Throws for what another try may mend. */
async function lookThroughOne(
  { cluster }: Pick<DrainWorld, 'cluster'>,
  { kind, parts, each }: LookingAtOne,
): Promise<readonly Unseen[]> {
  if ((await listAll(cluster, kind, each)) !== 'forbidden') return [];
  const { namespaces = [], isAll = false } = parts ?? {};
  const unseen = isAll ? [] : [{ what: kindName(kind), why: whyUnseen(namespaces) }];
  for (const namespace of namespaces) {
    if ((await listPart(cluster, { ...kind, namespace }, each)) !== 'forbidden') continue;
    unseen.push({ what: `${kindName(kind)} in ${namespace}`, why: 'may not be listed' });
  }
  return unseen;
}

function whyUnseen(namespaces: readonly string[]): string {
  return namespaces.length === 0 ? 'may not be listed' : `may not be listed outside of ${namespaces.join(', ')}`;
}

/** One line: an answer that does not read can have a page of faults. */
function shortly(error: unknown): string {
  const words = explain(error).replaceAll(/\s+/g, ' ');
  return words.length <= WHY_MAX ? words : `${words.slice(0, WHY_MAX - 1)}…`;
}

/** Where an object stands. */
export function pathOf({ kind: { group, version, resource }, meta: { namespace, name } }: Carrier): ObjectPath {
  return { group, version, resource, namespace, name };
}

/** An object as people name it: `buckets.storage.example.com team-a/logs`. */
export function nameOfCarrier({ kind, meta }: Carrier): string {
  return `${kindName(kind)} ${[meta.namespace, meta.name].filter(Boolean).join('/')}`;
}
