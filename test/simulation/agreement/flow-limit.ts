/*
 * Makes a real API server refuse every call of a bridge as one too many: its own priority level has no seats, and the only call that
 * is let in all the same, while no other is at work, is one that never ends. Used by api-real.ts.
 */
import { readFileSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import { apiPath } from '../../../bridge/wire.ts';
import type { Kube } from '../../../infra/local/kube.ts';
import { eventually } from '../../support/eventually.ts';
import { FLEET_KINDS } from '../fleet/plan.ts';

const NAME = 'agreement-limit';
const API_VERSION = 'flowcontrol.apiserver.k8s.io/v1';
const GROUP_PATH = `/apis/${API_VERSION}`;
/** Before all flows that a server has of its own, but those of its administrators. */
const PRECEDENCE = 10;
const NEVER_SENT_BYTES = 1_000;

/** Whose calls are refused. */
export interface Limited {
  readonly namespace: string;
  readonly account: string;
  readonly token: string;
  /** The status with which one of its calls is answered now. */
  status(): Promise<number>;
}

const level = {
  ...{ apiVersion: API_VERSION, kind: 'PriorityLevelConfiguration', metadata: { name: NAME } },
  spec: {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
  },
};
const flow = ({ namespace, account }: Limited) => ({
  ...{ apiVersion: API_VERSION, kind: 'FlowSchema', metadata: { name: NAME } },
  spec: {
    matchingPrecedence: PRECEDENCE,
    priorityLevelConfiguration: { name: NAME },
    rules: [
      {
        subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace, name: account } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
      },
    ],
  },
});

/** Begins; resolves once every call is refused, with what ends it. */
export async function limit(kube: Kube, limited: Limited): Promise<() => Promise<void>> {
  await kube.apply([level, flow(limited)]);
  let endless = begin(kube, limited);
  await eventually('every call is one too many', async () => {
    if ((await limited.status()) === 429) return true;
    // It may have come before the level was there.
    endless.destroy();
    endless = begin(kube, limited);
    return false;
  });
  return async () => {
    await kube.request('DELETE', `${GROUP_PATH}/flowschemas/${NAME}`);
    await kube.request('DELETE', `${GROUP_PATH}/prioritylevelconfigurations/${NAME}`);
    endless.destroy();
    await eventually('calls are let in', async () => (await limited.status()) === 200);
  };
}

/** A patch of nothing whose body never comes. */
function begin(kube: Kube, { token }: Limited): ClientRequest {
  const path = apiPath({ ...FLEET_KINDS.machines, namespace: 'default', name: NAME });
  const call = request(`${kube.url}${path}`, {
    ...{ method: 'PATCH', ca: readFileSync(kube.caFile), agent: false },
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json-patch+json',
      'content-length': NEVER_SENT_BYTES,
    },
  });
  call.on('error', () => {});
  call.write('[');
  return call;
}
