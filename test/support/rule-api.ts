/*
 * TeardownRules on the run's API server, from the committed definition. Used by the end-to-end tests of the definition.
 * What is only tried is a dry run, so that nothing has to be taken away again.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { RULE_API_VERSION, RULE_KIND, RULE_RESOURCE } from '../../bridge/rule-facts.ts';
import { DEFINITION_PATH } from '../../infra/crd/definition.ts';
import type { KubeClient } from '../../infra/local/kube-client.ts';
import type { Spec } from './rule-corpus.ts';

const PATH = `/apis/${RULE_API_VERSION}/${RULE_RESOURCE}`;
const definition = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
const ruleSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), generation: z.int(), resourceVersion: z.optional(z.string()) }),
  spec: z.record(z.string(), z.unknown()),
  status: z.optional(z.record(z.string(), z.unknown())),
});
const refusal = z.object({ message: z.string() });

/** A rule as the API server has it. */
export type StoredRule = z.output<typeof ruleSchema>;

/** What the API server says to a write. */
export type Answer =
  | { readonly accepted: true; readonly rule: StoredRule }
  | { readonly accepted: false; readonly message: string };

/** The committed definition, as a manifest. */
export function committedDefinition(): z.output<typeof definition> {
  const text = readFileSync(join(import.meta.dirname, '../..', DEFINITION_PATH), 'utf8');
  return z.parse(definition, parse(text));
}

/** The verbs of the resource. Unknown fields are refused, as kubectl does. */
export function rulesOf(kube: KubeClient) {
  async function send(method: string, path: string, body: unknown, query = ''): Promise<Answer> {
    const { status, body: answer } = await kube.request(method, `${path}?fieldValidation=Strict${query}`, body);
    return status < 300
      ? { accepted: true, rule: z.parse(ruleSchema, answer) }
      : { accepted: false, message: z.parse(refusal, answer).message };
  }
  const manifest = (name: string, spec: unknown) => ({
    apiVersion: RULE_API_VERSION,
    kind: RULE_KIND,
    metadata: { name },
    spec,
  });
  return {
    apply: async () => void (await kube.apply([committedDefinition()])),
    /** Whether a rule would be taken, and what it would be. */
    tryCreate: (spec: unknown, name = 'tried') => send('POST', PATH, manifest(name, spec), '&dryRun=All'),
    create: (name: string, spec: Spec) => send('POST', PATH, manifest(name, spec)),
    tryReplace: (rule: StoredRule) => send('PUT', `${PATH}/${rule.metadata.name}`, rule, '&dryRun=All'),
    replaceStatus: (rule: StoredRule) => send('PUT', `${PATH}/${rule.metadata.name}/status`, rule),
    remove: async (name: string) => void (await kube.request('DELETE', `${PATH}/${name}`)),
    path: PATH,
  };
}
