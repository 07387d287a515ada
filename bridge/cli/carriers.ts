/*
 * Which objects of some kinds carry entries of ours, as far as the caller may list them: everywhere, else in the
 * namespace of the context, else not at all, which is said and not guessed. Called by status-report.ts.
 */
import { rulesHolding } from '../finalizer.ts';
import { kindName } from '../kind-key.ts';
import { listAll } from '../listing.ts';
import { ApiError, type KindRef, type ObjectMeta } from '../ports.ts';
import type { ServedKind } from './catalogue.ts';
import type { Context } from './command.ts';
import { explainFailure } from './failure-words.ts';

const KINDS_AT_ONCE = 6;

/** An object that carries entries, and of which rules. */
export interface Carried {
  readonly kind: KindRef;
  readonly meta: ObjectMeta;
  readonly rules: readonly string[];
}

/** Where was looked. */
export type Scope =
  | { readonly kind: 'everywhere' }
  | { readonly kind: 'namespace'; readonly namespace: string }
  | { readonly kind: 'unseen'; readonly why: string };

/** The carriers of one kind. */
export interface Carriers {
  readonly kind: KindRef;
  readonly scope: Scope;
  readonly carried: readonly Carried[];
}

/** Looks through kinds, each once. Throws ApiError where the API server does not answer, or does not know the caller. */
export async function carriersOf(context: Context, kinds: readonly KindRef[]): Promise<readonly Carriers[]> {
  const distinct = [...new Map(kinds.map((kind) => [kindName(kind), kind])).values()];
  const served = new Map((await context.catalogue.kinds()).map((kind) => [kindName(kind), kind]));
  const found: Carriers[] = [];
  for (let at = 0; at < distinct.length; at += KINDS_AT_ONCE) {
    const some = distinct.slice(at, at + KINDS_AT_ONCE);
    found.push(...(await Promise.all(some.map((kind) => lookContained(context, kind, served.get(kindName(kind)))))));
  }
  return found;
}

/** One kind that cannot be listed, as when its conversion fails, does not keep anybody from seeing the others (P10). */
async function lookContained(context: Context, named: KindRef, kind: ServedKind | undefined): Promise<Carriers> {
  try {
    return await look(context, named, kind);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 0 || error.status === 401) throw error;
    return { kind: named, carried: [], scope: { kind: 'unseen', why: explainFailure(error).message } };
  }
}

/** A rule may name a version that is not served any more; its objects are there in another one. */
async function look(context: Context, named: KindRef, kind: ServedKind | undefined): Promise<Carriers> {
  const unseen = (why: string): Carriers => ({ kind: named, carried: [], scope: { kind: 'unseen', why } });
  if (kind === undefined) return unseen(`the API server does not serve ${kindName(named)}`);
  for (const place of placesToLook(context, kind)) {
    const carried: Carried[] = [];
    const listed = await listAll(within(context, place), kind, (meta) => {
      const rules = rulesHolding(meta);
      if (rules.length > 0) carried.push({ kind, meta, rules });
    });
    if (listed === 'listed') return { kind, carried, scope: scopeOf(place) };
    if (listed === 'unserved') return unseen(`the API server does not serve ${kindName(kind)}`);
  }
  return unseen(`you may not list ${kindName(kind)}`);
}

/** Everywhere first, unless a namespace was asked for; an object without a namespace is only ever everywhere. */
function placesToLook({ namespace, isNamespaceGiven }: Context, { namespaced }: ServedKind) {
  if (!namespaced) return [undefined];
  return isNamespaceGiven ? [namespace] : [undefined, namespace];
}

function scopeOf(namespace: string | undefined): Scope {
  return namespace === undefined ? { kind: 'everywhere' } : { kind: 'namespace', namespace };
}

function within({ cluster }: Context, namespace: string | undefined): Pick<Context['cluster'], 'list'> {
  if (namespace === undefined) return cluster;
  return { list: (kind, page) => cluster.list({ ...kind, namespace }, page) };
}
