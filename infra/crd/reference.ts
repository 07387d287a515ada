/*
 * docs/rules.md: the reference of TeardownRule for people, made from the schema that the API server enforces and from
 * the functions that expressions have. Used by files.ts.
 */
import { stringify } from 'yaml';
import { AT_ADMISSION, RACE } from '../../bridge/at-admission.ts';
import { ACCEPTANCES, NOT_JUDGED, PERMISSIONS, REFUSALS, WATCHINGS } from '../../bridge/rule-facts.ts';
import { bullets, wrapped } from '../wrap.ts';
import { ruleSchema } from './definition.ts';
import { exampleObject, expressionNotes, functionFacts, stricterThanTheServer } from './expressions.ts';
import { lastingTargetPart } from './lasting-target.ts';
import type { Schema } from './schema.ts';

/** Where the reference is kept, from the root of the project. */
export const REFERENCE_PATH = 'docs/rules.md';

const EXAMPLE = `apiVersion: finalizer-bridge.dev/v1alpha1
kind: TeardownRule
metadata:
  name: team-buckets
spec:
  match:
    group: storage.example.com
    version: v1
    resource: buckets
    labelSelector: { matchLabels: { tier: prod } }
  handler: s3-bucket
  target:
    bucket: object.status.bucketName
    region: object.spec.region
    account: "'111122223333'"
  policy: "object.metadata.annotations[?'team.example.com/on-delete'].orValue('Delete')"
  waitFor: { finalizers: [kubernetes.io/pvc-protection], atMost: 10m }
  budget: { limit: 50, window: 1h }
`;

interface Row {
  readonly path: string;
  readonly node: Schema;
  readonly required: boolean;
}

/** Every field below a node, parents first. `path` is what the node itself is called. */
function rowsOf(node: Schema, path: string): readonly Row[] {
  const fields = Object.entries(node.properties ?? {}).flatMap(([key, inner]) => {
    const at = `${path}.${key}`;
    return [{ path: at, node: inner, required: node.required?.includes(key) ?? false }, ...rowsOf(inner, at)];
  });
  return [
    ...fields,
    ...(node.items ? rowsOf(node.items, `${path}[]`) : []),
    ...(node.additionalProperties ? rowsOf(node.additionalProperties, `${path}.*`) : []),
  ];
}

function typeOf(node: Schema): string {
  if (node.enum && node.type === 'string') return node.enum.map((word) => `\`${String(word)}\``).join(', ');
  if (node.format === 'date-time') return 'time';
  if (node.items) return `list of ${typeOf(node.items)}s`;
  if (node.additionalProperties) return 'map of strings';
  return node.type;
}

/** What is checked of a value beyond its type, in words. */
function boundsOf(node: Schema): readonly string[] {
  const range = (what: string, least: number | undefined, most: number | undefined) => {
    if (least === undefined && most === undefined) return [];
    if (least === undefined || most === undefined)
      return [`${least === undefined ? `at most ${most}` : `at least ${least}`}${what}`];
    return [`${least} to ${most}${what}`];
  };
  return [
    ...range('', node.minimum, node.maximum),
    ...(node.enum ? [] : range(' characters', node.minLength, node.maxLength)),
    ...range(' items', node.minItems, node.maxItems),
    ...range(' keys', node.minProperties, node.maxProperties),
  ];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function fieldTable(node: Schema, path: string): string {
  const lines = rowsOf(node, path).map(({ path: at, node: inner, required }) => {
    const fallback = required
      ? '*required*'
      : inner.default === undefined
        ? ''
        : `\`${JSON.stringify(inner.default)}\``;
    const bounds = boundsOf(inner);
    const meaning = [inner.description ?? '', bounds.length > 0 ? `(${bounds.join(', ')})` : '']
      .filter(Boolean)
      .join(' ');
    return `| \`${at.replace(/^\./, '')}\` | ${cell(typeOf(inner))} | ${cell(fallback)} | ${cell(meaning)} |`;
  });
  return ['| field | type | default | meaning |', '|---|---|---|---|', ...lines].join('\n');
}

function refusals(): string {
  const lines = [{ path: '', node: ruleSchema, required: true }, ...rowsOf(ruleSchema, '')].flatMap(
    ({ path, node }) => {
      const own = node['x-kubernetes-validations'] ?? [];
      const ofItems = node.items?.['x-kubernetes-validations'] ?? [];
      const ofValues = node.additionalProperties?.['x-kubernetes-validations'] ?? [];
      const at = path === '' ? 'metadata.name' : path.replace(/^\./, '');
      return [...own, ...ofItems, ...ofValues].map(({ message }) => `\`${at}\`: ${message}`);
    },
  );
  return bullets([...new Set(lines)]);
}

function functionTable(): string {
  const lines = functionFacts.map(({ names, purpose, examples }) => {
    const shown = examples
      .map(([expression, gives]) => `\`${expression}\` is \`${JSON.stringify(gives)}\``)
      .join('<br>');
    return `| ${names.map((name) => `\`${name}\``).join(', ')} | ${cell(purpose)} | ${cell(shown)} |`;
  });
  return ['| function | for | examples |', '|---|---|---|', ...lines].join('\n');
}

function acceptedTable(): string {
  const rows = (status: string, reasons: Readonly<Record<string, string>>) =>
    Object.entries(reasons).map(([reason, meaning]) => `| ${status} | \`${reason}\` | ${cell(meaning)} |`);
  return [
    ...['| `Accepted` | reason | meaning |', '|---|---|---|'],
    ...[...rows('True', ACCEPTANCES), ...rows('False', REFUSALS), ...rows('Unknown', { NotJudged: NOT_JUDGED })],
  ].join('\n');
}

function reasonTable(
  type: string,
  reasons: Readonly<Record<string, { readonly status: string; readonly meaning: string }>>,
): string {
  const rows = Object.entries(reasons).map(
    ([reason, { status, meaning }]) => `| ${status} | \`${reason}\` | ${cell(meaning)} |`,
  );
  return [`| \`${type}\` | reason | meaning |`, '|---|---|---|', ...rows].join('\n');
}

const READY = `While nobody watches the kind, the counts of the status stay as they were: what is not seen may still be there.

\`Ready\` is \`True\` when all three are; otherwise it repeats the first that is not. An accepted rule also says
\`Ready=False/StatusNotKept\` where the definition of \`TeardownRule\` in the cluster lacks a field of the status that the bridge
goes by after a restart, as an older one does: the API server then drops what is written there. The message names the field;
[operations](operations.md#the-status-is-not-kept) says what to do.`;

/** The whole text of the reference. */
export function ruleReference(): string {
  return `<!-- Generated from infra/crd (npm run crd): edit there. -->
# Rules

${wrapped(ruleSchema.description ?? '')}

\`kubectl get teardownrules\`, or \`tdr\` for short. A rule is cluster-scoped; its name becomes the name of the finalizer,
\`finalizer-bridge.dev/<name>\`. Who may write rules may read the kinds they match and have their targets taken down: give
that right as carefully as the right to delete.

\`\`\`yaml
${EXAMPLE}\`\`\`

${fieldsPart()}

${lastingTargetPart()}

${expressionsPart()}
`;
}

function fieldsPart(): string {
  const { spec, status } = ruleSchema.properties ?? {};
  if (spec === undefined || status === undefined)
    throw new Error('writing the reference: a rule has no spec or status');
  return `## Fields

${fieldTable(spec, 'spec')}

Durations are written as in Go: \`90s\`, \`10m\`, \`1h30m\`, \`1.5h\`.

## What is refused at once

${refusals()}

## What only the bridge can tell

It says so in the condition \`Accepted\`. A rule that is not accepted is judged again by itself; meanwhile nothing is published
for it, and pending objects say \`RuleNotAccepted\`. Until then the generation that was accepted last decides what a result, a
person's release and \`Retain\` mean, also over a restart: \`status.lastAccepted\` keeps it.

${acceptedTable()}

Which paths a kind has is read from the API server's OpenAPI documents (\`/openapi/v3\`), which everybody may read unless
that right was taken away. While they cannot be read a rule is accepted all the same, and the message says that its paths
were not checked. When a definition changes, its rules are judged again by themselves.

Whether it may do what an accepted rule needs, and whether it sees the objects, stands in two more:

${reasonTable('Permitted', PERMISSIONS)}

${reasonTable('Watching', WATCHINGS)}

${READY}

## Status

${fieldTable(status, 'status')}

${atBirthPart()}`;
}

function atBirthPart(): string {
  const rows = Object.entries(AT_ADMISSION).map(
    ([reason, { status, meaning }]) => `| \`${status}\` | \`${reason}\` | ${cell(meaning)} |`,
  );
  return `## The entry at birth

Where the API server serves \`MutatingAdmissionPolicy\` v1 (Kubernetes 1.36), and the policy that is installed with the bridge
has a binding for the rule's kind, objects carry the entry from their first moment. Everywhere else, and on objects that are
older than the rule, the bridge puts it on as soon as it sees them.
${RACE}

The condition \`FinalizerAtAdmission\` says which of the two it is. The bridge has no right on policies: it looks at new
objects as they come, and at their \`managedFields\`, as an entry that comes from the policy has no owner there. What it
has seen last stands until it sees another. The condition never makes a rule not ready.

| status | reason | meaning |
|---|---|---|
${rows.join('\n')}`;
}

function expressionsPart(): string {
  return `## Expressions

Targets, tags and the policy are written in [CEL](https://cel.dev), and mean what they mean in the API server's own CEL.

${bullets(expressionNotes)}

Operators: \`+ - * / %\`, \`== != < <= > >=\`, \`&& || !\`, \`? :\`, \`in\`, \`.field\`, \`[index]\`, \`.?field\`, \`[?index]\`.
The examples are about this object:

\`\`\`yaml
${stringify(exampleObject, { flowCollectionPadding: true })}\`\`\`

${functionTable()}

Stricter than the API server: refused when the rule is read, or invalid when evaluated, are

${bullets(stricterThanTheServer)}`;
}
