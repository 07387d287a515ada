/*
 * The namespaces that a rule's entries may be in, as its status keeps them where a bridge serves some namespaces only (P5, P9):
 * nothing else would tell that objects outside of the present ones still carry an entry, since nobody looks there any more.
 * Written before any entry is put on, by rule-places.ts; read by rule-status.ts and withdrawal.ts.
 */
import { guards, hasEntry } from './finalizer.ts';
import { stateOfNamespace } from './namespace-existence.ts';
import type { Cluster, KubeObject } from './ports.ts';
import { lookedInto, type Served } from './served.ts';
import { rulePath, statusOf, WITHDRAWAL_FINALIZER } from './teardown-rules.ts';

/** In the list of a rule that was in force while the bridge served the whole cluster. */
export const ANYWHERE = '*';

/** How many namespaces are asked for at once: a new rule has up to 256 of them. */
const AT_ONCE = 10;

/** For a rule that puts on no entry anywhere: its status says that, before anything else says that a bridge has begun with it. */
export const NOWHERE: Served = { namespaces: [], leaving: [] };

/** The namespaces that a status may be written with. */
export interface Noting {
  readonly served: Served;
  /** Those that were found empty. */
  readonly emptied: readonly string[];
  /** Those in which nothing new can be made: named while they are not found empty, and not anew. */
  readonly going?: readonly string[];
}

/** The namespaces that the status is to name before an entry is put on. */
async function namespacesOf(
  cluster: Pick<Cluster, 'get'>,
  object: KubeObject,
  { served, emptied, going = [] }: Noting,
): Promise<readonly string[]> {
  const { namespaces = [ANYWHERE] } = served;
  const known = knownNamespaces(object);
  const fresh = namespaces.filter((namespace) => ![...known, ...going, ...emptied].includes(namespace));
  const named = [...known, ...(await standing(cluster, fresh))];
  return [...new Set(named)].filter((namespace) => !emptied.includes(namespace)).sort();
}

/**
 * Those in which something new can be made, asked for themselves before each is named: rights are believed for a while, and a rule
 * is judged every few seconds only, so one that was just found empty and went would be named anew, for good once it is not served
 * any more (P4).
 */
async function standing(cluster: Pick<Cluster, 'get'>, namespaces: readonly string[]): Promise<readonly string[]> {
  const isThere = async (name: string) => name === ANYWHERE || (await stateOfNamespace(cluster, name)) === 'there';
  const there: string[] = [];
  for (let from = 0; from < namespaces.length; from += AT_ONCE) {
    const some = namespaces.slice(from, from + AT_ONCE);
    const answers = await Promise.all(some.map(isThere));
    there.push(...some.filter((_, index) => answers[index]));
  }
  return there;
}

/** Those of them that nobody looks into any more. */
export function leftBehind(object: KubeObject, served: Served): readonly string[] {
  const seen = lookedInto(served);
  return seen === undefined ? [] : knownNamespaces(object).filter((namespace) => !seen.includes(namespace));
}

/** Those that are being left, and were not found empty yet. */
export function stillLeaving(object: KubeObject, { leaving }: Served): readonly string[] {
  return knownNamespaces(object).filter((namespace) => leaving.includes(namespace));
}

/** Those that the status names. */
export function knownNamespaces(object: KubeObject): readonly string[] {
  const { namespaces } = statusOf(object);
  if (namespaces !== undefined) return namespaces;
  // Whoever serves some namespaces writes the list before it takes a rule on: this rule was taken on by a bridge that served all.
  return isTakenOn(object) ? [ANYWHERE] : [];
}

/** The same by their names: where the whole cluster is served, those in which rights may be kept from before. */
export function formerNamespaces(object: KubeObject): readonly string[] {
  return knownNamespaces(object).filter((namespace) => namespace !== ANYWHERE);
}

/**
 * What a status goes on naming: where the whole cluster is served nothing, which says the same as that entries may be anywhere, as
 * soon as no rights from before are kept.
 */
export function namespacesUnder({ namespaces }: Served, object: KubeObject): readonly string[] | undefined {
  if (namespaces !== undefined) return knownNamespaces(object);
  const former = formerNamespaces(object);
  return former.length === 0 ? undefined : [ANYWHERE, ...former];
}

/** A bridge has begun with a rule: nothing gets its entry before, and a status may not have been written yet. */
function isTakenOn(object: KubeObject): boolean {
  const { observedGeneration } = statusOf(object);
  return observedGeneration !== undefined || hasEntry(object.metadata, WITHDRAWAL_FINALIZER);
}

/**
 * Whether a rule says already what it has to before anything gets its entry: that it holds itself, so that it is withdrawn when it
 * is deleted, and all places that its entries may be in (P5, P9).
 */
export function saysWhere(object: KubeObject, { namespaces = [ANYWHERE] }: Served): boolean {
  return hasEntry(object.metadata, WITHDRAWAL_FINALIZER) && namesAll(object, { namespaces });
}

/** Whether a rule's status names all namespaces that are served. */
export function namesAll(object: KubeObject, { namespaces = [] }: Pick<Served, 'namespaces'>): boolean {
  const known = knownNamespaces(object);
  return namespaces.every((namespace) => known.includes(namespace));
}

/** The same where the entry can be nowhere else; undefined where that is not known. */
export function namespacesOnly(object: KubeObject): readonly string[] | undefined {
  const { namespaces } = statusOf(object);
  return namespaces === undefined || namespaces.includes(ANYWHERE) ? undefined : namespaces;
}

/**
 * Writes the namespaces that are served now and there, and none that were found empty; the rule as it is then. Where the whole
 * cluster is served only over a list that says otherwise, since having none says the same. Throws when it has changed.
 */
export async function noteNamespaces(
  cluster: Pick<Cluster, 'get' | 'patch'>,
  object: KubeObject,
  noting: Noting,
): Promise<KubeObject> {
  const status = statusOf(object);
  if (noting.served.namespaces === undefined && status.namespaces === undefined) return object;
  const wanted = await namespacesOf(cluster, object, noting);
  if (JSON.stringify(status.namespaces) === JSON.stringify(wanted)) return object;
  const { name } = object.metadata;
  const value = { ...status, namespaces: wanted };
  const operations = [...guards(object.metadata), { op: 'add', path: '/status', value } as const];
  const outcome = await cluster.patch(rulePath(name), operations, 'status');
  if (outcome.kind === 'conflict') throw new Error(`noting the namespaces of rule ${name}: it has changed`);
  if (outcome.kind === 'missing') return object;
  return { ...object, metadata: { ...object.metadata, ...outcome.meta }, status: value };
}

/** What is said of namespaces that were left; the reason is a condition's. */
export function leftWords(left: readonly string[]): string {
  const places = left.includes(ANYWHERE)
    ? 'any namespace, as the whole cluster was served before'
    : `${left.length === 1 ? 'namespace' : 'namespaces'} ${left.join(', ')}`;
  return `objects in ${places} may still carry the entry, and nobody looks there any more: serve them again, as leavingNamespaces, or drain`;
}
