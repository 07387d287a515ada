/*
 * docs/deploy.md, followed: its commands are taken from the page and run in a checkout, with a real API server, kubectl, helm, the
 * AWS command line and an emulated AWS. Each test goes on where the one before it ended, as a reader does.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { pagesFor } from '../support/document-blocks.ts';
import { type FirstInstall, fileIn, RELEASE, startFirstInstall } from '../support/first-install.ts';

const MINUTES = 600_000;
const pages = pagesFor(import.meta.filename);
const DEPLOY = 'docs/deploy.md';

let me: FirstInstall;
const next = (document: string) => me.shell.follow(pages.next(document));

beforeAll(async () => {
  me = await startFirstInstall('deploy', 'own');
}, MINUTES);
afterAll(() => me?.stop(), MINUTES);

const HANDLERS = stringify({
  handlers: { 's3-bucket': { allow: { accounts: ['111122223333'], regions: ['eu-west-1'], names: ['team-a-*'] } } },
});

/** Puts what the page had printed where it says that it belongs. */
function writeValues(name: string, stage: string, role: string): void {
  const [arn = '', id = ''] = role.trim().split(/\s+/);
  expect([arn, id]).toEqual([
    expect.stringMatching(/^arn:aws:iam::.*finalizer-bridge$/),
    expect.stringMatching(/^AROA/),
  ]);
  const text = readFileSync(me.file('functions.values.example.yml'), 'utf8')
    .replace('stage: dev', `stage: ${stage}`)
    .replace(/bridgeRoleArn: .*/, `bridgeRoleArn: ${arn}`)
    .replace(/bridgeRoleId: .*/, `bridgeRoleId: ${id}`)
    .replace(/uid: .*/, `uid: ${me.on.site.clusterUid}`)
    .replace(/\nhandlers:[\s\S]*/, `\n${HANDLERS}`);
  writeFileSync(me.file(name), text);
}

describe('docs/deploy.md', () => {
  it('makes the role, whose printed ARN and id are those that the values name', async () => {
    writeFileSync(me.file('trust.json'), fileIn(DEPLOY, 'json', 'pods.eks.amazonaws.com'));
    const said = await next(DEPLOY);
    writeValues('functions.values.prod.yml', 'prod', said.trim().split('\n').at(-1) ?? '');
    await next(DEPLOY);
    const list = 'aws eks list-pod-identity-associations --cluster-name production';
    expect(JSON.parse(await me.shell.follow(list))).toMatchObject({
      associations: [{ namespace: RELEASE, serviceAccount: RELEASE }],
    });
  });

  it('deploys a stage, writes what the chart is told of it, and installs the chart with that', {
    timeout: MINUTES,
  }, async () => {
    const block = pages.next(DEPLOY);
    const [deploy = '', values = '', ...install] = block.text.split('\n');
    await me.shell.follow(deploy);
    await me.shell.follow(values);
    await me.mindQueues('prod');
    writeFileSync(me.file('my.values.yaml'), fileIn(DEPLOY, 'yaml', 'image:'));
    expect(await me.shell.follow(install.join('\n'))).toContain(`runs in namespace ${RELEASE}`);
  });

  it('reads what others have deployed from what the AWS command line writes', { timeout: MINUTES }, async () => {
    await next(DEPLOY);
    await me.mindQueues('prod');
  });

  it('is taken away again: the release by what the chart says of it, the stack when its queues are empty', {
    timeout: MINUTES,
  }, async () => {
    await me.uninstall(pages.next('infra/chart/README.md'), me.shell.follow);
    await next(DEPLOY);
    expect(await me.shell.run('aws cloudformation describe-stacks --stack-name finalizer-bridge-prod')).toMatchObject({
      code: expect.not.stringMatching(/^0$/),
      err: expect.stringContaining('does not exist'),
    });
  });
});

it('every command that this test is named at was run', () => {
  expect(pages.left()).toEqual([]);
});
