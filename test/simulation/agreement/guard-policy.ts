/*
 * Somebody's validating admission policies: they refuse what is done to machines and rules that carry a label, for the reason that
 * the label names. For the model a function, for a real API server policies and their bindings. Used by api-model.ts and api-real.ts.
 */
import type { KubeObject } from '../../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { kindPath } from '../../../bridge/wire.ts';
import type { Kube } from '../../../infra/local/kube.ts';
import { eventually } from '../../support/eventually.ts';
import { FLEET_KINDS } from '../fleet/plan.ts';

const { machines } = FLEET_KINDS;
/** By what is done, the label whose value is the reason for which it is refused. */
export const GUARDED = { update: 'guarded', status: 'guarded-status', deletion: 'guarded-deletion' } as const;
/** Reasons that a policy may give, each with its status. */
const STATUSES = { Invalid: 422, Forbidden: 403, RequestEntityTooLarge: 413 } as const;
/** Where the expression of a policy fails, that is a refusal, too. */
const BROKEN = 'Broken';
/** What a policy only warns of is done. */
const WARNED = 'Warned';
const NAME = 'agreement-guard';
const API_VERSION = 'admissionregistration.k8s.io/v1';
const PATH = `/apis/${API_VERSION}/validatingadmissionpolicies`;
/** Policies are compiled some time after they are written. */
const SETTLES_WITHIN = 60_000;

/** The status with which something is refused; undefined when the policies have nothing against it. */
export function guardedRefusal(doing: keyof typeof GUARDED, object: KubeObject): number | undefined {
  const reason = object.metadata.labels?.[GUARDED[doing]];
  if (reason === BROKEN) return STATUSES.Invalid;
  return Object.entries(STATUSES).find(([name]) => name === reason)?.[1];
}

const done = `request.operation == 'DELETE' ? '${GUARDED.deletion}'
  : request.?subResource.orValue('') == 'status' ? '${GUARDED.status}' : '${GUARDED.update}'`;
const on = ({ group, version }: { readonly group: string; readonly version: string }, ...resources: string[]) => ({
  ...{ apiGroups: [group], apiVersions: [version], resources, operations: ['UPDATE', 'DELETE'] },
});

function policy(name: string, action: 'Deny' | 'Warn', validations: readonly object[]) {
  return [
    {
      ...{ apiVersion: API_VERSION, kind: 'ValidatingAdmissionPolicy', metadata: { name } },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [on(machines, machines.resource), on(TEARDOWN_RULES, 'teardownrules', 'teardownrules/status')],
        },
        variables: [{ name: 'reason', expression: `oldObject.metadata.?labels[?(${done})].orValue('')` }],
        validations,
      },
    },
    {
      ...{ apiVersion: API_VERSION, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name } },
      spec: { policyName: name, validationActions: [action] },
    },
  ];
}

const policies = [
  ...policy(`${NAME}-warning`, 'Warn', [{ expression: `variables.reason != '${WARNED}'`, message: 'think twice' }]),
  // The last one, for which is waited.
  ...policy(NAME, 'Deny', [
    ...Object.keys(STATUSES).map((reason) => ({
      ...{ expression: `variables.reason != '${reason}'`, reason, message: 'it is guarded' },
    })),
    { expression: `variables.reason != '${BROKEN}' || int(oldObject.metadata.name) == 1`, message: 'never said' },
  ]),
];

/** Puts the policies in force on a real API server, or out of it; resolves when the server acts so. */
export async function guard(kube: Kube, isGuarded: boolean): Promise<void> {
  const sentinel = `${kindPath(machines, 'default')}/${NAME}`;
  if (isGuarded) {
    await kube.apply(policies);
    const metadata = { name: NAME, labels: { [GUARDED.update]: 'Invalid' } };
    const machine = { apiVersion: 'example.com/v1', kind: 'Machine', metadata };
    await kube.request('POST', kindPath(machines, 'default'), machine);
  } else {
    for (const { kind, metadata } of policies) {
      await kube.request(
        'DELETE',
        `${kind.endsWith('Binding') ? `${PATH.slice(0, -3)}ybindings` : PATH}/${metadata.name}`,
      );
    }
  }
  const isRefused = async () => {
    const { body } = await kube.request('GET', sentinel);
    const moved = { ...Object(body), spec: { moved: true } };
    return (await kube.request('PUT', `${sentinel}?dryRun=All`, moved)).status === STATUSES.Invalid;
  };
  await eventually(
    `the policies are ${isGuarded ? '' : 'not '}in force`,
    async () => (await isRefused()) === isGuarded,
    SETTLES_WITHIN,
  );
  if (!isGuarded) await kube.request('DELETE', sentinel);
}
