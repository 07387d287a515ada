/*
 * What the README, docs/operations.md, docs/leaving.md and docs/security.md tell whoever is on call to type, typed: the commands are
 * taken from the pages, and run by kubectl, helm and the command line against a real API server with the chart and its bridge.
 * The rule is that of the README, over the kind that all pages speak of. Each test goes on where the one before it ended.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import * as z from 'zod/mini';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../infra/local/places.ts';
import { type ChartInstallation, leads, startChartInstallation } from '../support/chart-installation.ts';
import { type Container, runDeployment } from '../support/chart-kubelet.ts';
import { type Block, blocksOf, pagesFor } from '../support/document-blocks.ts';
import { eventually } from '../support/eventually.ts';
import { type Reader, readerOf } from '../support/reader.ts';
import { definitionOf } from '../support/site-kind.ts';
import { type Thing, type Things, thingsOf } from '../support/site-things.ts';

const MINUTES = 600_000;
const GROUP = 'storage.example.com';
const RULE = 'team-buckets';
const COLLECTION = `/apis/${GROUP}/v1/namespaces/team-a/buckets`;
const pages = pagesFor(import.meta.filename);

let on: ChartInstallation;
let reader: Reader;
let things: Things;
let bridge: Container;
const next = (document: string, holds?: string) => reader.shell.follow(pages.next(document, holds));

beforeAll(async () => {
  on = await startChartInstallation('on-call');
  reader = await readerOf(on, {});
  reader.shell.install('finalizer-bridge', [on.node.image.cli]);
  reader.shell.install('kubectl-finalizer_bridge', [on.node.image.cli]);
  things = thingsOf(on.site);
  const { status } = await on.kube.request('DELETE', `${DEFINITIONS}/buckets.${on.site.group}`);
  expect(status).toBe(200);
  await on.kube.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', labels: { team: 'a' } } },
    definitionOf(GROUP, { plural: 'buckets', kind: 'Bucket' }),
  ]);
  await install();
}, MINUTES);
afterAll(async () => {
  await reader?.stop();
  await on?.stop();
}, MINUTES);

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The chart of the checkout, as docs/quick-start.md installs it; its bridge leads. */
async function install(): Promise<void> {
  const values = { ...(await on.values()), kinds: [{ group: GROUP, resource: 'buckets' }] };
  writeFileSync(join(reader.shell.folder, 'values.yaml'), stringify(values));
  const place = '--namespace finalizer-bridge --create-namespace';
  await reader.shell.follow(`helm install finalizer-bridge infra/chart ${place} --values values.yaml`);
  bridge = on.site.keep(await runDeployment(on.node, 'finalizer-bridge', 'finalizer-bridge'));
  await leads({ ...bridge, url: on.bridgeUrl() });
}

/** The rule that the README shows, in the emulator's account. */
async function applyRule(): Promise<void> {
  const shown = blocksOf('README.md').find(({ text }) => text.includes('kind: TeardownRule'))?.text ?? '';
  writeFileSync(join(reader.shell.folder, 'rule.yaml'), shown.replaceAll('111122223333', LOCAL_ACCOUNT_ID));
  await reader.shell.follow('kubectl apply -f rule.yaml');
  await on.rules.ready(RULE, 60_000);
}

/** A bucket of the team; nothing outside proves that it is its own. */
async function create(name: string): Promise<Thing> {
  const spec = { region: LOCAL_REGION };
  const status = { bucketName: `on-call-${name}` };
  const metadata = { name };
  const thing = await things.create(COLLECTION, { apiVersion: `${GROUP}/v1`, kind: 'Bucket', metadata, spec, status });
  await things.claimed(thing, RULE);
  return thing;
}

const deleted = async (name: string) => {
  const thing = await create(name);
  await things.delete(thing);
  return thing;
};
const word = async (thing: Thing, verb: string) =>
  (await things.found(thing)).metadata.annotations[`${verb}.finalizer-bridge.dev/${RULE}`];

describe('the README', () => {
  it('shows how a rule fares', { timeout: MINUTES }, async () => {
    await applyRule();
    // Withdrawn when the pages tell how to leave.
    await on.rules.apply('other', {
      match: { group: GROUP, version: 'v1', resource: 'buckets', labelSelector: { matchLabels: { rule: 'other' } } },
      ...{ handler: 's3-bucket', target: { bucket: 'object.metadata.name', region: "'eu-west-1'", account: "'1'" } },
    });
    const said = await next('README.md');
    expect(said).toMatch(/^team-buckets .*buckets/m);
    expect(said).toMatch(/Type: +Ready/);
  });

  it('explains a bucket that does not go, and takes words for it by the command line', {
    timeout: MINUTES,
  }, async () => {
    const logs = await deleted('logs');
    const typed = [
      ['Reason: ', 'tried'],
      ['to release it: ', logs.uid.slice(-6)],
    ] as const;
    const ran = await reader.shell.runTyping(pages.next('README.md'), typed);
    expect(ran.code, ran.out).toBe(0);
    expect(ran.out).toContain(`Rule ${RULE} (handler s3-bucket)`);
    expect(await word(logs, 'release')).toBe(logs.uid);
    expect(await word(logs, 'approve')).toBe(logs.uid);
    expect(await word(logs, 'retry')).toContain(logs.uid);
  });

  it('and by annotations', { timeout: MINUTES }, async () => {
    await next('README.md', 'retry.');
    await next('README.md', 'release.');
    const logs = await found();
    expect(await word(logs, 'retry')).toBe(`${logs.uid}/1`);
    expect(await word(logs, 'release')).toBe(logs.uid);
  });
});

/** Runs what `kubectl exec` would in the bridge's Pod: its command line, under its account. There is no kubelet to ask. */
async function inPod({ text }: Block): Promise<string> {
  const [place = '', command = ''] = text.split(' -- ');
  expect(place).toBe('kubectl -n finalizer-bridge exec deployment/finalizer-bridge');
  const kubeconfig = await on.kube.kubeconfigFor({ token: bridge.token, name: 'exec', namespace: 'finalizer-bridge' });
  const words = command.replace('node /app/cli/main.mjs', `node '${on.node.image.cli}'`);
  return await reader.shell.follow(`KUBECONFIG='${kubeconfig}' ${words}`);
}

const object = z.object({ metadata: z.object({ uid: z.string() }) });

async function found(): Promise<Thing> {
  const path = `${COLLECTION}/logs`;
  const { metadata } = z.parse(object, (await on.kube.request('GET', path)).body);
  return { path, name: 'logs', uid: metadata.uid };
}

describe('docs/operations.md', () => {
  it('says why an object does not go, by the command line and on the object itself', { timeout: MINUTES }, async () => {
    expect(await next('docs/operations.md')).toContain(`Rule ${RULE}`);
    expect(await inPod(pages.next('docs/operations.md'))).toContain(`Rule ${RULE}`);
    const logs = await found();
    const isWritten = async () => (await things.record(logs, RULE)) !== undefined;
    await eventually('the bridge has written its record', isWritten, 60_000);
    const isTold = async () => (await things.events(logs)).some(({ reason }) => reason === 'RetryAsked');
    await eventually('the bridge has told of the retry', isTold);
    const said = await next('docs/operations.md');
    expect(said).toContain(`status.finalizer-bridge.dev/${RULE}`);
    expect(said).toMatch(/ RetryAsked +bucket\/logs /);
  });
});

describe('docs/operations.md on some namespaces only', () => {
  it('shows where entries of each rule may be, and lets who knows better say so', async () => {
    expect(await next('docs/operations.md')).toMatch(/^team-buckets +\S+/m);
    expect(await next('docs/operations.md')).toContain(`${RULE} patched`);
  });
});

describe('docs/security.md', () => {
  it('shows the policies that the chart has installed', async () => {
    const said = await next('docs/security.md');
    for (const name of ['finalizer-bridge-words', 'finalizer-bridge-limits']) expect(said).toContain(name);
  });
});

describe('docs/leaving.md', () => {
  it('takes one rule away, and then all that are left', { timeout: MINUTES }, async () => {
    const logs = await found();
    await things.release(logs, RULE, `${logs.uid}/now`);
    await things.gone(logs, 60_000);
    const live = await create('live');
    const [one, all] = [pages.next('docs/leaving.md'), pages.next('docs/leaving.md')];
    await reader.shell.follow(one);
    expect(await on.rules.read(RULE)).toBeUndefined();
    expect(await things.has(live, RULE)).toBe(false);
    const drained = await reader.shell.runTyping(all, [['(yes/no) ', 'yes']]);
    expect(drained).toMatchObject({ code: 0, out: expect.stringContaining('clean: no rule is left') });
  });
});

it('every command that this test is named at was run', () => {
  expect(pages.left()).toEqual([]);
});
