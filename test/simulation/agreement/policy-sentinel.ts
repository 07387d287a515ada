/*
 * Waits until a real API server's admission policy knows of every rule so far. Called by api-real.ts: rules come to policies in
 * order, so that one that is made last and at work vouches for all before it.
 */
import * as z from 'zod/mini';
import { INJECTS_LABEL, injectsLabel } from '../../../bridge/injects.ts';
import { RULE_API_VERSION, RULE_KIND } from '../../../bridge/rule-facts.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { kindPath } from '../../../bridge/wire.ts';
import type { Kube } from '../../../infra/local/kube.ts';
import { eventually } from '../../support/eventually.ts';
import { defaultedSpec } from '../../support/rule-corpus.ts';
import { FLEET_KINDS } from '../fleet/plan.ts';

const { machines } = FLEET_KINDS;
/** New kinds of params are looked for every half minute. */
const SETTLES_WITHIN = 60_000;
const born = z.object({ metadata: z.object({ finalizers: z._default(z.array(z.string()), []) }) });

let sentinels = 0;

/** Resolves once it does. */
export async function settlePolicy(kube: Kube): Promise<void> {
  sentinels += 1;
  const name = `sentinel-${sentinels}`;
  const labels = { sentinel: name };
  const rules = kindPath(TEARDOWN_RULES);
  await kube.request('POST', rules, {
    ...{ apiVersion: RULE_API_VERSION, kind: RULE_KIND },
    metadata: { name, labels: { [INJECTS_LABEL]: injectsLabel(machines) } },
    spec: { ...defaultedSpec, match: { ...machines, labelSelector: { matchLabels: labels } } },
  });
  const machine = { apiVersion: 'example.com/v1', kind: 'Machine', metadata: { name, labels } };
  const isAtWork = async () => {
    const { body } = await kube.request('POST', `${kindPath(machines, 'default')}?dryRun=All`, machine);
    return (born.safeParse(body).data?.metadata.finalizers ?? []).some((entry) => entry.endsWith(name));
  };
  await eventually(`the policy knows of ${name}`, isAtWork, SETTLES_WITHIN);
  await kube.request('DELETE', `${rules}/${name}`);
}
