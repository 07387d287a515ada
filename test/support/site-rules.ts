/*
 * TeardownRules in the hands of a test, as a person with kubectl has them: applied, edited, deleted, and read for what
 * they say of themselves. Used over a site. Rules are the whole cluster's, so each file names its own and takes them away.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { z } from 'zod/mini';
import { eventually } from './eventually.ts';
import { committedDefinition } from './rule-api.ts';
import type { Spec } from './rule-corpus.ts';
import type { TestSite } from './site.ts';

const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  message: z.string(),
  observedGeneration: z.optional(z.int()),
  lastTransitionTime: z.string(),
});
const ruleSchema = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string(),
    creationTimestamp: z.string(),
    generation: z.int(),
    resourceVersion: z.string(),
    finalizers: z._default(z.array(z.string()), []),
    labels: z._default(z.record(z.string(), z.string()), {}),
    deletionTimestamp: z.optional(z.string()),
  }),
  status: z._default(
    z.looseObject({
      conditions: z._default(z.array(condition), []),
      observedGeneration: z.optional(z.int()),
      pending: z.optional(z.int()),
      held: z.optional(z.int()),
      oldestPendingTime: z.optional(z.string()),
      heldObjects: z._default(
        z.array(z.object({ namespace: z.optional(z.string()), name: z.string(), uid: z.string(), reason: z.string() })),
        [],
      ),
      budget: z.optional(z.object({ reservations: z.array(z.object({ time: z.string(), size: z.int() })) })),
    }),
    { conditions: [], heldObjects: [] },
  ),
});
const table = z.object({
  columnDefinitions: z.array(z.object({ name: z.string(), priority: z.int() })),
  rows: z.array(z.object({ cells: z.array(z.unknown()) })),
});

/** A rule as the API server has it. */
export type LiveRule = z.output<typeof ruleSchema>;
export type LiveCondition = z.output<typeof condition>;

/** What a condition must say to be the one waited for. */
export interface Wanted {
  readonly status?: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
}

const API = 'finalizer-bridge.dev/v1alpha1';
const PATH = `/apis/${API}/teardownrules`;

/** The verbs of a site's rules. */
export type SiteRules = ReturnType<typeof siteRulesOf>;

/** The verbs, bound to a site. */
export function siteRulesOf({ admin, group }: Pick<TestSite, 'admin' | 'group'>) {
  const made = new Set<string>();

  async function ask(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<unknown> {
    const answer = await admin.request(method, path, body, { contentType });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async function read(name: string): Promise<LiveRule | undefined> {
    const { status, body } = await admin.request('GET', `${PATH}/${name}`);
    return status === 404 ? undefined : z.parse(ruleSchema, body);
  }

  async function found(name: string): Promise<LiveRule> {
    const rule = await read(name);
    if (rule === undefined) throw new Error(`reading rule ${name}: it is gone`);
    return rule;
  }

  /** Conditions of an earlier generation do not count. */
  async function says(name: string, type: string, wanted: Wanted, within?: number): Promise<LiveCondition> {
    let last: unknown;
    const isSo = async () => {
      const { metadata, status } = await found(name);
      const one = status.conditions.find((candidate) => candidate.type === type);
      last = one;
      if (one === undefined || one.observedGeneration !== metadata.generation) return undefined;
      const { status: is, reason, message = '' } = { ...one, ...wanted };
      return one.status === is && one.reason === reason && one.message.includes(wanted.message ?? message)
        ? one
        : undefined;
    };
    try {
      return await eventually(`rule ${name} says ${type} ${JSON.stringify(wanted)}`, isSo, within);
    } catch (cause) {
      throw new Error(`waiting for rule ${name}: it last said ${JSON.stringify(last)}`, { cause });
    }
  }

  /** Deletes a rule, and takes off whatever finalizer would keep it: as somebody does who does not want to wait. */
  async function force(name: string): Promise<void> {
    await admin.request('DELETE', `${PATH}/${name}`);
    const free = { metadata: { finalizers: null } };
    await admin.request('PATCH', `${PATH}/${name}`, free, { contentType: 'application/merge-patch+json' });
  }

  return {
    ...{ read, found, says, force },
    /** A rule for the site's own kind, by hand, for objects whose label `rule` has its name. */
    spec: (name: string, changes: Spec = {}): Spec => ({
      match: { group, version: 'v1', resource: 'buckets', labelSelector: { matchLabels: { rule: name } } },
      handler: 'by-hand',
      target: { bucket: 'object.metadata.name' },
      ...changes,
    }),
    /** The committed definition, as an installation would have it. */
    install: async () => void (await admin.apply([committedDefinition()])),
    /** As `kubectl apply --server-side`: what is left out is taken out. Unknown fields are refused. */
    apply: async (name: string, spec: Spec): Promise<LiveRule> => {
      made.add(name);
      const manifest = { apiVersion: API, kind: 'TeardownRule', metadata: { name }, spec };
      const query = 'fieldManager=person&force=true&fieldValidation=Strict';
      return z.parse(
        ruleSchema,
        await ask('PATCH', `${PATH}/${name}?${query}`, manifest, 'application/apply-patch+yaml'),
      );
    },
    /** As `kubectl patch --type merge`. */
    patch: async (name: string, spec: Spec) =>
      void (await ask('PATCH', `${PATH}/${name}`, { spec }, 'application/merge-patch+json')),
    /** As `kubectl delete --wait=false`. */
    delete: async (name: string) => void (await ask('DELETE', `${PATH}/${name}`)),
    /** Resolves when the rule's latest generation is ready. */
    ready: (name: string, within?: number) => says(name, 'Ready', { status: 'True', reason: 'Ready' }, within),
    gone: (name: string, within?: number) =>
      eventually(`rule ${name} is gone`, async () => (await read(name)) === undefined, within),
    /** The columns of `kubectl get`, `-o wide` included. */
    printed: async (name: string): Promise<Readonly<Record<string, unknown>>> => {
      const { url, caFile, adminToken } = admin;
      const agent = new Agent({ connect: { ca: readFileSync(caFile, 'utf8') } });
      try {
        const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
        const headers = { authorization: `Bearer ${adminToken}`, accept };
        const answer = await request(`${url}${PATH}/${name}`, { dispatcher: agent, headers });
        const { columnDefinitions, rows } = z.parse(table, await answer.body.json());
        return Object.fromEntries(columnDefinitions.map(({ name: column }, at) => [column, rows[0]?.cells[at]]));
      } finally {
        await agent.destroy();
      }
    },
    /** Takes away what was made here, withdrawn or not: the server is shared with other files. */
    removeAll: async () => {
      for (const name of made) await force(name);
    },
  };
}
