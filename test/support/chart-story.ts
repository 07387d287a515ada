/*
 * An installation of the chart in the hands of a test: releases over values, the bridge of the last one, the bindings that give it
 * its rights, a rule, deletions that end. Each test says with `at` from which release on it goes, which costs nothing where the one
 * before has left it so; after a test that failed the next one gets servers of its own, and so fails or passes by itself.
 * Used by the end-to-end tests of the chart.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { z } from 'zod/mini';
import type { Manifest } from '../../infra/local/kube-apply.ts';
import { CHART_FOLDER, type Values } from './chart.ts';
import {
  type ChartBridge,
  type ChartInstallation,
  leads,
  NAMESPACE,
  RELEASE,
  startChartInstallation,
} from './chart-installation.ts';
import { runNextJob } from './chart-kubelet.ts';
import type { Ended } from './cli-process.ts';
import { type Buckets, bucketsOf } from './site-buckets.ts';
import { ruleFor } from './site-kind.ts';

export const MINUTES = 600_000;
/** By it a binding stays as long as a bridge needs it. */
export const KEPT = 'rights.finalizer-bridge.dev/kept';

/** Where the binding of a namespace that is served is, or another one. */
export const bindingIn = (namespace: string, name = 'finalizer-bridge'): string =>
  `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/${name}`;

const metadata = z.object({
  name: z.string(),
  finalizers: z._default(z.array(z.string()), []),
  deletionTimestamp: z.optional(z.string()),
});
const object = z.object({ metadata });

/** What a story begins with. */
export interface StoryOptions {
  /** Of the site, and of its namespace. */
  readonly home: string;
  /** Other namespaces that are there. */
  readonly namespaces: readonly string[];
  /** What else is there before anything is installed. */
  readonly manifests?: (on: ChartInstallation) => readonly Manifest[];
  /** Values that every release has. */
  readonly always: (on: ChartInstallation) => Values;
}

/** Servers, and what of a release is on them. */
interface Scene {
  readonly on: ChartInstallation;
  readonly buckets: Buckets;
  bridge: ChartBridge | undefined;
  /** Undefined while there is none. */
  release: Release | undefined;
  /** The one that the bridge was started for. */
  bridgeHas: Release | undefined;
  /** How often it was installed. */
  installed: number;
}

/** The chart as it is, or as it was before (`olderChart`). */
type Chart = 'this' | 'older';

interface Release {
  readonly values: Values;
  readonly chart: Chart;
  /** As helm counts. */
  readonly revision: number;
}

/** An installation, and what a test does with it. */
export type ChartStory = ReturnType<typeof tellChartStory>;

/** Registers its hooks in the file that calls it. */
export function tellChartStory(options: StoryOptions) {
  let scene: Scene | undefined;
  let begun = 0;

  async function end(): Promise<void> {
    const ending = scene;
    scene = undefined;
    await ending?.on.stop();
  }
  beforeEach(async () => {
    if (scene !== undefined) return;
    begun += 1;
    // All in a cloud that others use as well is called after the home: what a test that failed has left there is in nobody's way.
    scene = await begin({ ...options, home: begun === 1 ? options.home : `${options.home}-${begun}` });
  }, MINUTES);
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    console.error(`The bridge before ${task.name} failed:\n${await scene?.bridge?.logTail(25)}`);
    await end();
  }, MINUTES);
  afterAll(end, MINUTES);

  return verbsOf(options, () => {
    if (scene === undefined) throw new Error('telling a story of the chart: nothing is started before the first test');
    return scene;
  });
}

async function begin({ home, namespaces, manifests }: StoryOptions): Promise<Scene> {
  const on = await startChartInstallation(home);
  const named = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await on.kube.apply([...namespaces.map(named), ...(manifests?.(on) ?? [])]);
  return { on, buckets: bucketsOf(on.site), bridge: undefined, release: undefined, bridgeHas: undefined, installed: 0 };
}

const bridgeOf = ({ bridge }: Scene): ChartBridge => {
  if (bridge === undefined) throw new Error('asking for the bridge of a chart: none was started');
  return bridge;
};

function verbsOf({ always }: StoryOptions, now: () => Scene) {
  /** Installs or upgrades. */
  async function release(values: Values, chart: Chart = 'this'): Promise<Ended> {
    const scene = now();
    const { on, release: last } = scene;
    const verb = last === undefined ? ['install', '--create-namespace'] : ['upgrade'];
    const file = await on.helm.valuesFile(await on.values({ ...always(on), ...values }));
    const folder = chart === 'this' ? CHART_FOLDER : await on.olderChart();
    const ended = await on.helm.run(...verb, RELEASE, folder, '--namespace', NAMESPACE, '--values', file);
    if (ended.code !== 0) return ended;
    if (last === undefined) scene.installed += 1;
    scene.release = { values, chart, revision: (last?.revision ?? 0) + 1 };
    return ended;
  }

  /** Does so, which has to succeed without a warning; resolves with what helm said. */
  async function released(values: Values, chart?: Chart): Promise<string> {
    const { code, out, err } = await release(values, chart);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return out;
  }

  /** Has the bridge of the release run instead of the one before, which is stopped first unless told. */
  async function nextBridge(order: 'one at a time' | 'new one first' = 'one at a time'): Promise<void> {
    const scene = now();
    const old = scene.bridge;
    if (order === 'one at a time') await old?.stop();
    scene.bridge = await scene.on.startBridge();
    scene.bridgeHas = scene.release;
    if (order === 'new one first') await old?.stop();
    await leads(scene.bridge);
  }

  /** The rule `team` is in force. */
  async function takesOn(): Promise<void> {
    const { rules, site } = now().on;
    if ((await rules.read('team')) === undefined) await rules.apply('team', ruleFor(site.group, 'team', {}).spec);
    await rules.ready('team', 60_000);
  }

  /**
   * Goes on from a release with these values, its bridge and its rule; where it is not so, by way of another one if told. Of which
   * chart it is does not matter unless told.
   */
  async function at(
    values: Values,
    { by, chart }: { readonly by?: Values; readonly chart?: Chart } = {},
  ): Promise<void> {
    const scene = now();
    const is = scene.release;
    const isReleased = isDeepStrictEqual(is?.values, values) && (chart === undefined || is?.chart === chart);
    if (isReleased && scene.bridgeHas === is && scene.bridge?.hasExited() === false) return;
    if (!isReleased && by !== undefined) await at(by);
    if (!isReleased) await released(values, chart);
    await nextBridge();
    await takesOn();
  }

  async function binding(namespace: string): Promise<z.output<typeof metadata> | undefined> {
    const { status, body } = await now().on.kube.request('GET', bindingIn(namespace));
    return status === 404 ? undefined : z.parse(object, body).metadata;
  }
  const bindings = (namespaces: readonly string[]) => Promise.all(namespaces.map(binding));

  return {
    on: () => now().on,
    home: () => now().on.site.namespace,
    buckets: () => now().buckets,
    bridge: () => bridgeOf(now()),
    ...{ at, release, released, nextBridge, takesOn, binding },
    areGone: async (...namespaces: readonly string[]) => (await bindings(namespaces)).every((one) => one === undefined),
    areKept: async (...namespaces: readonly string[]) =>
      (await bindings(namespaces)).every((one) => one?.finalizers.includes(KEPT) === true),
    /** A deletion goes through its teardown. */
    tearsDown: async (name: string, namespace?: string): Promise<void> => {
      const { on, buckets } = now();
      const answering = await on.site.startFunction();
      const { bucket } = await buckets.create(name, namespace === undefined ? {} : { namespace });
      await buckets.delete(name);
      await buckets.gone(name, 60_000);
      expect(await buckets.versions(bucket)).toBeUndefined();
      await answering.stop();
    },
    /** Uninstalls, and runs the drain before it. */
    uninstall: async () => {
      const scene = now();
      const words = ['uninstall', RELEASE, '--namespace', NAMESPACE, '--timeout', '9m'];
      const [drain, ended] = await Promise.all([runNextJob(scene.on.node, NAMESPACE), scene.on.helm.run(...words)]);
      if (ended.code === 0) scene.release = undefined;
      return { drain, ended };
    },
    /** The same without the drain, as by somebody in a hurry. */
    uninstallAtOnce: async (): Promise<Ended> => {
      const scene = now();
      const ended = await scene.on.helm.run('uninstall', RELEASE, '--namespace', NAMESPACE, '--no-hooks');
      if (ended.code === 0) scene.release = undefined;
      return ended;
    },
    /** Helm takes a release that could not be uninstalled for one that is going; its own word brings it back. */
    rollBack: async (): Promise<Ended> => {
      const scene = now();
      const { on, release: last } = scene;
      if (last === undefined) throw new Error('rolling a release of the chart back: there is none');
      const ended = await on.helm.run('rollback', RELEASE, String(last.revision), '--namespace', NAMESPACE);
      const next = { ...last, revision: last.revision + 1 };
      if (scene.bridgeHas === last) scene.bridgeHas = next;
      scene.release = next;
      return ended;
    },
    wasInstalled: () => now().installed > 0,
  };
}
