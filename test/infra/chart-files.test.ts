/*
 * What the chart says of itself, held against what it is made of: generated files, the words for values, the schema that knows
 * the defaults and nothing else, the metrics that dashboard and alerts name, and where alerts send people.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod/mini';
import { createMetrics } from '../../bridge/metrics.ts';
import { CHART, chartFiles, definitionTemplate, withTable } from '../../infra/chart-files.ts';
import { chartValues } from '../../infra/chart-values.ts';
import { describedValues, leavesOf } from '../../infra/chart-words.ts';
import { root } from '../support/tracked-files.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const valuesText = read(`${CHART}/values.yaml`);

const alertsSchema = z.object({
  alerts: z.array(
    z.strictObject({
      alert: z.string(),
      expr: z.string(),
      for: z.optional(z.string()),
      severity: z.enum(['warning', 'critical']),
      anchor: z.string(),
      summary: z.string(),
      description: z.string(),
    }),
  ),
});
const { alerts } = z.parse(alertsSchema, parse(read(`${CHART}/files/alerts.yaml`)));

/** Names as Prometheus has them: a histogram is three. */
async function metricNames(): Promise<ReadonlySet<string>> {
  const metrics = await createMetrics().registry.getMetricsAsJSON();
  const parts = (name: string, type: unknown) =>
    String(type) === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name];
  return new Set(metrics.flatMap(({ name, type }) => parts(name, type)));
}

/** The headings of a page, as its links name them. */
const anchorsOf = (page: string) =>
  new Set(
    [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^-\w ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );

const namesIn = (text: string) => text.match(/\bfinalizer_bridge_\w+/g) ?? [];

describe('the files of the chart', () => {
  it.each(chartFiles())('$path is what its sources give (npm run chart)', ({ path, text }) => {
    expect(read(path)).toBe(text);
  });

  it('are not made of a definition that Helm would read as a template', () => {
    expect(() => definitionTemplate('# Generated\napiVersion: v1\nspec: "{{ .Values }}"\n')).toThrow('braces');
  });

  it('have a README that lacks its marks refused', () => {
    expect(() => withTable('# Chart\n', [])).toThrow('lacks the marks');
  });
});

describe('the values', () => {
  it('are all described, by themselves or with the ones around them', () => {
    const described = describedValues(valuesText).map(({ path }) => path.join('.'));
    const isDescribed = (path: readonly string[]) =>
      path.some((_, at) => described.includes(path.slice(0, at + 1).join('.')));

    expect(leavesOf(parse(valuesText)).filter((path) => !isDescribed(path))).toEqual([]);
  });

  it('satisfy their own schema, and one that nobody knows does not', () => {
    const values = z.parse(z.record(z.string(), z.unknown()), parse(valuesText));

    expect(chartValues.safeParse(values)).toMatchObject({ success: true });
    expect(chartValues.safeParse({ ...values, replica: 3 })).toMatchObject({ success: false });
  });
});

describe('what is watched', () => {
  it('P7 is made of metrics that the bridge has', async () => {
    const known = await metricNames();
    const dashboard = namesIn(read(`${CHART}/files/dashboard.json`));
    const named = [...dashboard, ...alerts.flatMap(({ expr }) => namesIn(expr))];

    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('P7 shows every metric that the bridge has on the dashboard', async () => {
    const shown = new Set(namesIn(read(`${CHART}/files/dashboard.json`)));
    const left = [...(await metricNames())].filter((name) => !shown.has(name));

    // Of a histogram only the buckets are drawn; deadlines show as the reason of what is held.
    expect(left).toEqual([
      'finalizer_bridge_deadline_exceeded_total',
      'finalizer_bridge_deletion_duration_seconds_sum',
      'finalizer_bridge_deletion_duration_seconds_count',
    ]);
  });

  it('sends people to a heading that is there', () => {
    const anchors = anchorsOf(read('docs/operations.md'));

    expect(alerts.filter(({ anchor }) => !anchors.has(anchor))).toEqual([]);
  });

  it('has a row for every metric of an alert, that says what it means', () => {
    const rows = new Set(
      namesIn(
        read('docs/operations.md')
          .match(/^\| `finalizer_bridge_.*$/gm)
          ?.join() ?? '',
      ),
    );

    expect(alerts.flatMap(({ expr }) => namesIn(expr)).filter((name) => !rows.has(name))).toEqual([]);
  });

  it('has alerts of different names', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });
});
