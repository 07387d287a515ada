/*
 * Which objects of some kinds carry entries of ours, as far as the caller may list them: everywhere, else in the
 * namespace of the context, else not at all, which is said and not guessed. Called by status-report.ts.
 */
import { rulesHolding } from '../finalizer.ts';
import { listAll } from '../listing.ts';
import type { KindRef, ObjectMeta } from '../ports.ts';
import type { Context } from './command.ts';
import { nameOfKind } from './subject.ts';

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

/** Looks through kinds, each once. Throws ApiError for what is neither a missing right nor a missing kind. */
export async function carriersOf(context: Context, kinds: readonly KindRef[]): Promise<readonly Carriers[]> {
  const distinct = [...new Map(kinds.map((kind) => [nameOfKind(kind), kind])).values()];
  const found: Carriers[] = [];
  for (let at = 0; at < distinct.length; at += KINDS_AT_ONCE) {
    found.push(...(await Promise.all(distinct.slice(at, at + KINDS_AT_ONCE).map((kind) => look(context, kind)))));
  }
  return found;
}

async function look(context: Context, kind: KindRef): Promise<Carriers> {
  const { namespace, isNamespaceGiven } = context;
  const tried = isNamespaceGiven ? [namespace] : [undefined, namespace];
  for (const place of tried) {
    const carried: Carried[] = [];
    const listed = await listAll(within(context, place), kind, (meta) => {
      const rules = rulesHolding(meta);
      if (rules.length > 0) carried.push({ kind, meta, rules });
    });
    // A kind that is not served has no objects.
    if (listed !== 'forbidden') return { kind, carried, scope: scopeOf(place) };
  }
  return { kind, carried: [], scope: { kind: 'unseen', why: `you may not list ${nameOfKind(kind)}` } };
}

function scopeOf(namespace: string | undefined): Scope {
  return namespace === undefined ? { kind: 'everywhere' } : { kind: 'namespace', namespace };
}

function within({ cluster }: Context, namespace: string | undefined): Pick<Context['cluster'], 'list'> {
  if (namespace === undefined) return cluster;
  return { list: (kind, page) => cluster.list(kind, { ...page, namespace }) };
}
