/*
 * Rule files as the tests of rules write them, and what becomes of them: a rule, or faults by path.
 * Used by test/bridge/rules*.test.ts.
 */
import type { Rule } from '../../bridge/rule.ts';
import { parseRules } from '../../bridge/rules.ts';

/** The spec that a test changes. */
export const spec = {
  match: { group: 'storage.example.com', version: 'v1', resource: 'buckets' },
  handler: 's3-bucket',
  target: { bucket: 'object.status.bucketName' },
};

/** The text of a file with one rule, in JSON, which is YAML. */
export function fileWith(change: object, metadata: object = { name: 'team-buckets' }): string {
  return JSON.stringify({ metadata, spec: { ...spec, ...change } });
}

/** The only rule of a text. @throws Error when it is refused. */
export function ruleFrom(text: string): Rule {
  const parsed = parseRules(text, 'rules.yaml');
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const [rule] = parsed.rules;
  if (rule === undefined || parsed.rules.length !== 1) throw new Error(`${parsed.rules.length} rules`);
  return rule;
}

/** What is wrong with a text, by path. @throws Error when nothing is. */
export function faultsOf(text: string): Readonly<Record<string, string>> {
  const parsed = parseRules(text, 'rules.yaml');
  if (parsed.ok) throw new Error(`accepted ${parsed.rules.map(({ name }) => name).join()}`);
  return Object.fromEntries(parsed.faults.map(({ path, message }) => [path, message]));
}
