/*
 * A whole installation on an API server of its own, to be taken away by a test: rule kind, admission policy, a bridge with
 * its few rights, objects. What a drain looks at is the whole cluster, so no other test may share it.
 */

import * as z from 'zod/mini';
import { admissionManifests } from '../../infra/admission/manifests.ts';
import type { BridgeProcess } from '../../infra/local/bridge-process.ts';
import { drainRights } from '../../infra/local/drain-rights.ts';
import { type Kube, startKube } from '../../infra/local/kube.ts';
import { built } from './built.ts';
import { cliProcesses, type Person } from './cli-process.ts';
import { eventually } from './eventually.ts';
import type { Spec } from './rule-corpus.ts';
import { startSite, type TestSite } from './site.ts';
import { type Hands, handsOf } from './site-hands.ts';
import { definitionOf } from './site-kind.ts';
import { queuesOf } from './site-queues.ts';
import { type Rights, rightsOf } from './site-rights.ts';
import { type SiteRules, siteRulesOf } from './site-rules.ts';
import { type Thing, type Things, thingsOf } from './site-things.ts';

/** The API server looks for new kinds of params every half minute. */
const INJECTING_WITHIN = 60_000;

const someObject = z.object({ metadata: z.object({ finalizers: z.optional(z.array(z.string())) }) });

/** An installation and the verbs to use and to leave it. */
export interface LeavingSite {
  readonly site: TestSite;
  readonly kube: Kube;
  readonly rules: SiteRules;
  readonly things: Things;
  readonly hands: Hands;
  readonly rights: Rights;
  readonly bridge: BridgeProcess;
  /** A rule that is in force, and injected at birth. */
  rule(name: string, changes?: Spec): Promise<void>;
  /** A live object that carries the entry of a rule. */
  made(name: string, of: string, inNamespace?: string): Promise<Thing>;
  /** Another kind of the site's group. */
  define(plural: string, kind: string): Promise<void>;
  /** What a rule of such a kind matches. */
  matching(resource: string): Spec;
  /** Drains as an administrator with a laptop. */
  readonly drain: Person;
  /** Drains as an account that has the rights of a drain on buckets, and no others. */
  readonly drainAsHook: Person;
  stop(): Promise<void>;
}

/** Installs, and waits until a rule is injected at birth. */
export function startLeavingSite(name: string): Promise<LeavingSite> {
  return built((stack) => build(name, stack));
}

async function build(name: string, stack: AsyncDisposableStack): Promise<LeavingSite> {
  const kube = await startKube({ say: (line) => void process.stderr.write(`${line}\n`) });
  stack.defer(() => kube.stop());
  const site = await startSite({ name, handlers: ['by-hand'], kube });
  stack.defer(() => site.stop());
  const [rules, things, rights] = [siteRulesOf(site), thingsOf(site), rightsOf(site)];
  const hands = handsOf(site, queuesOf(site), 'by-hand');
  const kinds = [{ group: site.group, resource: 'buckets' }];
  await rules.install();
  await kube.apply(admissionManifests(kinds));
  const bridge = await site.startBridgeOverApi();
  await bridge.ready();
  const account = { namespace: 'finalizer-bridge', name: 'drain' };
  const hook = await kube.serviceAccount(account.namespace, account.name);
  await kube.apply(drainRights(kinds, account, { release: true }));
  const cli = await cliProcesses(site);
  const admin = await cli.admin();
  const rule = async (named: string, changes: Spec = {}) => {
    await rules.apply(named, rules.spec(named, changes));
    await rules.ready(named);
  };
  await rule(`${name}-born`);
  // Until it knows the new kinds, the policy may have creates answered 503.
  const isBorn = () =>
    born(site, { rule: `${name}-born` }).then(
      (entries) => entries.length > 0,
      () => false,
    );
  await eventually('the policy is at work', isBorn, INJECTING_WITHIN);
  return {
    ...{ site, kube, rules, things, hands, rights, bridge, rule },
    made: async (called, of, inNamespace) => {
      const thing = await things.bucket(called, { labels: { rule: of } }, inNamespace);
      await things.claimed(thing, of);
      return thing;
    },
    define: async (plural, kind) => void (await kube.apply([definitionOf(site.group, { plural, kind })])),
    matching: (resource) => ({ match: { group: site.group, version: 'v1', resource } }),
    drain: (...words) => admin('drain', '--yes', ...words),
    drainAsHook: (...words) => cli.personWith(hook.kubeconfig)('drain', '--yes', ...words),
    stop: () => stack.disposeAsync(),
  };
}

/** The finalizers that a new object would have. */
export async function born({ admin, group, namespace }: TestSite, labels: object): Promise<readonly string[]> {
  const metadata = { name: 'born', labels };
  const path = `/apis/${group}/v1/namespaces/${namespace}/buckets?dryRun=All`;
  const { status, body } = await admin.request('POST', path, { apiVersion: `${group}/v1`, kind: 'Bucket', metadata });
  if (status !== 201) throw new Error(`creating a bucket: ${status} ${JSON.stringify(body)}`);
  return entriesOf(z.parse(someObject, body));
}

function entriesOf({ metadata: { finalizers = [] } }: z.output<typeof someObject>): readonly string[] {
  return finalizers.filter((finalizer) => finalizer.startsWith('finalizer-bridge.dev/'));
}

/** What in the whole cluster carries an entry of ours, and the rules' path if there are any; read as an administrator. */
export async function carriers({ kube, site }: LeavingSite, kinds: readonly string[]): Promise<readonly string[]> {
  const paths = [
    ...kinds.map((resource) => `/apis/${site.group}/v1/${resource}`),
    '/apis/finalizer-bridge.dev/v1alpha1/teardownrules',
    '/api/v1/namespaces',
    '/api/v1/configmaps',
  ];
  const found: string[] = [];
  for (const path of paths) {
    const { status, body } = await kube.request('GET', path);
    if (status === 404) continue;
    if (status !== 200) throw new Error(`listing ${path}: ${status}`);
    const { items } = z.parse(z.object({ items: z.array(someObject) }), body);
    found.push(...items.flatMap(entriesOf).map((entry) => `${path}: ${entry}`));
    // Rules are left by themselves, whatever holds them.
    if (path.endsWith('/teardownrules') && items.length > 0) found.push(path);
  }
  return found;
}
