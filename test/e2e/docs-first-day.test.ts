/*
 * docs/quick-start.md, followed: its commands are taken from the page and run in a checkout, with a real API server, kubectl, helm,
 * the AWS command line and an emulated AWS, as somebody does who has never seen the project. Each test goes on where the one
 * before it ended, as a reader does.
 */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../infra/local/places.ts';
import { leads } from '../support/chart-installation.ts';
import { runDeployment } from '../support/chart-kubelet.ts';
import { pagesFor } from '../support/document-blocks.ts';
import { eventually } from '../support/eventually.ts';
import { type FirstInstall, fileIn, RELEASE, startFirstInstall } from '../support/first-install.ts';
import { LEASE_PATH } from '../support/site.ts';
import { bucketsOf } from '../support/site-buckets.ts';

const MINUTES = 600_000;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const pages = pagesFor(import.meta.filename);
const QUICK = 'docs/quick-start.md';

let me: FirstInstall;
const buckets = () => bucketsOf(me.on.site);
const next = (document: string) => me.shell.follow(pages.next(document));

beforeAll(async () => {
  me = await startFirstInstall('trial', 'shared');
}, MINUTES);
afterAll(() => me?.stop(), MINUTES);

/** What shows all that the quick start may have left in an account. */
const LISTED = [
  'iam list-roles',
  'ecr describe-repositories',
  'eks list-pod-identity-associations --cluster-name production',
  'cloudformation describe-stacks',
  'lambda list-functions',
  'lambda list-event-source-mappings',
  'sqs list-queues',
  'logs describe-log-groups',
  'cloudwatch describe-alarms',
  's3 ls',
];

describe('docs/quick-start.md', () => {
  const TRIAL = '/apis/storage.example.com/v1/namespaces/finalizer-bridge-trial/scratchbuckets/first';
  let names = '';
  /** As the page names it; the site's function may touch what begins with the site's name. */
  let bucket = '';
  let bridge: Awaited<ReturnType<typeof runDeployment>>;
  /** In one shell, as the page has it: what was exported first is there for every block. */
  const typed = (text: string) => me.shell.follow(`${names}\n${text}`);
  const quick = () => typed(pages.next(QUICK).text);
  const isThere = async (path: string) => (await me.on.kube.request('GET', path)).status !== 404;

  it('1: has the reader name things, and asks AWS for the rest', async () => {
    const asked = pages.next(QUICK).text.replaceAll('eu-west-1', LOCAL_REGION);
    names = await me.shell.follow(`${asked}\nexport -p`);
    const image = `${LOCAL_ACCOUNT_ID}.dkr.ecr.${LOCAL_REGION}.amazonaws.com/finalizer-bridge`;
    expect(await typed('echo $IMAGE')).toBe(image);
    bucket = await typed('echo $BUCKET');
    expect(bucket).toMatch(new RegExp(`^trial-${LOCAL_ACCOUNT_ID}-\\d{10}$`));
  });

  it('2: makes the role, under the trust that the page on deployment shows, and the values', async () => {
    expect(await quick()).toContain('"associationId"');
    const trust = JSON.parse(fileIn('docs/deploy.md', 'json', 'pods.eks.amazonaws.com'));
    expect(JSON.parse(readFileSync(me.file('trust.json'), 'utf8'))).toEqual(trust);
    await quick();
    const role = await typed("aws iam get-role --role-name finalizer-bridge --query 'Role.[Arn,RoleId]' --output text");
    const [bridgeRoleArn, bridgeRoleId] = role.split(/\s+/);
    expect(parse(readFileSync(me.file('functions.values.yml'), 'utf8'))).toMatchObject({
      clusters: [{ name: 'production', uid: me.on.site.clusterUid, bridgeRoleArn, bridgeRoleId }],
    });
  });

  it('3: makes a place for the image, and the command line', { timeout: MINUTES }, async () => {
    expect(await quick()).toContain('"repositoryUri"');
    await quick();
    expect(await typed('finalizer-bridge --version')).toMatch(/\d+\.\d+\.\d+/);
  });

  it('4: deploys, installs, and sees that it runs', { timeout: MINUTES }, async () => {
    const block = pages.next(QUICK);
    // The README shows the same three.
    expect(pages.next('README.md').text).toBe(block.text);
    const [deploy = '', values = '', ...install] = block.text.split('\n');
    await typed(deploy);
    await typed(values);
    await me.mindQueues('dev');
    await typed(install.join('\n'));
    bridge = me.on.site.keep(await runDeployment(me.on.node, RELEASE, RELEASE));
    await leads({ ...bridge, url: me.on.bridgeUrl() });
    await me.rolledOut(RELEASE, RELEASE);
    const said = await quick();
    expect(said).toContain('successfully rolled out');
    expect(said).toMatch(/^Bridge: .* leads/m);
    // The page on the command line begins the same way.
    expect(await next('docs/cli.md')).not.toContain('error');
  });

  it('5: makes a kind, an object of it, and the bucket that it stands for', async () => {
    await quick();
    expect(await buckets().versions(bucket)).toBe(1);
  });

  it('6: has the object held under a rule', { timeout: MINUTES }, async () => {
    const block = pages.next(QUICK);
    expect(await typed(block.text)).toContain('teardownrule.finalizer-bridge.dev/scratch-buckets condition met');
    const finalizers = block.text.split('\n').at(-1) ?? '';
    const isHeld = async () => (await typed(finalizers)).includes('["finalizer-bridge.dev/scratch-buckets"]');
    await eventually('the object has its entry', isHeld, 60_000);
  });

  it('7: prints commands that prove whose the bucket is, and they do', { timeout: MINUTES }, async () => {
    const printed = await quick();
    expect(printed).toContain(bucket);
    await typed(printed);
    const tags = await typed('aws s3api get-bucket-tagging --bucket "$BUCKET"');
    expect(tags).toContain('finalizer-bridge.dev/owner-uid');
  });

  it('8: deletes it, and what it stands for', { timeout: MINUTES }, async () => {
    expect(await quick()).toContain('Rule scratch-buckets (handler s3-bucket)');
    await me.on.site.startFunction();
    await quick();
    expect(await isThere(TRIAL)).toBe(false);
    expect(await buckets().versions(bucket)).toBeUndefined();
    expect(await me.shell.run(`${names}\naws s3 ls "s3://$BUCKET"`)).toMatchObject({
      err: expect.stringContaining('NoSuchBucket'),
    });
  });

  it('goes out again, and leaves nothing of all that it has made', { timeout: MINUTES }, async () => {
    await me.uninstall(pages.next(QUICK), typed);
    await bridge.stop();
    await quick();
    const definitions = ['teardownrules.finalizer-bridge.dev', 'scratchbuckets.storage.example.com'];
    const left = [...definitions.map((name) => `${DEFINITIONS}/${name}`), LEASE_PATH, TRIAL];
    expect(await Promise.all(left.map(isThere))).toEqual(left.map(() => false));
    // Of SQS the command line asks AWS itself unless told on the command line.
    for (const command of LISTED.map((words) => `aws --endpoint-url ${me.front.endpoint} ${words}`)) {
      expect(await typed(command), command).not.toMatch(/finalizer-bridge-dev|trial-\d|[/"]finalizer-bridge"/);
    }
    const files = ['trust.json', 'functions.values.yml', 'bridge.values.yaml'];
    expect(files.filter((name) => existsSync(me.file(name)))).toEqual([]);
  });
});

it('every command that this test is named at was run', () => {
  expect(pages.left()).toEqual([]);
});
