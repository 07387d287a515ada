/*
 * The API server's own CEL in the hands of a test: whether texts compile, and what they give over objects. The
 * expressions stand in ValidatingAdmissionPolicies that fail on every probe with the value as their error, or with the
 * expression's own error. Used by test/e2e/cel-corpus.test.ts. Probes are dry runs: nothing is stored but the kind.
 */
import * as z from 'zod/mini';
import type { Manifest } from '../../infra/local/kube-apply.ts';
import type { KubeClient } from '../../infra/local/kube-client.ts';
import { eventually } from './eventually.ts';

const POLICY_API = 'admissionregistration.k8s.io/v1';
const POLICIES = `/apis/${POLICY_API}/validatingadmissionpolicies`;
const BINDINGS = `/apis/${POLICY_API}/validatingadmissionpolicybindings`;
/** Every probe evaluates the conditions of its policy, so many small policies are quicker than a large one. */
const PER_POLICY = 40;
const LANES = 8;

/** What an expression gave: a value that the bridge can use, one that it cannot (by type), or an error. */
export type ServerOutcome =
  | { readonly kind: 'value'; readonly value: string | boolean | number | readonly string[] }
  | { readonly kind: 'other'; readonly type: string }
  | { readonly kind: 'error'; readonly message: string };

/** An expression and the objects to evaluate it over. */
export interface Probe {
  readonly expression: string;
  readonly subjects: readonly unknown[];
}

const refusal = z.object({
  message: z.string(),
  details: z.optional(
    z.object({ causes: z._default(z.array(z.object({ field: z.optional(z.string()), message: z.string() })), []) }),
  ),
});

/** A value as one line of text: its type, and itself if the bridge could use it. `value` is bound around it. */
const RENDERED = [
  "type(value) == string ? 'string ' + strings.quote(value)",
  "type(value) == bool ? 'bool ' + string(value)",
  "type(value) == int ? 'int ' + string(value)",
  "type(value) == list && value.all(item, type(item) == string) ? 'list ' + value.map(item, strings.quote(item)).join(' ')",
  ...['double', 'uint', 'map', 'list', 'null_type', 'bytes'].map((type) => `type(value) == ${type} ? 'other ${type}'`),
  "'other'",
].join(' : ');
const MARK = 'the value is: ';

/**
 * Looks the value's text up in a map that does not have it, which is an error that names it; an error of the expression
 * itself comes through as it is. The expression sees `object.subject` as `object`, and stands on lines of its own, so
 * that a comment in it ends.
 */
function probing(expression: string): string {
  const rendered = `[object.subject].map(object, [dyn(\n${expression}\n)].map(value, ${RENDERED})[0])[0]`;
  return `{'': true}['${MARK}' + ${rendered}]`;
}

/** The API server's CEL, for one test file. `name` is a DNS label of its own. */
export async function celServer(kube: KubeClient, name: string) {
  const group = `${name}.e2e.example.com`;
  const ofKind = { apiVersion: `${group}/v1`, kind: 'CelProbe', metadata: { name: 'probe' } };
  await kube.apply([probeKind(group)]);

  /** What the API server says to a probe; undefined when it has no objection. */
  async function send(probe: string, subject: unknown): Promise<string | undefined> {
    const path = `/apis/${group}/v1/celprobes?dryRun=All`;
    const { status, body } = await kube.request('POST', path, { ...ofKind, probe, subject });
    return status < 300 ? undefined : z.parse(refusal, body).message;
  }

  // Every policy has a name of its own, since one that was deleted stays in force for a while.
  let policies = 0;
  const policy = (index: number, expressions: readonly string[]) => ({
    apiVersion: POLICY_API,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: `${name}-${index}` },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: ['celprobes'] }],
      },
      matchConditions: [{ name: 'asked', expression: `object.probe.startsWith('${index}-')` }],
      validations: [...expressions, "'ready'"].map((expression, place) => ({
        expression: `object.probe != '${index}-${place}' || ${probing(expression)}`,
      })),
    },
  });

  return {
    /** Which of the texts do not compile, with the reason. */
    async refused(expressions: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const { status, body } = await kube.request('POST', `${POLICIES}?dryRun=All`, policy(0, expressions));
      const found = new Map<string, string>();
      if (status < 300) return found;
      for (const { field = '', message } of z.parse(refusal, body).details?.causes ?? []) {
        const place = /^spec\.validations\[(\d+)\]\.expression$/.exec(field)?.[1];
        const expression = expressions[Number(place)];
        if (expression !== undefined) found.set(expression, message.replace(/^.*compilation failed: /s, ''));
      }
      if (found.size === 0) throw new Error(`compiling: ${JSON.stringify(body).slice(0, 2000)}`);
      return found;
    },

    /** What every expression, all of which compile, gives over its objects, in their order. */
    async evaluate(probes: readonly Probe[]): Promise<readonly (readonly ServerOutcome[])[]> {
      const first = policies;
      policies += Math.ceil(probes.length / PER_POLICY);
      const groups = Array.from({ length: policies - first }, (_, index) =>
        probes.slice(index * PER_POLICY, (index + 1) * PER_POLICY),
      );
      const made = groups.map((group, index) =>
        policy(
          first + index,
          group.map(({ expression }) => expression),
        ),
      );
      try {
        await inParallel(made, (one) => kube.apply([one, binding(one.metadata.name)]));
        await inParallel(groups, ({ length }, index) =>
          // Behind the group's last expression stands one that has a value.
          eventually(
            'the policy is in force',
            async () => (await send(`${first + index}-${length}`, {})) !== undefined,
          ),
        );
        return await inParallel(probes, async ({ subjects }, at) => {
          const probe = `${first + Math.floor(at / PER_POLICY)}-${at % PER_POLICY}`;
          const outcomes: ServerOutcome[] = [];
          for (const subject of subjects) outcomes.push(decoded((await send(probe, subject)) ?? ''));
          return outcomes;
        });
      } finally {
        for (const { metadata } of made) {
          await kube.request('DELETE', `${BINDINGS}/${metadata.name}`);
          await kube.request('DELETE', `${POLICIES}/${metadata.name}`);
        }
      }
    },

    /** Takes the kind away again. */
    remove: async () =>
      void (await kube.request('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/celprobes.${group}`)),
  };
}

/** A kind whose objects hold anything. */
function probeKind(group: string): Manifest {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `celprobes.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'celprobes', singular: 'celprobe', kind: 'CelProbe', listKind: 'CelProbeList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

function binding(policyName: string): Manifest {
  return {
    apiVersion: POLICY_API,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: policyName },
    spec: { policyName, validationActions: ['Deny'] },
  };
}

async function inParallel<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const lane = async () => {
    for (const [index, item] of queue) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

/** Takes the error apart: `… resulted in error: no such key: the value is: <type> <value>`, or of the expression's own. */
function decoded(message: string): ServerOutcome {
  const error = /resulted in error: (.*)$/s.exec(message)?.[1];
  if (error === undefined) throw new Error(`probing: no error in "${message}"`);
  const [, type, text = ''] = new RegExp(`^no such key: ${MARK}(\\w+) ?(.*)$`, 's').exec(error) ?? [];
  switch (type) {
    case undefined:
      return { kind: 'error', message: error };
    case 'string':
      return { kind: 'value', value: unquoted(text)[0] ?? '' };
    case 'bool':
      return { kind: 'value', value: text === 'true' };
    case 'int':
      return Number.isSafeInteger(Number(text))
        ? { kind: 'value', value: Number(text) }
        : { kind: 'other', type: 'int' };
    case 'list':
      return { kind: 'value', value: unquoted(text) };
    default:
      return { kind: 'other', type: text };
  }
}

const ESCAPES: Readonly<Record<string, string>> = { a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** Undoes `strings.quote` for any number of texts in a row. */
function unquoted(text: string): readonly string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(([, inner = '']) =>
    inner.replace(/\\(.)/gs, (_all, character: string) => ESCAPES[character] ?? character),
  );
}
