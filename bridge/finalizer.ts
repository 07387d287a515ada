/*
 * Pure edits of metadata.finalizers as guarded JSON patches: never the whole list, never somebody else's entry. Called by
 * removal.ts, claims.ts and withdrawal.ts. Each patch tests the uid and the resourceVersion that were decided on, and the
 * value at each index that it removes, highest index first, so that a shifted list fails the test instead of hitting a
 * neighbour (K1).
 */
import type { ObjectMeta, PatchOperation } from './ports.ts';
import { ENTRY_PREFIX } from './rule-facts.ts';

/** The entry of a rule. */
export function entryOf(rule: string): string {
  return ENTRY_PREFIX + rule;
}

/** The names of the rules whose entries an object carries, each once. */
export function rulesHolding({ finalizers = [] }: Pick<ObjectMeta, 'finalizers'>): readonly string[] {
  const ours = finalizers.filter((entry) => entry.startsWith(ENTRY_PREFIX));
  return [...new Set(ours.map((entry) => entry.slice(ENTRY_PREFIX.length)))];
}

/** Whether an object carries an entry. */
export function hasEntry(meta: ObjectMeta, entry: string): boolean {
  return meta.finalizers?.includes(entry) ?? false;
}

/** The `test`s that bind a patch to the object as it was read. */
export function guards(meta: ObjectMeta): readonly PatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: meta.uid },
    { op: 'test', path: '/metadata/resourceVersion', value: meta.resourceVersion },
  ];
}

/** Takes all copies of one entry off (K30); undefined when there is none. */
export function removeEntry(meta: ObjectMeta, entry: string): readonly PatchOperation[] | undefined {
  const indexes = (meta.finalizers ?? []).flatMap((value, index) => (value === entry ? [index] : []));
  if (indexes.length === 0) return undefined;
  const removals = indexes.reverse().flatMap((index): PatchOperation[] => {
    const path = `/metadata/finalizers/${index}`;
    return [
      { op: 'test', path, value: entry },
      { op: 'remove', path },
    ];
  });
  return [...guards(meta), ...removals];
}

/** Puts an entry on a live object; undefined when it is there already or the object is being deleted. */
export function addEntry(meta: ObjectMeta, entry: string): readonly PatchOperation[] | undefined {
  if (meta.deletionTimestamp !== undefined || hasEntry(meta, entry)) return undefined;
  const isEmpty = (meta.finalizers ?? []).length === 0;
  return [
    ...guards(meta),
    isEmpty
      ? { op: 'add', path: '/metadata/finalizers', value: [entry] }
      : { op: 'add', path: '/metadata/finalizers/-', value: entry },
  ];
}
