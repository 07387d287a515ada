/*
 * What a cold start of a function costs: its sizes, held to the budgets, and its init time, measured in processes of their
 * own. Used by cold-start.ts and by its test.
 */
import { spawnSync } from 'node:child_process';
import { CONFIG_VARIABLE } from '../../functions/config.ts';
import type { Bundle } from '../../infra/bundle.ts';
import { BUNDLE_MAX_BYTES, OWN_MAX_BYTES, ownBytesOf } from '../../infra/function-budgets.ts';
import { DEAD_LETTERS } from '../../infra/functions/names.ts';

/** Figures of one function. */
export interface ColdStart {
  readonly name: string;
  /** Bytes, minified. */
  readonly bytes: number;
  readonly ownBytes: number;
  /** Median over several processes. */
  readonly initMs: number;
}

/** Imports the bundle named by the first argument, and says how long that took and what the handler is. */
const PROBE = `const began = performance.now();
const { handler } = await import(process.argv[1]);
console.log(JSON.stringify({ ms: performance.now() - began, is: typeof handler }));`;

const RESULTS = 'https://sqs.eu-west-1.amazonaws.com/111122223333/results';
const clusters = [{ uid: 'cluster', sender: 'AROAEXAMPLE', resultQueueUrl: RESULTS }];

/** A configuration that the function starts with. */
function configOf(name: string): object {
  if (name === DEAD_LETTERS) return { clusters, archiveQueueUrl: RESULTS };
  const allow = { accounts: ['111122223333'], regions: ['eu-west-1'], names: ['*'] };
  return { handler: name, clusters, allow, ...(name === 'webhook' ? { settings: { webhooks: {} } } : {}) };
}

/**
 * Starts a function several times.
 * @throws Error with what the process said, where it does not start or has no handler
 */
export function coldStartOf(bundle: Bundle, runs: number): ColdStart {
  const env = { AWS_REGION: 'eu-west-1', [CONFIG_VARIABLE]: JSON.stringify(configOf(bundle.name)) };
  const times = Array.from({ length: runs }, () => {
    const args = ['--input-type=module', '--eval', PROBE, bundle.file];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    const said = /^\{"ms":([\d.]+),"is":"function"\}\n$/.exec(stdout);
    if (status !== 0 || said === null) throw new Error(`starting ${bundle.name}: ${stdout}${stderr}`);
    return Number(said[1]);
  });
  const initMs = times.toSorted((left, right) => left - right)[Math.floor(runs / 2)] ?? Number.NaN;
  return { name: bundle.name, bytes: bundle.bytes, ownBytes: ownBytesOf(bundle), initMs };
}

/** What is above its budget. */
export function faultsOf({ name, bytes, ownBytes }: Omit<ColdStart, 'initMs'>): readonly string[] {
  const most = BUNDLE_MAX_BYTES[name];
  return [
    ...(most === undefined ? [`${name}: infra/function-budgets.ts says nothing of its size`] : []),
    ...(most !== undefined && bytes >= most ? [`${name}: ${bytes} bytes, at most ${most}`] : []),
    ...(ownBytes >= OWN_MAX_BYTES ? [`${name}: ${ownBytes} bytes without the SDK, at most ${OWN_MAX_BYTES}`] : []),
  ];
}

/** The figures for people, sizes beside their budgets. */
export function tableOf(starts: readonly ColdStart[]): string {
  const kilo = (bytes: number | undefined) => (bytes === undefined ? '?' : (bytes / 1000).toFixed(1));
  const rows = [
    ['function', 'KB', 'of', 'KB without SDK', 'of', 'init ms'],
    ...starts.map(({ name, bytes, ownBytes, initMs }) => [
      ...[name, kilo(bytes), kilo(BUNDLE_MAX_BYTES[name]), kilo(ownBytes), kilo(OWN_MAX_BYTES), initMs.toFixed(0)],
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ');
  return rows.map(line).join('\n');
}
