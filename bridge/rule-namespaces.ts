/*
 * The namespaces that a rule's entries may be in, as its status keeps them where a bridge serves some namespaces only (P5, P9):
 * nothing else would tell that objects outside of the present ones still carry an entry, since nobody looks there any more.
 * Pure. Written before any entry is put on, by noted-namespaces.ts; read by rule-status.ts and withdrawal.ts.
 */
import { hasEntry } from './finalizer.ts';
import type { KubeObject } from './ports.ts';
import { lookedInto, type Served } from './served.ts';
import { statusOf, WITHDRAWAL_FINALIZER } from './teardown-rules.ts';

/** In the list of a rule that was in force while the bridge served the whole cluster. */
export const ANYWHERE = '*';

/** For a rule that puts on no entry anywhere: its status says that, before anything else says that a bridge has begun with it. */
export const NOWHERE: Served = { namespaces: [], leaving: [] };

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

/** What is said of namespaces that were left; the reason is a condition's. */
export function leftWords(left: readonly string[]): string {
  const places = left.includes(ANYWHERE)
    ? 'any namespace, as the whole cluster was served before'
    : `${left.length === 1 ? 'namespace' : 'namespaces'} ${left.join(', ')}`;
  return `objects in ${places} may still carry the entry, and nobody looks there any more: serve them again, as leavingNamespaces, or drain`;
}
