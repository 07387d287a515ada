/*
 * The alerts of the chart over series as a bridge gives them, by Prometheus' own engine: each fires when it should, also when a
 * counter appears for the first time or starts anew with another leader, and is silent when nothing is wrong. The same engine
 * reads what the dashboard asks.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod/mini';
import { CHART } from '../../infra/chart-files.ts';
import { findPromql } from '../../infra/local/promql.ts';
import { root } from '../support/tracked-files.ts';

const file = z.object({ alerts: z.array(z.object({ alert: z.string(), expr: z.string() })) });
const { alerts } = z.parse(file, parse(readFileSync(join(root, CHART, 'files/alerts.yaml'), 'utf8')));

/** Series of two hours, a sample a minute: `<value>x<more>` repeats, `_x<more>` is not there, `0+1x<more>` grows. */
type Series = Readonly<Record<string, string>>;

const BOTH_WELL: Series = {
  'finalizer_bridge_leader{instance="a"}': '1x120',
  'finalizer_bridge_leader{instance="b"}': '0x120',
  'finalizer_bridge_held{instance="a",rule="team",reason="NotOwned"}': '0x120',
  'finalizer_bridge_oldest_pending_seconds{instance="a",rule="team"}': '300x120',
  'finalizer_bridge_watching{instance="a",group="g",resource="buckets"}': '1x120',
  'finalizer_bridge_bypassed_total{instance="a",rule="team"}': '3x120',
  'finalizer_bridge_missed_total{instance="a",rule="team"}': '3x120',
  'finalizer_bridge_dead_letters_total{instance="a",rule="team"}': '3x120',
  'finalizer_bridge_results_total{instance="a",disposition="WrongSender"}': '3x120',
  'finalizer_bridge_results_total{instance="a",disposition="Gone"}': '0+5x120',
  'finalizer_bridge_requests_failed_total{instance="a",rule="team"}': '3x120',
  'finalizer_bridge_queue_calls_total{instance="a",call="send",outcome="failed"}': '3x120',
  'finalizer_bridge_queue_calls_total{instance="a",call="send",outcome="ok"}': '0+5x120',
  'finalizer_bridge_work_failures_total{instance="a",rule="team"}': '3x120',
  'finalizer_bridge_unclaimed{instance="a",rule="team"}': '0x120',
  'finalizer_bridge_strays{instance="a",rule="team",group="g",resource="buckets"}': '0x120',
};

/** What goes wrong, by alert; more than one way where there is more than one. */
const WRONG: Readonly<Record<string, readonly Series[]>> = {
  FinalizerBridgeHeld: [{ 'finalizer_bridge_held{instance="a",rule="team",reason="NotOwned"}': '0x100 2x20' }],
  FinalizerBridgeDeletionOverdue: [
    { 'finalizer_bridge_oldest_pending_seconds{instance="a",rule="team"}': '86000+60x120' },
  ],
  FinalizerBridgeNoLeader: [
    { 'finalizer_bridge_leader{instance="a"}': '0x120' },
    { 'finalizer_bridge_leader{instance="a"}': '_x120', 'finalizer_bridge_leader{instance="b"}': '_x120' },
  ],
  FinalizerBridgeTwoLeaders: [{ 'finalizer_bridge_leader{instance="b"}': '1x120' }],
  FinalizerBridgeBlind: [{ 'finalizer_bridge_watching{instance="a",group="g",resource="buckets"}': '1x100 0x20' }],
  FinalizerBridgeBypassed: [
    { 'finalizer_bridge_bypassed_total{instance="a",rule="team"}': '3x110 4x10' },
    { 'finalizer_bridge_bypassed_total{instance="a",rule="team"}': '_x110 1x10' },
    { 'finalizer_bridge_bypassed_total{instance="b",rule="team"}': '_x110 1x10' },
  ],
  FinalizerBridgeMissed: [
    { 'finalizer_bridge_missed_total{instance="a",rule="team"}': '3x110 4x10' },
    { 'finalizer_bridge_missed_total{instance="a",rule="team"}': '_x110 1x10' },
    { 'finalizer_bridge_missed_total{instance="b",rule="team"}': '_x110 1x10' },
  ],
  FinalizerBridgeDeadLetters: [
    { 'finalizer_bridge_dead_letters_total{instance="a",rule="team"}': '3x110 4x10' },
    { 'finalizer_bridge_dead_letters_total{instance="b",rule="team"}': '_x110 1x10' },
  ],
  FinalizerBridgeResultsRefused: [
    { 'finalizer_bridge_results_total{instance="a",disposition="WrongSender"}': '3x110 4x10' },
    { 'finalizer_bridge_results_total{instance="a",disposition="OtherCluster"}': '_x112 1x8' },
  ],
  FinalizerBridgeRequestsFailing: [
    { 'finalizer_bridge_requests_failed_total{instance="a",rule="team"}': '3x100 4+1x20' },
  ],
  FinalizerBridgeQueueFailing: [
    { 'finalizer_bridge_queue_calls_total{instance="a",call="send",outcome="failed"}': '3x100 4+1x20' },
  ],
  FinalizerBridgeWorkFailing: [{ 'finalizer_bridge_work_failures_total{instance="a",rule="team"}': '3x100 4+1x20' }],
  FinalizerBridgeUnclaimed: [{ 'finalizer_bridge_unclaimed{instance="a",rule="team"}': '0x100 7x20' }],
  FinalizerBridgeStrays: [
    { 'finalizer_bridge_strays{instance="a",rule="team",group="g",resource="buckets"}': '0x100 1x20' },
  ],
};

let promql: string;

beforeAll(async () => {
  promql = await findPromql((line) => void process.stderr.write(`${line}\n`));
}, 900_000);

/** What is not as expected: nothing when the alert gives as many series as told, two hours later. */
function faultsOf({ expr }: { readonly expr: string }, series: Series, firing: number): string {
  const load = Object.entries(series).map(([name, values]) => `  ${name} ${values}`);
  const expected = firing === 0 ? [] : [`  {} ${firing}`];
  const script = ['load 1m', ...load, '', `eval instant at 120m count(${expr})`, ...expected, ''].join('\n');
  const { status, stdout, stderr } = spawnSync(promql, { input: script, encoding: 'utf8' });
  return status === 0 ? '' : `code ${status}: ${stdout}${stderr}`;
}

describe.each(alerts)('the alert $alert', (alert) => {
  it('is silent while all is well', () => {
    expect(faultsOf(alert, BOTH_WELL, 0)).toBe('');
  });

  it('P7 fires in each of its ways', () => {
    const ways = WRONG[alert.alert] ?? [];

    expect(ways.length).toBeGreaterThan(0);
    expect(ways.map((way) => faultsOf(alert, { ...BOTH_WELL, ...way }, 1))).toEqual(ways.map(() => ''));
  });
});

const panels = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
});
const dashboard = z.parse(panels, JSON.parse(readFileSync(join(root, CHART, 'files/dashboard.json'), 'utf8')));
/** With what Grafana puts in. */
const asked = (expr: string) => expr.replaceAll('$rule', '.*').replaceAll('$__rate_interval', '5m');

describe.each(dashboard.panels)('the panel $title', ({ targets }) => {
  it('is read by Prometheus', () => {
    const faults = targets.map(({ expr }) => faultsOf({ expr: `vector(1) or (${asked(expr)}) < -1` }, BOTH_WELL, 1));

    expect(faults).toEqual(targets.map(() => ''));
  });
});

it('counts on the panel of figures what the leader does not see', () => {
  const [{ expr = '' } = {}] = dashboard.panels.find(({ title }) => title === 'Blind to')?.targets ?? [];
  const blind = { ...BOTH_WELL, ...WRONG.FinalizerBridgeBlind?.[0] };

  expect(faultsOf({ expr: `(${expr}) > 0` }, BOTH_WELL, 0)).toBe('');
  expect(faultsOf({ expr: `(${expr}) == 1` }, blind, 1)).toBe('');
});

it('would show an alert that does not fire', () => {
  expect(faultsOf({ expr: 'finalizer_bridge_held > 5' }, BOTH_WELL, 1)).not.toBe('');
});
