/*
 * Whether a rule as it stands in the API selects an object: the simulation's own reading of it, for the admission policy and
 * for the ledger. Only what drawn rules have: labels to match, of the object and of its namespace.
 */
import type { KindRef, KubeObject, ObjectPath } from '../../../bridge/ports.ts';
import { FLEET_NAMESPACES } from './plan.ts';

/** An object as far as rules look at it before it is deleted. */
export interface Selected {
  readonly kind: KindRef;
  readonly labels: Readonly<Record<string, string>>;
  readonly namespace: string | undefined;
}

/** Whether the rule selects it. */
export function selects(rule: KubeObject, { kind, labels, namespace }: Selected): boolean {
  const match = at(rule.spec, 'match');
  if (at(match, 'group') !== kind.group || at(match, 'resource') !== kind.resource) return false;
  if (!hasAll(at(at(match, 'labelSelector'), 'matchLabels'), labels)) return false;
  const wanted = at(at(match, 'namespaceSelector'), 'matchLabels');
  if (wanted === undefined || namespace === undefined) return true;
  const tier = Object.entries(FLEET_NAMESPACES).find(([name]) => name === namespace)?.[1] ?? '';
  return hasAll(wanted, { tier });
}

/** Whether the status of a rule names the place of an object, or none: before that nobody puts an entry on there. */
export function namesPlace(rule: KubeObject, { namespace = '' }: Pick<ObjectPath, 'namespace'>): boolean {
  const named = at(rule.status, 'namespaces');
  return !Array.isArray(named) || named.includes(namespace) || named.includes('*');
}

/** A member of plain data; undefined where there is none. */
export function at(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function hasAll(wanted: unknown, labels: Readonly<Record<string, string>>): boolean {
  if (typeof wanted !== 'object' || wanted === null) return true;
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
