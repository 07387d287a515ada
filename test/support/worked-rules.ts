/*
 * The files of docs/worked-rules, read by the bridge's own schema: rules, the objects beside them, what is computed of
 * both, and the tags outside. Used by tests of the worked rules; a file that does not read fails them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod/mini';
import { ownershipSchema, ruleName, targetSchema } from '../../bridge/contract.ts';
import { type TeardownRuleSpec, teardownRuleSpec } from '../../bridge/rule-schema.ts';

const docs = join(import.meta.dirname, '../../docs');
/** The page of worked rules. */
export const page = readFileSync(join(docs, 'worked-rules.md'), 'utf8');
/** Names of all files beside it. */
export const files = readdirSync(join(docs, 'worked-rules')).sort();
/** The text of one of them. */
export const read = (name: string) => readFileSync(join(docs, 'worked-rules', name), 'utf8');

const texts = z.record(z.string(), z.string());
const ruleDocument = z.strictObject({
  apiVersion: z.literal('finalizer-bridge.dev/v1alpha1'),
  kind: z.literal('TeardownRule'),
  metadata: z.strictObject({ name: ruleName }),
  spec: teardownRuleSpec,
});
const sampleObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.optional(z.string()),
    uid: z.uuid(),
    labels: z._default(texts, {}),
    annotations: z._default(texts, {}),
    finalizers: z.array(z.string()),
  }),
});
const evaluations = z.array(
  z.strictObject({
    rule: ruleName,
    target: targetSchema,
    ownership: ownershipSchema,
    policy: z.enum(['Delete', 'Retain']),
  }),
);
/** Tags of the outside resource: those that its provisioner sets by itself, and those that somebody has to add. */
const sampleTags = z.strictObject({ provisioner: texts, added: texts });

/** The object of a worked rule. */
export const objectOf = (file: string) => sampleObject.parse(parse(read(`${file}.object.yaml`)));
/** What the bridge is said to compute for each of its rules. */
export const expectedOf = (file: string) => evaluations.parse(parse(read(`${file}.evaluated.yaml`)));

/** Its rules. */
export function rulesOf(file: string) {
  return parseAllDocuments(read(`${file}.rule.yaml`)).map((document) => {
    const [fault] = [...document.errors, ...document.warnings];
    if (fault !== undefined) throw new Error(`reading ${file}.rule.yaml`, { cause: fault });
    return ruleDocument.parse(document.toJS());
  });
}

/** One of them. */
export function ruleCalled(file: string, name: string): TeardownRuleSpec {
  const found = rulesOf(file).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`looking for the rule ${name} in ${file}`);
  return found.spec;
}

/** Tags of its outside resource. */
export const tagsOf = (file: string) => sampleTags.parse(parse(read(`${file}.tags.yaml`)));
