/*
 * The chart on an API server of its own, installed, upgraded and uninstalled by helm, with queues and a function beside it.
 * Bridge and drain run as processes of what the chart describes (chart-kubelet.ts). Used by the end-to-end tests of the chart.
 */

import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { freePorts } from '../../infra/local/free-port.ts';
import { type Kube, startKube } from '../../infra/local/kube.ts';
import { built } from './built.ts';
import { CHART_FOLDER, type Helm, startHelm, type Values } from './chart.ts';
import { type Container, type Node, runDeployment } from './chart-kubelet.ts';
import { eventually } from './eventually.ts';
import { bridgeBundle, cliBundle } from './made-once.ts';
import { restarted } from './restarted.ts';
import { startSite, type TestSite } from './site.ts';
import { type SiteRules, siteRulesOf } from './site-rules.ts';

export const RELEASE = 'fb';
export const NAMESPACE = 'fb-system';
/** As the chart names it. */
export const DEPLOYMENT = 'fb-finalizer-bridge';

/** A bridge of the release, with where it is to be found. */
export type ChartBridge = Container & { readonly url: string };

export interface ChartInstallation {
  readonly kube: Kube;
  readonly site: TestSite;
  readonly rules: SiteRules;
  readonly helm: Helm;
  readonly node: Node;
  /** Values for this place, with a free port for the bridge. */
  values(others?: Values): Promise<Values>;
  /** The chart as it was before: with a definition that lacks a column. */
  olderChart(): Promise<string>;
  /** Where a bridge listens that was given the last values. */
  bridgeUrl(): string;
  /** Runs a Pod of the Deployment as it is now. */
  startBridge(): Promise<ChartBridge>;
  stop(): Promise<void>;
}

/** Starts the servers; nothing is installed yet. */
export function startChartInstallation(name: string): Promise<ChartInstallation> {
  return built((stack) => build(name, stack));
}

async function build(name: string, stack: AsyncDisposableStack): Promise<ChartInstallation> {
  const kube = await startKube({ say: (line) => void process.stderr.write(`${line}\n`) });
  stack.defer(() => kube.stop());
  const site = await startSite({ name, kube });
  stack.defer(() => site.stop());
  const helm = await startHelm(kube.kubeconfig);
  stack.defer(() => helm.stop());
  const [bridge, cli] = [await bridgeBundle(), await cliBundle()];
  const image = { bridge: bridge.bundles[0]?.file ?? '', cli: cli.bundles[0]?.file ?? '' };
  const node = { kube, folder: site.folder, image, accessKeyId: site.bridge.accessKeyId };
  let port = 0;
  const bridgeUrl = () => `http://127.0.0.1:${port}`;
  return {
    ...{ kube, site, helm, node, rules: siteRulesOf(site) },
    values: async (others = {}) => {
      [port = 0] = await freePorts(1);
      return { ...valuesOf(site), server: { host: '127.0.0.1', port }, ...others };
    },
    olderChart: () => olderChart(join(site.folder, 'older')),
    bridgeUrl,
    startBridge: async () => {
      const url = bridgeUrl();
      const start = async () => ({ ...(await runDeployment(node, NAMESPACE, DEPLOYMENT)), url });
      return site.keep(await restarted(start, leads));
    },
    stop: () => stack.disposeAsync(),
  };
}

const roleOf = (senderId: string) => senderId.split(':', 1)[0] ?? senderId;

function valuesOf(site: TestSite): Values {
  const handlers = Object.entries(site.handlers).map(([name, { requests, senderId }]) => [
    name,
    { queue: requests.url, sender: roleOf(senderId) },
  ]);
  return {
    kinds: [{ group: site.group, resource: 'buckets' }],
    cluster: { name: 'by chart' },
    queues: { endpoint: site.queues.endpoint, region: site.queues.region, results: site.results.url },
    handlers: Object.fromEntries(handlers),
    deadLetters: { sender: roleOf(site.deadLetters.senderId) },
    log: { level: 'debug' },
  };
}

const COLUMN = /^ {8}- name: Held\n(?: {10}.*\n)+/m;

async function olderChart(folder: string): Promise<string> {
  await mkdir(folder);
  await cp(CHART_FOLDER, folder, { recursive: true });
  const file = join(folder, 'templates/crd.yaml');
  const text = await readFile(file, 'utf8');
  if (!COLUMN.test(text)) throw new Error(`making an older chart: ${file} has no such column`);
  await writeFile(file, text.replace(COLUMN, ''));
  return folder;
}

/** Resolves when a bridge leads and is ready; throws with its last words when it ends instead. */
export async function leads(bridge: ChartBridge): Promise<void> {
  await eventually(
    'the bridge of the chart leads',
    async () => {
      if (bridge.hasExited()) throw new Error(`starting the bridge of the chart:\n${await bridge.logTail()}`);
      const answer = await request(`${bridge.url}/readyz`, { reset: true }).catch(() => undefined);
      const body = await answer?.body.text();
      return answer?.statusCode === 200 && body?.includes('"leader"');
    },
    60_000,
  );
}
