/*
 * What is asked where some namespaces are served: P3 (nothing outside of them is touched), P5 (a rule's status names a namespace
 * before anything there has its entry), P9 (it names it until nothing there has, the rights there are kept as long, and in the end
 * neither binding nor namespace hangs). Listens to the model of the API server; part of ledger.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ObjectMeta } from '../../../bridge/ports.ts';
import { RIGHTS_BINDING, RIGHTS_FINALIZER } from '../../../bridge/rights-binding.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import type { Write } from '../api-server.ts';
import type { Chart } from './chart.ts';
import { type Ledger, rulesOn } from './ledger.ts';
import { faultsOfGuards } from './ledger-patches.ts';
import { FLEET_KINDS } from './plan.ts';
import { at, namesPlace } from './selection.ts';

const isBridge = (by: string) => by.startsWith('bridge-');

/** Begins to look at writes. */
export function watchPlaces(ledger: Ledger, chart: Chart): void {
  const { server } = ledger.world;
  for (const kind of Object.values(FLEET_KINDS)) server.onWrite((write) => onObject(ledger, chart, write), kind);
  server.onWrite((write) => onRule(ledger, write), TEARDOWN_RULES);
  server.onWrite((write) => onBinding(ledger, write), RIGHTS_BINDING);
}

function onObject(ledger: Ledger, { everServed }: Chart, { before, after, path, by }: Write): void {
  const { namespace = '', name } = path;
  const had = rulesOn(before);
  const put = rulesOn(after).filter((rule) => !had.includes(rule));
  const uid = (after ?? before)?.metadata.uid ?? '';
  if (!everServed.has(namespace) && (isBridge(by) || put.length > 0)) {
    ledger.note('P3', uid, `${by} touched ${name} in namespace ${namespace}, which was never served`);
  }
  // At birth an entry may come by what the admission policy knew a moment ago.
  for (const rule of isBridge(by) ? put : []) {
    const written = ledger.rules.get(rule)?.object;
    if (written === undefined || (Array.isArray(namedBy(written)) && namesPlace(written, path))) continue;
    ledger.note('P5', uid, `${by} put ${rule} on ${name} before its status names ${namespace}`);
  }
}

function onRule(ledger: Ledger, { before, after, path: { name }, by }: Write): void {
  const [had, has] = [namesIn(before), namesIn(after)];
  if (after === undefined) return;
  for (const namespace of had.filter((one) => !has.includes(one))) {
    const carriers = carriersIn(ledger, namespace, name);
    if (carriers > 0) ledger.note('P9', '', `${by} forgets ${namespace}, where ${carriers} carry the entry of ${name}`);
  }
}

/** P3, P9: of a binding a bridge changes its own finalizer only, and takes it off when nothing there needs the rights. */
function onBinding(ledger: Ledger, { before, after, path: { namespace = '' }, by, operations = [] }: Write): void {
  if (before === undefined || !isBridge(by)) return;
  const faults = [...faultsOfGuards(before, operations)];
  if (!isDeepStrictEqual(others(before.metadata), others(after?.metadata))) faults.push('changed what others wrote');
  for (const fault of faults) ledger.note('P3', '', `${by}: binding in ${namespace}: ${fault}`);
  const isKept = after?.metadata.finalizers?.includes(RIGHTS_FINALIZER) === true;
  const carriers = isKept ? 0 : carriersIn(ledger, namespace);
  if (carriers > 0)
    ledger.note('P9', '', `${by} gives up the rights in ${namespace}, where ${carriers} carry an entry`);
}

/** P7, P9: each rule's status names where its entries may be, and nothing beyond. */
export function checkNamed(ledger: Ledger, chart: Chart): void {
  for (const [rule, { object }] of ledger.rules) {
    for (const namespace of namesIn(object)) {
      // The rights in one that is being deleted go with its last object, whichever rule has its entry there.
      const carriers = carriersIn(ledger, namespace, chart.ending.includes(namespace) ? undefined : rule);
      if (!chart.serves(namespace) && carriers === 0)
        ledger.note('P9', '', `rule ${rule} still names ${namespace}, where nobody carries its entry`);
    }
  }
}

/** P9: when all rules are gone nothing hangs because of them. */
export function checkLeft(ledger: Ledger, { ending }: Chart): void {
  for (const { metadata } of ledger.world.server.all(RIGHTS_BINDING)) {
    if (metadata.finalizers?.includes(RIGHTS_FINALIZER) === true)
      ledger.note('P9', '', `the binding in ${metadata.namespace} could never be deleted`);
  }
  for (const namespace of ending) ledger.note('P9', '', `namespace ${namespace} hangs`);
}

function carriersIn({ objects }: Ledger, namespace: string, rule?: string): number {
  let count = 0;
  for (const object of objects.values()) {
    if (object.metadata.namespace !== namespace) continue;
    const rules = rulesOn(object);
    if (rule === undefined ? rules.length > 0 : rules.includes(rule)) count += 1;
  }
  return count;
}

function namedBy(object: Write['after']): unknown {
  return at(object?.status, 'namespaces');
}

function namesIn(object: Write['after']): readonly string[] {
  const named = namedBy(object);
  return Array.isArray(named) ? named.map(String) : [];
}

/** All of it that no bridge may change; the same for one that is gone with its last finalizer. */
function others(meta: ObjectMeta | undefined): unknown {
  const { finalizers = [], labels, annotations } = meta ?? {};
  return { foreign: finalizers.filter((one) => one !== RIGHTS_FINALIZER), labels, annotations };
}
