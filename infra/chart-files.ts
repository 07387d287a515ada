/*
 * The files of the chart that are made from sources: the definition of TeardownRule as a template, the schema of the values,
 * the dashboard, and the table of values in the README. Used by chart.ts (`npm run chart`) and by the test that keeps them
 * from drifting.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { admissionTemplates } from './chart-admission.ts';
import { dashboardJson } from './chart-dashboard.ts';
import { chartValues } from './chart-values.ts';
import { type DescribedValue, describedValues } from './chart-words.ts';
import { definitionYaml } from './crd/definition.ts';
import type { GeneratedFile } from './generated.ts';
import { rightsPage } from './rights/page.ts';

const root = join(import.meta.dirname, '..');
/** The chart, from the root of the project. */
export const CHART = 'infra/chart';

/** All of them. */
export function chartFiles(): readonly GeneratedFile[] {
  const values = describedValues(readFileSync(join(root, CHART, 'values.yaml'), 'utf8'));
  const readme = readFileSync(join(root, CHART, 'README.md'), 'utf8');
  return [
    { path: `${CHART}/templates/crd.yaml`, text: definitionTemplate(definitionYaml()) },
    ...admissionTemplates(),
    { path: `${CHART}/values.schema.json`, text: schemaText(values) },
    { path: `${CHART}/files/dashboard.json`, text: dashboardJson() },
    { path: `${CHART}/README.md`, text: withTable(readme, values) },
    rightsPage(),
  ];
}

const METADATA = `  labels:
    {{- include "finalizer-bridge.labels" . | nindent 4 }}
  {{- if .Values.crds.keep }}
  annotations:
    helm.sh/resource-policy: keep
  {{- end }}
`;

/** The definition as a template: among the others and not in crds/, so that an upgrade brings it up to date. */
export function definitionTemplate(definition: string): string {
  if (definition.includes('{{'))
    throw new Error('making a template of the definition: it holds braces that Helm reads');
  const [head = '', ...lines] = definition.split(/^(?=apiVersion)/m);
  const body = lines.join('').replace(/^metadata:\n {2}name: .*\n/m, (metadata) => metadata + METADATA);
  return `{{- /* ${head.replace(/^# /, '').trim()} */}}\n{{- if .Values.crds.enabled }}\n${body}{{- end }}\n`;
}

const schemaNode = z.looseObject({ properties: z.optional(z.record(z.string(), z.unknown())) });

/** JSON Schema in the dialect that every Helm reads, each value with what values.yaml says of it. */
function schemaText(values: readonly DescribedValue[]): string {
  const schema = z.toJSONSchema(chartValues, { target: 'draft-7', io: 'input' });
  const words = new Map(values.map(({ path, description }) => [path.join('.'), description]));
  const described = (node: unknown, path: readonly string[]): unknown => {
    const { success, data } = schemaNode.safeParse(node);
    if (!success) return node;
    const { properties, ...rest } = data;
    const description = words.get(path.join('.'));
    const inner = Object.entries(properties ?? {}).map(([key, value]) => [key, described(value, [...path, key])]);
    return {
      ...(description === undefined ? {} : { description }),
      ...rest,
      ...(properties === undefined ? {} : { properties: Object.fromEntries(inner) }),
    };
  };
  return `${JSON.stringify(described(schema, []), null, 2)}\n`;
}

const BEGIN = '<!-- values: made by npm run chart from values.yaml -->\n';
const END = '<!-- end of the values -->\n';

/** A README with the table of values between its marks. */
export function withTable(readme: string, values: readonly DescribedValue[]): string {
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (from < 0 || to < from) throw new Error('putting the values into the README of the chart: it lacks the marks');
  return readme.slice(0, from) + BEGIN + tableOf(values) + readme.slice(to);
}

function tableOf(values: readonly DescribedValue[]): string {
  const rows = values.map(({ path, default: value, description }) => {
    const shown = JSON.stringify(value).replaceAll('|', '\\|');
    return `| \`${path.join('.')}\` | \`${shown}\` | ${description.replaceAll('|', '\\|')} |\n`;
  });
  return `\n| value | default | what it means |\n|---|---|---|\n${rows.join('')}\n`;
}
