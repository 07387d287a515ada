/*
 * Somebody's validating admission policy: it refuses every update of a machine that carries a label, for the reason that the label
 * names. For the model a function, for a real API server a policy and its binding. Used by api-model.ts and api-real.ts.
 */
import type { KubeObject } from '../../../bridge/ports.ts';
import { kindPath } from '../../../bridge/wire.ts';
import type { Kube } from '../../../infra/local/kube.ts';
import { eventually } from '../../support/eventually.ts';
import { FLEET_KINDS } from '../fleet/plan.ts';

const { machines } = FLEET_KINDS;
/** The label; its value is the reason for which updates are refused. */
export const GUARDED = 'guarded';
const STATUSES = { Invalid: 422, Forbidden: 403 } as const;
const NAME = 'agreement-guard';
const API_VERSION = 'admissionregistration.k8s.io/v1';
const PATH = `/apis/${API_VERSION}/validatingadmissionpolicies/${NAME}`;
const BINDING_PATH = `/apis/${API_VERSION}/validatingadmissionpolicybindings/${NAME}`;
/** Policies are compiled some time after they are written. */
const SETTLES_WITHIN = 60_000;

/** The status with which an update of an object is refused; undefined when the policy has nothing against it. */
export function guardedRefusal(before: KubeObject): number | undefined {
  const reason = before.metadata.labels?.[GUARDED];
  return Object.entries(STATUSES).find(([name]) => name === reason)?.[1];
}

const policy = {
  ...{ apiVersion: API_VERSION, kind: 'ValidatingAdmissionPolicy', metadata: { name: NAME } },
  spec: {
    matchConstraints: {
      resourceRules: [
        {
          ...{ apiGroups: [machines.group], apiVersions: [machines.version] },
          ...{ resources: [machines.resource], operations: ['UPDATE'] },
        },
      ],
    },
    validations: Object.keys(STATUSES).map((reason) => ({
      expression: `oldObject.metadata.?labels[?'${GUARDED}'].orValue('') != '${reason}'`,
      reason,
      message: 'it is guarded',
    })),
  },
};
const binding = {
  ...{ apiVersion: API_VERSION, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: NAME } },
  spec: { policyName: NAME, validationActions: ['Deny'] },
};

/** Puts the policy in force on a real API server, or out of it; resolves when the server acts so. */
export async function guard(kube: Kube, isGuarded: boolean): Promise<void> {
  const sentinel = `${kindPath(machines, 'default')}/${NAME}`;
  if (isGuarded) {
    await kube.apply([policy, binding]);
    const metadata = { name: NAME, labels: { [GUARDED]: 'Invalid' } };
    const machine = { apiVersion: 'example.com/v1', kind: 'Machine', metadata };
    await kube.request('POST', kindPath(machines, 'default'), machine);
  } else {
    await kube.request('DELETE', BINDING_PATH);
    await kube.request('DELETE', PATH);
  }
  const isRefused = async () => {
    const { body } = await kube.request('GET', sentinel);
    const moved = { ...Object(body), spec: { moved: true } };
    return (await kube.request('PUT', `${sentinel}?dryRun=All`, moved)).status === STATUSES.Invalid;
  };
  await eventually(
    `the policy is ${isGuarded ? '' : 'not '}in force`,
    async () => (await isRefused()) === isGuarded,
    SETTLES_WITHIN,
  );
  if (!isGuarded) await kube.request('DELETE', sentinel);
}
