/*
 * A real API server in the hands of a script: the bridge's own port with a bridge's own token, and an administrator who does the
 * rest, where there is no controller-manager also in the place of the namespace controller. Used by the tests of agreement.
 */

import { realClock } from '../../../bridge/clock.ts';
import { createCluster } from '../../../bridge/cluster.ts';
import { createCredentials, loadKubeConfig } from '../../../bridge/cluster-credentials.ts';
import { createHttp, type Http } from '../../../bridge/cluster-http.ts';
import { createKinds } from '../../../bridge/cluster-kinds.ts';
import { createLeases } from '../../../bridge/cluster-lease.ts';
import { LEASE_PLACE } from '../../../bridge/leader-state.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { bindingIn, RIGHTS_BINDING } from '../../../bridge/rights-binding.ts';
import { RULE_API_VERSION, RULE_KIND } from '../../../bridge/rule-facts.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { apiPath, kindPath } from '../../../bridge/wire.ts';
import { admissionManifests } from '../../../infra/admission/manifests.ts';
import type { Kube } from '../../../infra/local/kube.ts';
import type { Manifest } from '../../../infra/local/kube-apply.ts';
import { eventually } from '../../support/eventually.ts';
import { committedDefinition } from '../../support/rule-api.ts';
import { definitionOf } from '../../support/site-kind.ts';
import { FLEET_KINDS, FLEET_NAMESPACES } from '../fleet/plan.ts';
import { type ApiDriver, partsOf, type WriteAnswer, withSpec } from './api-driver.ts';
import { SCRIPT_KINDS, type ScriptKind } from './api-script.ts';
import { limit } from './flow-limit.ts';
import { guard } from './guard-policy.ts';
import type { LeaseDriver } from './lease-script.ts';
import { settlePolicy } from './policy-sentinel.ts';

const NAMESPACE = 'finalizer-bridge';
const ACCOUNT = 'agreement';
const RBAC = 'rbac.authorization.k8s.io';
const GROUP = 'example.com';
const KINDS = { machines: FLEET_KINDS.machines, volumes: FLEET_KINDS.volumes, rules: TEARDOWN_RULES } as const;
const NAMES = { machines: 'Machine', volumes: 'Volume', rules: RULE_KIND } as const;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** A kind goes when its last object does, which the server looks for every few seconds. */
const ENDS_WITHIN = 90_000;

const definitions = {
  machines: definitionOf(GROUP, { plural: 'machines', kind: 'Machine' }),
  volumes: definitionOf(GROUP, { plural: 'volumes', kind: 'Volume', scope: 'Cluster' }),
  rules: committedDefinition(),
};

/** A driver, and the lease of the same server. */
export interface ApiReal extends ApiDriver {
  readonly lease: LeaseDriver;
  stop(): Promise<void>;
}

/** Prepares a server with nothing in it. */
export async function createApiReal(kube: Kube): Promise<ApiReal> {
  await kube.apply(Object.values(definitions));
  // It takes up to half a minute until the API server acts by it; the first that waits for it does not come first.
  await kube.apply(admissionManifests([KINDS.machines]));
  const { kubeconfig, token } = await kube.serviceAccount(NAMESPACE, ACCOUNT);
  const grant = async (kind: ScriptKind) => void (await kube.apply(rightsOn(KINDS[kind])));
  await kube.apply(rightsOn({ group: 'events.k8s.io', resource: 'events' }));
  await kube.apply(rightsOn(LEASE_PLACE));
  for (const kind of SCRIPT_KINDS) await grant(kind);
  const config = loadKubeConfig(kubeconfig);
  const credentials = createCredentials(() => config, realClock);
  const heard: { status: number | undefined } = { status: undefined };
  const http = createHttp({ credentials, metrics: { apiCalls: { inc() {} } }, clock: realClock });
  const cluster = createCluster({ http: hearing(http, heard), clock: realClock, identity: ACCOUNT });
  const statusOf = async (kind: ScriptKind) =>
    await cluster.list(KINDS[kind], { limit: 1 }).then(
      () => 200,
      (error: unknown) => (error instanceof ApiError ? error.status : 0),
    );
  const isAllowed = async (kind: ScriptKind) => (await statusOf(kind)) === 200;
  let unlimit = async () => {};
  await eventually('the bridge may read all kinds', async () => {
    return (await Promise.all(SCRIPT_KINDS.map(isAllowed))).every(Boolean);
  });
  const send = async (method: string, path: string, body?: unknown): Promise<WriteAnswer> => {
    const { status, body: object } = await kube.request(method, path, body);
    return { status, object };
  };
  return {
    cluster,
    patchStatus: () => heard.status,
    kindOf: (kind) => KINDS[kind],
    async namespace(name) {
      const tier = Object.entries(FLEET_NAMESPACES).find(([known]) => known === name)?.[1] ?? '';
      await send('POST', '/api/v1/namespaces', { metadata: { name, labels: { tier } } });
    },
    async create(kind, path, written) {
      const { meta, fields } = partsOf(withSpec(kind, written));
      const { namespace, name } = path;
      const apiVersion = kind === 'rules' ? RULE_API_VERSION : `${GROUP}/v1`;
      const metadata = { name, ...(namespace === undefined ? {} : { namespace }), ...meta };
      return await send('POST', kindPath(path, namespace), { apiVersion, kind: NAMES[kind], metadata, ...fields });
    },
    async replace(_kind, path, written) {
      const { status, object } = await send('GET', apiPath(path));
      if (status !== 200) return { status };
      const { meta, fields } = partsOf(written);
      const metadata = { ...Object(object).metadata, ...meta };
      return await send('PUT', apiPath(path), { ...Object(object), metadata, ...fields });
    },
    delete: async (path) => await send('DELETE', apiPath(path)),
    async forget() {
      await kube.compact();
      // Watches are refused until the server has read what there is.
      await eventually(
        'watches are opened again',
        async () => await opens(cluster.watch(KINDS.machines, undefined, AbortSignal.timeout(1_000))),
      );
    },
    async forbid(kind, isForbidden) {
      if (isForbidden) await send('DELETE', `/apis/${RBAC}/v1/clusterrolebindings/${ACCOUNT}-${KINDS[kind].resource}`);
      else await grant(kind);
      await eventually(`rights on ${kind} have changed`, async () => (await isAllowed(kind)) !== isForbidden);
    },
    kinds: createKinds(http),
    async narrow(isNarrow) {
      const wide = `/apis/${RBAC}/v1/clusterrolebindings/${ACCOUNT}-${KINDS.machines.resource}`;
      if (isNarrow) await send('DELETE', wide);
      else await grant('machines');
      await eventually(
        'rights in the whole cluster have changed',
        async () => (await isAllowed('machines')) !== isNarrow,
      );
    },
    async bind(namespace, isBound) {
      await kube.apply([withinRole]);
      if (!isBound) return await send('DELETE', apiPath(bindingIn(namespace)));
      return await send('POST', kindPath(RIGHTS_BINDING, namespace), withinBinding);
    },
    async rights(namespace, areGiven) {
      const list = async () => await cluster.list({ ...KINDS.machines, namespace }, { limit: 1 });
      const isGiven = async () =>
        await list().then(
          () => true,
          () => false,
        );
      await eventually(`rights in ${namespace} have changed`, async () => (await isGiven()) === areGiven);
    },
    async endKind(kind) {
      await send('DELETE', `${DEFINITIONS}/${definitions[kind].metadata.name}`);
      await eventually(`all ${kind} are being deleted`, async () => {
        const { items } = await cluster.list(KINDS[kind], { limit: 100 });
        return items.every(({ deletionTimestamp }) => deletionTimestamp !== undefined);
      });
    },
    async restoreKind(kind) {
      await eventually(
        `the definition of ${kind} is gone`,
        async () => (await send('GET', `${DEFINITIONS}/${definitions[kind].metadata.name}`)).status === 404,
        ENDS_WITHIN,
      );
      await kube.apply([definitions[kind]]);
    },
    settle: async () => await settlePolicy(kube),
    guard: async (isGuarded) => await guard(kube, isGuarded),
    async limit(isLimited) {
      const whose = { namespace: NAMESPACE, account: ACCOUNT, token };
      if (isLimited) unlimit = await limit(kube, { ...whose, status: async () => await statusOf('machines') });
      else await unlimit();
    },
    async endNamespace(name) {
      await send('DELETE', `/api/v1/namespaces/${name}`);
      await send('DELETE', kindPath(RIGHTS_BINDING, name));
      await send('DELETE', kindPath(KINDS.machines, name));
    },
    answered: async (call) => await call,
    until: async (what, isSo) => void (await eventually(what, isSo, ENDS_WITHIN)),
    lease: { leases: createLeases(http), delete: async () => void (await send('DELETE', apiPath(LEASE_PLACE))) },
    stop: async () => await (await credentials.current()).dispatcher.destroy(),
  };
}

/** What the chart gives in a namespace (docs/rights.md), on kinds of scripts. */
const withinRole: Manifest = {
  ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: `${ACCOUNT}-objects` } },
  rules: [
    { apiGroups: [GROUP], resources: ['machines', 'volumes'], verbs: ['get', 'list', 'watch', 'patch'] },
    {
      ...{ apiGroups: [RBAC], resources: [RIGHTS_BINDING.resource], resourceNames: [RIGHTS_BINDING.name] },
      verbs: ['get', 'patch'],
    },
  ],
};
const withinBinding: Manifest = {
  ...{ apiVersion: `${RBAC}/v1`, kind: 'RoleBinding', metadata: { name: RIGHTS_BINDING.name } },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: `${ACCOUNT}-objects` },
  subjects: [{ kind: 'ServiceAccount', namespace: NAMESPACE, name: ACCOUNT }],
};

/** What a bridge may do with a kind. */
function rightsOn({ group, resource }: { readonly group: string; readonly resource: string }): readonly Manifest[] {
  const name = `${ACCOUNT}-${resource}`;
  const verbs = ['get', 'list', 'watch', 'patch', 'create', 'update'];
  const rules = [{ apiGroups: [group], resources: [resource, `${resource}/status`], verbs }];
  const subjects = [{ kind: 'ServiceAccount', namespace: NAMESPACE, name: ACCOUNT }];
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name };
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects },
  ];
}

async function opens(watch: AsyncIterable<unknown>): Promise<boolean> {
  try {
    for await (const _ of watch) return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  return false;
}

function hearing(http: Http, heard: { status: number | undefined }): Http {
  return {
    open: (call, signal) => http.open(call, signal),
    async ask(call, signal) {
      const answer = await http.ask(call, signal);
      if (call.method === 'PATCH') heard.status = answer.status;
      return answer;
    },
  };
}
