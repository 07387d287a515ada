/*
 * What is asked where some namespaces are served, or were or will be: P3 (nothing outside of them is touched), P5 (a rule's status
 * names a namespace before anything there has its entry), P9 (it names it until nothing there has, the rights there are kept as
 * long, and in the end neither binding nor namespace hangs). Listens to the model of the API server; part of ledger.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, ObjectMeta } from '../../../bridge/ports.ts';
import { RIGHTS_BINDING, RIGHTS_FINALIZER } from '../../../bridge/rights-binding.ts';
import { ANYWHERE } from '../../../bridge/rule-namespaces.ts';
import { lookedInto } from '../../../bridge/served.ts';
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
  const places = placesOf(ledger, by);
  if (places !== undefined && !places.includes(namespace)) {
    ledger.note('P3', uid, `${by} touched ${name} in namespace ${namespace}, which it was not told to serve`);
  }
  // At birth an entry may come by what the admission policy knew a moment ago.
  for (const rule of isBridge(by) ? put : []) {
    const written = ledger.rules.get(rule)?.object;
    // Where the whole cluster is served, none is named as well as any.
    const isSaid = places === undefined || Array.isArray(namedBy(written));
    if (written === undefined || (isSaid && namesPlace(written, path))) continue;
    ledger.note('P5', uid, `${by} put ${rule} on ${name} before its status names ${namespace}`);
  }
}

/** Where a bridge looks; undefined: everywhere, or it is no bridge. */
function placesOf({ world }: Ledger, by: string): readonly string[] | undefined {
  const served = world.servedBy(by);
  return served && lookedInto(served);
}

function onRule(ledger: Ledger, { before, after, path: { name }, by }: Write): void {
  const [had, has] = [placesNamed(before), placesNamed(after)];
  // Entries may be anywhere: that says it of each.
  if (after === undefined || before === undefined || has === undefined) return;
  const places = had ?? [...new Set(carriersOf(ledger, name).map(({ metadata }) => metadata.namespace ?? ''))];
  for (const namespace of places.filter((one) => !has.includes(one))) {
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
  // Where the whole cluster is served nothing needs these rights.
  const isKept = after?.metadata.finalizers?.includes(RIGHTS_FINALIZER) === true || placesOf(ledger, by) === undefined;
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
      if (chart.servesAll && namespace !== ANYWHERE)
        ledger.note('P9', '', `rule ${rule} still names ${namespace}, and all of the cluster is served`);
      if (!chart.serves(namespace) && carriers === 0)
        ledger.note('P9', '', `rule ${rule} still names ${namespace}, where nobody carries its entry`);
    }
  }
  for (const object of ledger.objects.values()) {
    const { uid, name, namespace } = object.metadata;
    if (chart.looksInto(namespace) || rulesOn(object).length === 0) continue;
    ledger.note('P9', uid, `${name} carries an entry in namespace ${namespace}, where nobody looks`);
  }
  // What was kept before the whole cluster was served is given up while the rules stay.
  if (chart.servesAll) checkBindings(ledger);
}

/** P7: where rights have gone first, each rule whose entries are there says so. */
export function checkRightless(ledger: Ledger, chart: Chart): void {
  for (const [rule, { object }] of ledger.rules) {
    const conditions = at(object.status, 'conditions');
    const said = (Array.isArray(conditions) ? conditions : []).find((one) => at(one, 'type') === 'Permitted');
    for (const namespace of chart.rightless.filter((one) => chart.looksInto(one))) {
      const isSaid = at(said, 'status') === 'False' && String(at(said, 'message')).includes(namespace);
      if (!isSaid && carriersIn(ledger, namespace, rule) > 0)
        ledger.note('P7', '', `rule ${rule} does not say that its rights in ${namespace} are gone`);
    }
  }
}

/** P9: when all rules are gone nothing hangs because of them. */
export function checkLeft(ledger: Ledger, { ending }: Chart): void {
  checkBindings(ledger);
  for (const namespace of ending) ledger.note('P9', '', `namespace ${namespace} hangs`);
}

function checkBindings(ledger: Ledger): void {
  for (const { metadata } of ledger.world.server.all(RIGHTS_BINDING)) {
    if (metadata.finalizers?.includes(RIGHTS_FINALIZER) === true)
      ledger.note('P9', '', `the binding in ${metadata.namespace} could never be deleted`);
  }
}

function carriersIn(ledger: Ledger, namespace: string, rule?: string): number {
  return carriersOf(ledger, rule).filter(({ metadata }) => (metadata.namespace ?? '') === namespace).length;
}

/** The objects that carry an entry, of one rule if it is named. */
function carriersOf({ objects }: Ledger, rule?: string): readonly KubeObject[] {
  return [...objects.values()].filter((object) => {
    const rules = rulesOn(object);
    return rule === undefined ? rules.length > 0 : rules.includes(rule);
  });
}

function namedBy(object: Write['after']): unknown {
  return at(object?.status, 'namespaces');
}

/** The places in which a rule's entries may be; undefined: anywhere. */
function placesNamed(object: Write['after']): readonly string[] | undefined {
  const named = namesIn(object);
  return namedBy(object) === undefined || named.includes(ANYWHERE) ? undefined : named;
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
