/*
 * docs/deploy.md and docs/quick-start.md, followed: their commands are taken from the pages and run in a checkout, with a real
 * API server, kubectl, helm, the AWS command line and an emulated AWS. The emulator's queues know no senders, so what the
 * chart is told of queues is checked and then replaced by those of the site beside; no kubelet is there, so bridge and drain are
 * started from what the chart made (chart-kubelet.ts). Each test goes on where the one before it ended, as a reader does.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import * as z from 'zod/mini';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../infra/local/places.ts';
import { type ChartInstallation, leads, startChartInstallation } from '../support/chart-installation.ts';
import { runDeployment, runNextJob } from '../support/chart-kubelet.ts';
import { type CloudFront, startCloudFront } from '../support/cloud-front.ts';
import { blocksOf, pagesFor } from '../support/document-blocks.ts';
import { eventually } from '../support/eventually.ts';
import { type Reader, readerOf } from '../support/reader.ts';
import { bucketsOf } from '../support/site-buckets.ts';
import { definitionOf } from '../support/site-kind.ts';
import { thingsOf } from '../support/site-things.ts';

const MINUTES = 600_000;
const RELEASE = 'finalizer-bridge';
const ACK = 's3.services.k8s.aws';
const pages = pagesFor(import.meta.filename);
const QUICK = 'docs/quick-start.md';
const DEPLOY = 'docs/deploy.md';

let on: ChartInstallation;
let front: CloudFront;
let reader: Reader;
const next = (document: string) => reader.shell.follow(pages.next(document));

beforeAll(async () => {
  on = await startChartInstallation('first-day');
  front = await startCloudFront(on.site.cloud().endpoint);
  reader = await readerOf(on, { AWS_ENDPOINT_URL: front.endpoint });
  // One kind that is called bucket, as in most clusters.
  await on.kube.request('DELETE', `${DEFINITIONS}/buckets.${on.site.group}`);
  await on.kube.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } },
    definitionOf(ACK, { plural: 'buckets', kind: 'Bucket', version: 'v1alpha1' }),
  ]);
}, MINUTES);
afterAll(async () => {
  await reader?.stop();
  await front?.stop();
  await on?.stop();
}, MINUTES);

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A block of a page that is a file, such as JSON or YAML. */
function fileIn(document: string, language: string, holds: string): string {
  const found = blocksOf(document).find((block) => block.language === language && block.text.includes(holds));
  if (found === undefined)
    throw new Error(`looking for a ${language} block with ${holds} in ${document}: there is none`);
  return `${found.text}\n`;
}

const file = (name: string) => join(reader.shell.folder, name);

/** Puts what a page had printed where it says that it belongs. */
function writeValues(name: string, stage: string, role: string): void {
  const [arn = '', id = ''] = role.trim().split(/\s+/);
  expect([arn, id]).toEqual([
    expect.stringMatching(/^arn:aws:iam::.*finalizer-bridge$/),
    expect.stringMatching(/^AROA/),
  ]);
  const text = readFileSync(file('functions.values.example.yml'), 'utf8')
    .replace('stage: dev', `stage: ${stage}`)
    .replace(/bridgeRoleArn: .*/, `bridgeRoleArn: ${arn}`)
    .replace(/bridgeRoleId: .*/, `bridgeRoleId: ${id}`)
    .replace(/uid: .*/, `uid: ${on.site.clusterUid}`)
    .replace(/\nhandlers:[\s\S]*/, `\n${fileIn(QUICK, 'yaml', 'team-a-scratch-*')}`);
  writeFileSync(file(name), text);
}

const told = z.object({
  queues: z.object({ region: z.string(), results: z.string() }),
  handlers: z.record(z.string(), z.object({ queue: z.string(), sender: z.string() })),
  deadLetters: z.object({ sender: z.string() }),
});

/** Holds what was written for the chart against the stage's stack, and puts the site's own queues in. */
async function mindQueues(stage: string): Promise<void> {
  const written = told.parse(parse(readFileSync(file('bridge.values.yaml'), 'utf8')));
  expect(written.queues.results).toContain(`finalizer-bridge-${stage}-results-${on.site.clusterUid}`);
  expect(Object.keys(written.handlers)).toEqual(['s3-bucket']);
  expect(written.handlers['s3-bucket']?.queue).toContain(`finalizer-bridge-${stage}-s3-bucket-requests`);
  expect([written.handlers['s3-bucket']?.sender, written.deadLetters.sender].join()).toMatch(/^AROA\w+,AROA\w+$/);
  const { kinds: _kinds, ...values } = await on.values();
  writeFileSync(file('bridge.values.yaml'), stringify({ ...values, cluster: { name: 'production' } }));
}

/** Runs an uninstallation and the Job that it makes. */
async function uninstalled(document: string): Promise<void> {
  const [{ code, said }] = await Promise.all([runNextJob(on.node, RELEASE), next(document)]);
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('clean: no rule is left') });
}

describe('docs/deploy.md', () => {
  it('makes the role, whose printed ARN and id are those that the values name', async () => {
    writeFileSync(file('trust.json'), fileIn(DEPLOY, 'json', 'pods.eks.amazonaws.com'));
    const said = await next(DEPLOY);
    writeValues('functions.values.prod.yml', 'prod', said.trim().split('\n').at(-1) ?? '');
    expect(await next(DEPLOY)).toContain('"associationId"');
  });

  it('deploys a stage, writes what the chart is told of it, and installs the chart with that', {
    timeout: MINUTES,
  }, async () => {
    const block = pages.next(DEPLOY);
    const [deploy = '', values = '', ...install] = block.text.split('\n');
    await reader.shell.follow(deploy);
    await reader.shell.follow(values);
    await mindQueues('prod');
    writeFileSync(file('my.values.yaml'), 'kinds: []\n');
    expect(await reader.shell.follow(install.join('\n'))).toContain(`runs in namespace ${RELEASE}`);
  });

  it('reads what others have deployed from what the AWS command line writes', { timeout: MINUTES }, async () => {
    await next(DEPLOY);
    await mindQueues('prod');
  });

  it('is taken away again: the release by what the chart says of it, the stack when its queues are empty', {
    timeout: MINUTES,
  }, async () => {
    await uninstalled('infra/chart/README.md');
    await next(DEPLOY);
    expect(
      await reader.shell.run('aws cloudformation describe-stacks --stack-name finalizer-bridge-prod'),
    ).toMatchObject({
      code: expect.not.stringMatching(/^0$/),
      err: expect.stringContaining('does not exist'),
    });
    await reader.shell.follow('aws iam delete-role --role-name finalizer-bridge');
  });
});

describe('docs/quick-start.md', () => {
  const buckets = () => bucketsOf(on.site);
  const SCRATCH = 'first-day-scratch';
  let bridge: Awaited<ReturnType<typeof runDeployment>>;

  it('1: makes the role and begins the values with what it prints', async () => {
    const said = await next(QUICK);
    expect(said).toContain(on.site.clusterUid);
    expect(readFileSync(file('functions.values.yml'), 'utf8')).toContain('stage: dev');
    writeValues('functions.values.yml', 'dev', /^arn:\S+\s+AROA\w+$/m.exec(said)?.[0] ?? '');
  });

  it('2: makes the command line', { timeout: MINUTES }, async () => {
    await next(QUICK);
    expect(await reader.shell.follow('finalizer-bridge --version')).toMatch(/\d+\.\d+\.\d+/);
  });

  it('3: deploys, installs, and sees that it runs', { timeout: MINUTES }, async () => {
    const block = pages.next(QUICK);
    // The README shows the same three.
    expect(pages.next('README.md').text).toBe(block.text);
    const [deploy = '', values = '', ...install] = block.text.split('\n');
    await reader.shell.follow(deploy);
    await reader.shell.follow(values);
    await mindQueues('dev');
    await reader.shell.follow(install.join('\n'));
    bridge = on.site.keep(await runDeployment(on.node, RELEASE, RELEASE));
    await leads({ ...bridge, url: on.bridgeUrl() });
    await reader.rolledOut(RELEASE, RELEASE);
    expect(await next(QUICK)).toContain('successfully rolled out');
    // The page on the command line begins the same way.
    expect(await next('docs/cli.md')).not.toContain('error');
  });

  it('4: holds the one bucket that is marked', { timeout: MINUTES }, async () => {
    const bucket = { bucketName: SCRATCH, spec: { name: SCRATCH } };
    const status = { ackResourceMetadata: { region: LOCAL_REGION, ownerAccountID: LOCAL_ACCOUNT_ID } };
    await thingsOf(on.site).create(`/apis/${ACK}/v1alpha1/namespaces/team-a/buckets`, {
      ...{ apiVersion: `${ACK}/v1alpha1`, kind: 'Bucket', metadata: { name: 'scratch' }, spec: bucket.spec, status },
    });
    await buckets().createBucket(SCRATCH, { versions: 2 });
    writeFileSync(file('rule.yaml'), fileIn(QUICK, 'yaml', 'kind: TeardownRule'));
    const block = pages.next(QUICK);
    await reader.shell.follow(block);
    const [, rules = '', , finalizers = ''] = block.text.split('\n');
    const shows = (command: string, what: RegExp) =>
      eventually(`${command} shows ${what}`, async () => what.test(await reader.shell.follow(command)), 60_000);
    await shows(rules, /^buckets .* True /m);
    await shows(finalizers, /finalizer-bridge\.dev\/buckets/);
  });

  it('5: prints commands that prove whose the bucket is, and they do', { timeout: MINUTES }, async () => {
    const printed = await next(QUICK);
    expect(printed).toContain(SCRATCH);
    await reader.shell.follow(printed);
    const tags = await reader.shell.follow(`aws s3api get-bucket-tagging --bucket ${SCRATCH}`);
    expect(tags).toContain('finalizer-bridge.dev/owner-uid');
  });

  it('6: deletes it, and what it stands for', { timeout: MINUTES }, async () => {
    const said = await next(QUICK);
    expect(said).toContain('Rule buckets (handler s3-bucket)');
    await on.site.startFunction();
    const path = `/apis/${ACK}/v1alpha1/namespaces/team-a/buckets/scratch`;
    await eventually('the object is gone', async () => (await on.kube.request('GET', path)).status === 404, 60_000);
    expect(await buckets().versions(SCRATCH)).toBeUndefined();
  });

  it('goes out again, and leaves neither release nor kind nor stack', { timeout: MINUTES }, async () => {
    await uninstalled(QUICK);
    await bridge.stop();
    expect((await on.kube.request('GET', `${DEFINITIONS}/teardownrules.finalizer-bridge.dev`)).status).toBe(404);
    expect((await reader.shell.run('npm run bridge-values')).code).not.toBe(0);
  });
});

it('every command that this test is named at was run', () => {
  expect(pages.left()).toEqual([]);
});
