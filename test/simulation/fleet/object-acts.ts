/*
 * What people and other controllers do about single objects of a world: create, delete, edit, say a word, strip. Scheduled by
 * fleet-world.ts from the plan of each object.
 */
import type { KubeObject, ObjectPath } from '../../../bridge/ports.ts';
import { ON_DELETE, OWNER_TAG } from '../installation.ts';
import type { Hold, Ledger } from './ledger.ts';
import { STRANGER } from './ledger-messages.ts';
import { type Doing, FLEET_KINDS, nameOf, type ObjectPlan, type ThingPlan } from './plan.ts';
import { NAME_TAG, type Site } from './site.ts';

const FOREIGN = 'example.com/other';

/** What acts reach. */
export interface ObjectActs {
  readonly ledger: Ledger;
  readonly site: Site;
}

/** Whoever cannot create an object tries again this often. */
const TRY_AGAIN_MS = 20_000;
/** Soon, as somebody who has waited for it. */
const AGAIN_EVERY_MS = 5_000;

/** Puts the whole life of an object on the clock. Where nothing can be created its owner tries again, and all of it is later. */
export function scheduleObject(acts: ObjectActs, plan: ObjectPlan): void {
  const { time, plan: world } = acts.ledger.world;
  const begin = (late: number) => {
    if (createObject(acts, plan)) live(acts, plan);
    else if (plan.deletedAt + late + TRY_AGAIN_MS < world.weather.calmAt) {
      time.after(TRY_AGAIN_MS, () => begin(late + TRY_AGAIN_MS));
    }
  };
  time.after(plan.createdAt, () => begin(0));
}

/** What becomes of an object that has just been created. */
function live(acts: ObjectActs, plan: ObjectPlan): void {
  const { time, server } = acts.ledger.world;
  const path = pathOf(plan);
  const at = (planned: number, task: () => void) => time.after(planned - plan.createdAt, task);
  at(plan.deletedAt, () => server.delete(path, 'owner'));
  if (plan.foreign !== undefined) {
    at(plan.foreign.offAt, () => edit(acts, path, 'other controller', (object) => without(object, FOREIGN)));
  }
  for (const { at: when, doing, rule } of plan.doings) at(when, () => act(acts, { plan, doing, rule }));
  if (plan.comesAgain === true) at(plan.deletedAt, () => comeAgain(acts, plan));
}

/** Once it is gone its owner makes another one of that name, which stays. */
function comeAgain(acts: ObjectActs, plan: ObjectPlan): void {
  const { time, server, plan: world } = acts.ledger.world;
  const { foreign: _, ...rest } = plan;
  const again = { ...rest, things: plan.things.filter(({ tags }) => tags === 'own') };
  if (server.get(pathOf(plan)) === undefined && createObject(acts, again)) return;
  if (time.now() - acts.ledger.began < world.weather.calmAt) time.after(AGAIN_EVERY_MS, () => comeAgain(acts, plan));
}

/** The path of an object. */
export function pathOf(plan: ObjectPlan): ObjectPath {
  const { kind, namespace } = plan;
  return { ...FLEET_KINDS[kind], ...(namespace === undefined ? {} : { namespace }), name: nameOf(plan) };
}

/** Creates an object and what it stands for. False: nothing can be created where it would be. */
export function createObject({ ledger, site }: ObjectActs, plan: ObjectPlan): boolean {
  const { kind, labels, things, isRetained } = plan;
  const named = things.filter(({ isNamed }) => isNamed);
  const status = Object.fromEntries(named.map(({ rule }) => [fieldOf(ledger, rule), thingOf(ledger, plan, rule)]));
  const object = site.create(
    {
      ...{ path: pathOf(plan), apiVersion: 'example.com/v1', kind, labels, fields: { spec: {}, status } },
      ...(plan.foreign === undefined ? {} : { finalizers: [FOREIGN] }),
      ...(isRetained ? { annotations: { [ON_DELETE]: 'Retain' } } : {}),
    },
    'owner',
  );
  if (object === undefined) return false;
  for (const thing of named.filter(({ isThere }) => isThere)) createThing(ledger, { plan, thing, object });
  return true;
}

/** A person releases what is held. */
export function releaseHold({ world, objects }: Ledger, { uid, rule }: Hold, word: string): void {
  const meta = objects.get(uid)?.metadata;
  if (meta === undefined) return;
  const { name, namespace } = meta;
  for (const kind of Object.values(FLEET_KINDS)) {
    if (world.server.get({ ...kind, namespace, name })?.metadata.uid !== uid) continue;
    const words = { [`release.finalizer-bridge.dev/${rule}`]: word };
    world.server.update({ ...kind, namespace, name }, 'person', (object) => annotated(object, words));
  }
}

function createThing(
  ledger: Ledger,
  { plan, thing, object }: { readonly plan: ObjectPlan; readonly thing: ThingPlan; readonly object: KubeObject },
): void {
  const { uid, name, namespace } = object.metadata;
  const isOwn = thing.tags !== 'stranger';
  const proof = { [OWNER_TAG]: uid, [NAME_TAG]: `${namespace}/${name}` };
  const tags = isOwn ? proof : { [OWNER_TAG]: 'somebody else', [NAME_TAG]: 'somebody/else', stranger: '' };
  ledger.world.cloud.create(
    thingOf(ledger, plan, thing.rule),
    isOwn ? uid : `${STRANGER}${uid}`,
    { ...tags, ...(thing.tags === 'keep' ? { 'finalizer-bridge.dev/keep': '' } : {}) },
    thing.deletionMs,
  );
}

function fieldOf(ledger: Ledger, rule: string): string {
  return ledger.plans.get(rule)?.field ?? rule;
}

function thingOf(ledger: Ledger, { index }: ObjectPlan, rule: string): string {
  return `${fieldOf(ledger, rule)}-${index}`;
}

function edit({ ledger }: ObjectActs, path: ObjectPath, by: string, change: (object: KubeObject) => KubeObject): void {
  ledger.world.server.update(path, by, change);
}

function annotated(object: KubeObject, annotations: Readonly<Record<string, string>>): KubeObject {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } };
}

function without(object: KubeObject, entry?: string): KubeObject {
  const { finalizers = [] } = object.metadata;
  const left = entry === undefined ? [] : finalizers.filter((other) => other !== entry);
  return { ...object, metadata: { ...object.metadata, finalizers: left } };
}

interface Said {
  readonly plan: ObjectPlan;
  readonly doing: Doing;
  readonly rule: string;
}

interface Done extends Said {
  readonly acts: ObjectActs;
  readonly path: ObjectPath;
  readonly uid: string;
}

const say =
  (word: string, textOf: (done: Done) => string) =>
  (done: Done): void => {
    const { acts, path, rule } = done;
    const words = { [`${word}.finalizer-bridge.dev/${rule}`]: textOf(done) };
    edit(acts, path, 'person', (object) => annotated(object, words));
  };
const setPolicy =
  (policy: string) =>
  ({ acts, path }: Done): void =>
    edit(acts, path, 'person', (object) => annotated(object, { [ON_DELETE]: policy }));

const DOES: Readonly<Record<Doing, (done: Done) => void>> = {
  release: say('release', ({ uid }) => uid),
  releaseNow: say('release', ({ uid }) => `${uid}/now`),
  retry: say('retry', ({ uid, acts }) => `${uid}/${acts.ledger.now()}`),
  approve: say('approve', ({ uid }) => uid),
  retain: setPolicy('Retain'),
  garble: setPolicy('Perhaps'),
  strip: ({ acts, path }) => edit(acts, path, 'somebody', (object) => without(object)),
  touch({ acts, path }) {
    const touched = String(acts.ledger.now());
    edit(acts, path, 'other controller', (object) => annotated(object, { touched }));
  },
  clear: retarget,
  move: retarget,
};

function act(acts: ObjectActs, said: Said): void {
  const path = pathOf(said.plan);
  const uid = acts.ledger.world.server.get(path)?.metadata.uid;
  if (uid !== undefined) DOES[said.doing]({ ...said, acts, path, uid });
}

/** The target is cleared, or becomes another thing of the same owner. */
function retarget({ acts, plan, doing, rule, path, uid }: Done): void {
  const { ledger } = acts;
  const field = fieldOf(ledger, rule);
  const name = doing === 'clear' ? undefined : `${thingOf(ledger, plan, rule)}-b`;
  const hold = ledger.hold(uid, rule);
  if (hold !== undefined) hold.isMoved = true;
  // Made once, and only while we hold the object: whether it is gone is true of when the function looked, and what its owner
  // makes when the entry is off is nobody's to take down.
  if (name !== undefined && hold?.off === undefined && !ledger.moved.has(name)) {
    ledger.moved.add(name);
    const tags = { [OWNER_TAG]: uid, [NAME_TAG]: `${path.namespace}/${path.name}` };
    ledger.world.cloud.create(name, uid, tags, 0);
  }
  edit(acts, path, 'owner', (object) => {
    const before = Object.entries(object.status ?? {}).filter(([key]) => key !== field);
    return { ...object, status: { ...Object.fromEntries(before), ...(name === undefined ? {} : { [field]: name }) } };
  });
}
