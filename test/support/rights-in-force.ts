/*
 * Waits until the API server goes by the rights that it has been given for somebody: it hears of them a little after it has taken
 * them, and on a busy machine a caller may be there before. Used where tests make users (cli-process.ts, guard-scene.ts).
 */
import * as z from 'zod/mini';
import type { KubeClient } from '../../infra/local/kube-client.ts';
import { eventually } from './eventually.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const reviewed = z.object({ status: z.object({ allowed: z.boolean() }) });

/** As the API server asks itself; without a namespace, in all of them. */
export interface RightInForce {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** Resolves when whoever has this token has all of them. */
export async function inForce(kube: KubeClient, token: string, rights: readonly RightInForce[]): Promise<void> {
  for (const resourceAttributes of rights) {
    const { verb, resource } = resourceAttributes;
    await eventually(`the API server lets ${verb} ${resource}`, async () => {
      const kind = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
      const { body } = await kube.request('POST', REVIEWS, { ...kind, spec: { resourceAttributes } }, { token });
      return z.parse(reviewed, body).status.allowed;
    });
  }
}
