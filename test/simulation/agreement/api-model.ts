/*
 * The model of the API server in the hands of a script: the bridge's port over it, as the simulation plugs it in, and the site of
 * the worlds of many deletions for what others do. Used by the tests of agreement; a mistaken model is given to show that they
 * notice.
 */

import { ApiError, type KubeObject, type ObjectPath, type PatchOperation } from '../../../bridge/ports.ts';
import { bindingIn } from '../../../bridge/rights-binding.ts';
import { RULE_API_VERSION, RULE_KIND } from '../../../bridge/rule-facts.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { ApiServer } from '../api-server.ts';
import { seededRandom, VirtualTime } from '../clock.ts';
import type { Access } from '../cluster-port.ts';
import { createClusterPort } from '../cluster-port.ts';
import type { Chart } from '../fleet/chart.ts';
import { FLEET_KINDS, FLEET_NAMESPACES, type FleetNamespace } from '../fleet/plan.ts';
import { Site } from '../fleet/site.ts';
import { createSiteKinds } from '../fleet/site-kinds.ts';
import { OBJECT_RULES, type ObjectRules } from '../object-rules.ts';
import { type Kind, SimulatedProcess } from '../process.ts';
import { type ApiDriver, partsOf, type WriteAnswer, withSpec } from './api-driver.ts';
import type { ScriptKind, Written } from './api-script.ts';
import { guardedRefusal } from './guard-policy.ts';

/** Longest that anything takes, in virtual ms. */
const HOUR = 3_600_000;
const LONG = 24 * HOUR;
const KINDS = { machines: FLEET_KINDS.machines, volumes: FLEET_KINDS.volumes, rules: TEARDOWN_RULES } as const;
const NAMES = { machines: 'Machine', volumes: 'Volume', rules: RULE_KIND } as const;

/** A model that is wrong in one way. */
export interface Mistake {
  readonly Server?: typeof ApiServer;
  readonly rules?: Partial<ObjectRules>;
  readonly hasPolicy?: boolean;
  readonly hasGuard?: boolean;
  /** Policies are asked before the object is looked at. */
  readonly guardsFirst?: boolean;
  /** What happens to a call that is one too many. */
  readonly excess?: Kind;
  /** Makes the cluster around the objects wrong. */
  readonly spoil?: (site: Site, server: ApiServer) => void;
}

/** As one is refused that an API server has no seat for. */
const EXCESS: Kind = { kind: 'answer', side: 'before', status: 429, retryAfter: 1_000 };

/** Makes a model with nothing in it. */
export function createApiModel({
  Server = ApiServer,
  rules = {},
  hasPolicy = true,
  hasGuard = true,
  guardsFirst = false,
  excess = EXCESS,
  spoil = () => {},
}: Mistake = {}): ApiDriver {
  const time = new VirtualTime();
  const random = seededRandom(1);
  let isGuarded = false;
  let isLimited = false;
  const heard: Heard = { status: undefined, subresource: undefined };
  const refusalOf: ObjectRules['refusalOf'] = (before, after) => {
    const guarded = isGuarded ? guardedRefusal(heard.subresource ?? 'update', before) : undefined;
    const own = (rules.refusalOf ?? OBJECT_RULES.refusalOf)(before, after);
    return guardsFirst ? (guarded ?? own) : (own ?? guarded);
  };
  const server = new Server(time, { ...rules, refusalOf });
  const site = new Site({ time, server, admission: hasPolicy, admissionLagMs: 0, served: [] });
  const { chart } = site;
  if (chart !== undefined) chart.isWide = true;
  spoil(site, server);
  const passFaultPoint = () => (isLimited ? excess : undefined);
  const process = new SimulatedProcess(
    { time, random, onHandedOver() {}, passFaultPoint, onWire() {}, endOthers() {}, onFault() {} },
    { role: 'bridge', name: 'bridge', sender: 'AROABRIDGE:1', skew: 0 },
  );
  hear(server, heard);
  const cluster = createClusterPort({
    ...{ server, process, random, access: site satisfies Access },
    watchLag: () => 0,
    onEvent() {},
  });
  const until: ApiDriver['until'] = async (what, isSo) => {
    if (!(await time.run(time.now() + LONG, isSo))) throw new Error(`waiting in the model until ${what}: never`);
  };
  return {
    cluster,
    until,
    patchStatus: () => heard.status,
    kindOf: (kind) => KINDS[kind],
    namespace: async () => {},
    create: async (kind, path, written) => create({ site, server, kind, path, written: withSpec(kind, written) }),
    replace: async (_kind, path, written) => replace(server, path, written),
    delete: async (path) => {
      const there = site.isServed(path) ? server.get(path) : undefined;
      if (there === undefined) return { status: 404 };
      const status = isGuarded ? guardedRefusal('deletion', there) : undefined;
      if (status === undefined) server.delete(path, 'person');
      return { status: status ?? 200 };
    },
    forget: async () => server.compact(),
    forbid: async (kind, isForbidden) => site.forbid(KINDS[kind], isForbidden ? LONG : 0),
    kinds: createSiteKinds(site, process, hasPolicy),
    narrow: async (isNarrow) => {
      if (chart !== undefined) chart.isWide = !isNarrow;
    },
    bind: async (namespace, isBound) => bind({ server, chart }, namespace, isBound),
    rights: async () => {},
    endKind: async (kind) => {
      if (kind !== 'rules') site.endKind(kind, HOUR);
    },
    restoreKind: async (kind) => await until(`${kind} are served`, () => site.isServed(KINDS[kind])),
    guard: async (wanted) => {
      isGuarded = wanted && hasGuard;
    },
    limit: async (wanted) => {
      isLimited = wanted;
    },
    settle: async () => void (await time.run(time.now() + 1_000, () => false)),
    endNamespace: async (name) => {
      if (isFleetNamespace(name)) site.endNamespace(name, HOUR);
    },
    answered: async (call) => {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      void call.then(over, over);
      await until('a call is answered', () => isOver);
      return await call;
    },
  };
}

function bind(
  { server, chart }: { readonly server: ApiServer; readonly chart: Chart | undefined },
  namespace: string,
  isBound: boolean,
): WriteAnswer {
  const isThere = server.get(bindingIn(namespace)) !== undefined;
  if (!isBound) {
    chart?.unbind(namespace, 'person');
    return { status: isThere ? 200 : 404 };
  }
  if (chart?.isStaying(namespace) !== true) return { status: 403 };
  if (isThere) return { status: 409 };
  chart.upgrade({ namespaces: [namespace], leaving: [] });
  return { status: 201 };
}

/** Of the patch that is at work or was last. */
interface Heard {
  status: number | undefined;
  subresource: 'status' | undefined;
}

/** Keeps the status of HTTP that a patch would have been answered with. */
function hear(server: ApiServer, heard: Heard): void {
  const patch = server.patch.bind(server);
  server.patch = (path: ObjectPath, operations: readonly PatchOperation[], ...[by, subresource]) => {
    heard.subresource = subresource;
    try {
      const after = patch(path, operations, by, subresource);
      heard.status = after === undefined ? 404 : 200;
      return after;
    } catch (error) {
      heard.status = statusOf(error);
      throw error;
    } finally {
      heard.subresource = undefined;
    }
  };
}

function statusOf(error: unknown): number {
  if (error instanceof ApiError) return error.status;
  throw error;
}

interface Creation {
  readonly site: Site;
  readonly server: ApiServer;
  readonly kind: ScriptKind;
  readonly path: ObjectPath;
  readonly written: Written;
}

function create({ site, server, kind, path, written }: Creation): WriteAnswer {
  const { meta, fields } = partsOf(written);
  if (server.get(path) !== undefined) return { status: 409 };
  const apiVersion = kind === 'rules' ? RULE_API_VERSION : 'example.com/v1';
  try {
    const object = site.create({ path, apiVersion, kind: NAMES[kind], ...meta, fields }, 'person');
    return object === undefined ? { status: site.isServed(path) ? 403 : 404 } : { status: 201, object };
  } catch (error) {
    return { status: statusOf(error) };
  }
}

function replace(server: ApiServer, path: ObjectPath, written: Written): WriteAnswer {
  const { meta, fields } = partsOf(written);
  try {
    const change = (object: KubeObject) => ({ ...object, ...fields, metadata: { ...object.metadata, ...meta } });
    const object = server.update(path, 'person', change);
    return object === undefined ? { status: 404 } : { status: 200, object };
  } catch (error) {
    return { status: statusOf(error) };
  }
}

function isFleetNamespace(name: string): name is FleetNamespace {
  return Object.hasOwn(FLEET_NAMESPACES, name);
}
