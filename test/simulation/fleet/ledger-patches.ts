/*
 * P3 as code: what one patch of a bridge may change, and what it has to test.
 * Called by ledger-writes.ts for every write of a bridge to an object; what a patch has to test also by ../promises.ts.
 */
import type { KubeObject, PatchOperation } from '../../../bridge/ports.ts';
import { ENTRY_PREFIX } from '../../../bridge/rule-facts.ts';
import type { Write } from '../api-server.ts';
import { isSame } from '../json-patch.ts';
import { RECORD } from './ledger.ts';

/** Only our entries and our record, on exactly the object that was decided on, and never the list as a whole. */
export function faultsOfPatch({ before, after, operations = [] }: Write): readonly string[] {
  if (before === undefined) return [];
  const { name, finalizers = [] } = before.metadata;
  const faults = [...faultsOfGuards(before, operations)];
  const left = after === undefined ? '' : foreign(after.metadata.finalizers);
  if (foreign(finalizers) !== left) faults.push(`changed foreign entries of ${name}`);
  if (after === undefined) return faults;
  if (!hasSameOthers(before, after)) faults.push(`changed annotations of ${name}`);
  if (!isSame(content(before), content(after))) faults.push(`changed the content of ${name}`);
  return faults;
}

/** What a patch lacks to hit the object that was decided on and nobody else's entries: tests of uid and version, places in the list. */
export function faultsOfGuards(
  { metadata }: Pick<KubeObject, 'metadata'>,
  operations: readonly PatchOperation[],
): readonly string[] {
  const { name, uid, resourceVersion, finalizers = [] } = metadata;
  const faults: string[] = [];
  const tests = (path: string, value: string) =>
    operations.some((operation) => operation.op === 'test' && operation.path === path && operation.value === value);
  if (!tests('/metadata/uid', uid)) faults.push(`patched ${name} without a test of its uid`);
  if (!tests('/metadata/resourceVersion', resourceVersion))
    faults.push(`patched ${name} without a test of its version`);
  const whole = operations.some(({ op, path }) => op !== 'test' && path === '/metadata/finalizers');
  if (whole && finalizers.length > 0) faults.push(`wrote the whole list of ${name}`);
  return faults;
}

function foreign(list: readonly string[] = []): string {
  return list.filter((entry) => !entry.startsWith(ENTRY_PREFIX)).join(' ');
}

function hasSameOthers(before: KubeObject, after: KubeObject): boolean {
  return before.metadata.annotations === after.metadata.annotations || isSame(others(before), others(after));
}

function others({ metadata: { annotations = {} } }: KubeObject): unknown {
  return Object.entries(annotations).filter(([key]) => !key.startsWith(RECORD));
}

function content({ metadata, ...rest }: KubeObject): unknown {
  const { name, namespace, labels } = metadata;
  return { ...rest, name, namespace, labels };
}
