/*
 * From somebody's own handlers to the values of the bridge's chart and the papers of its role: a repository as `finalizer-bridge init` makes it, deployed to an
 * emulated AWS by the commands of docs/write-a-handler.md, with a shipped handler in its registry beside its own.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { init } from '../../infra/kit/init.ts';
import { findAwsCli } from '../../infra/local/aws-cli.ts';
import { type Cloud, startCloud } from '../../infra/local/cloud.ts';
import { type CloudFront, startCloudFront } from '../support/cloud-front.ts';
import { commandsOf, pagesFor } from '../support/document-blocks.ts';
import { shellIn } from '../support/document-shell.ts';
import { type PackedKit, packKit } from '../support/kit-project.ts';
import { root } from '../support/tracked-files.ts';

const MINUTES = 300_000;
const UID = '6f3c7c52-2f0d-4c0e-9f59-5b6a1c1d7e10';
const pages = pagesFor(import.meta.filename);
let kit: PackedKit;
let cloud: Cloud;
let front: CloudFront;
let folder: string;

beforeAll(async () => {
  kit = await packKit();
  cloud = await startCloud({ say: console.error });
  front = await startCloudFront(cloud.endpoint);
  folder = await init({ folder: kit.folder('own'), spec: kit.tarball });
  kit.install(folder);
  change('registry.ts', [/defineRegistry\(\[/, 'defineRegistry([s3Bucket, ']);
  change('registry.ts', [/^import/m, "import { s3Bucket } from 'finalizer-bridge/handlers/s3-bucket';\nimport"]);
  const allow = '{ accounts: ["111122223333"], regions: [eu-west-1], names: [team-a-*] }';
  // The example's cluster is refused for a deployment.
  change(
    'functions.values.yml',
    [/AROAEXAMPLE/g, 'AROA0123456789AB'],
    [/^handlers:\n/m, `handlers:\n  s3-bucket: { allow: ${allow} }\n`],
  );
  // By change sets the emulator forgets the outputs of a stack; by direct updates it does not.
  change('service.cjs', [
    /return await (.*);/,
    "const made = await $1;\n  return { ...made, provider: { ...made.provider, deploymentMethod: 'direct' } };",
  ]);
}, MINUTES);
afterAll(async () => {
  await front?.stop();
  await cloud?.stop();
  kit?.remove();
});

function change(name: string, ...edits: readonly (readonly [RegExp, string])[]): void {
  const file = join(folder, name);
  const text = readFileSync(file, 'utf8');
  const edited = edits.reduce((so, [from, to]) => so.replace(from, to), text);
  if (edited === text) throw new Error(`changing ${name}: it has none of ${edits.map(([from]) => from).join(', ')}`);
  writeFileSync(file, edited);
}

/** Runs commands in the project, beside this process, which has the emulator's front; with credentials for that. */
async function run(command: string, env: Readonly<Record<string, string>> = {}) {
  const bin = join(folder, 'node_modules/.bin');
  const shell = shellIn(folder, {
    ...{ PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`, ...front.env },
    ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_EC2_METADATA_DISABLED: 'true', ...env },
  });
  return await shell.run(command);
}

const papers = z.looseObject({
  policy: z.object({
    Version: z.string(),
    Statement: z.array(z.looseObject({ Sid: z.string(), Resource: z.array(z.string()) })),
  }),
});
const values = z.object({
  queues: z.object({ region: z.string(), results: z.string() }),
  handlers: z.record(z.string(), z.object({ queue: z.string(), sender: z.string() })),
  deadLetters: z.object({ sender: z.string() }),
});

describe('the values for the chart, of a repository of handlers', () => {
  it('are not asked for in vain: a stack that is not there is named, with what can be done', {
    timeout: MINUTES,
  }, async () => {
    const { code, err } = await run('npm run --silent bridge-values');
    expect(code).toBe(1);
    expect(err).toMatch(/asking for the outputs of teardown-handlers-dev in \S+: .*does not exist; .*--outputs FILE/);
  });

  it('name the queues of own and of shipped handlers, and are what the chart takes', { timeout: MINUTES }, async () => {
    for (const command of commandsOf(pages.next('docs/write-a-handler.md'))) {
      const { code, out, err } = await run(command);
      expect(code, `${command}\n${out}${err}`).toBe(0);
    }
    const made: unknown = parse(readFileSync(join(folder, 'bridge.values.yaml'), 'utf8'));
    const { handlers, queues, deadLetters } = values.parse(made);
    expect(Object.keys(handlers).toSorted()).toEqual(['dns-record', 's3-bucket']);
    for (const [name, { queue, sender }] of Object.entries(handlers)) {
      expect(queue).toMatch(new RegExp(`/teardown-handlers-dev-${name}-requests$`));
      expect(sender).toMatch(/^AROA\w{12,}$/);
    }
    expect(queues.results).toContain(`teardown-handlers-dev-results-${UID}`);
    expect(new Set([deadLetters.sender, ...Object.values(handlers).map(({ sender }) => sender)]).size).toBe(3);
    const schema = JSON.parse(readFileSync(join(root, 'infra/chart/values.schema.json'), 'utf8'));
    const defaults = parse(readFileSync(join(root, 'infra/chart/values.yaml'), 'utf8'));
    const isTaken = new Ajv({ strict: false }).compile(schema);
    const merged = { ...defaults, ...z.parse(z.looseObject({}), made), queues: { ...defaults.queues, ...queues } };
    expect([isTaken(merged), isTaken.errors]).toEqual([true, null]);
  });

  it('are made of a file as well, for a cluster that is named, with no credentials', { timeout: MINUTES }, async () => {
    const aws = (await findAwsCli(console.error)).join(' ');
    const describe = 'cloudformation describe-stacks --stack-name teardown-handlers-dev > outputs.json';
    const described = await run(`${aws} ${describe}`, { AWS_DEFAULT_REGION: 'eu-west-1' });
    expect(described.code, described.err).toBe(0);
    const keyless = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' };
    const made = await run('npx --no-install finalizer-bridge bridge-values --outputs outputs.json --irsa', keyless);
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/roleArn: arn:aws:iam::/) });
    expect(values.parse(parse(made.out))).toEqual(
      values.parse(parse(readFileSync(join(folder, 'bridge.values.yaml'), 'utf8'))),
    );
    expect(
      await run('npx --no-install finalizer-bridge bridge-values --outputs outputs.json --for another'),
    ).toMatchObject({
      code: 1,
      err: expect.stringContaining('name one with --for; there are'),
    });
  });

  it('have the policy of the role beside them, for exactly the queues of this stack', {
    timeout: MINUTES,
  }, async () => {
    const flags = '--outputs outputs.json --service-account fb/bridge --oidc-provider https://oidc.example.com/id/ABC';
    const made = await run(`npm run --silent bridge-policy -- ${flags}`, { AWS_ACCESS_KEY_ID: '' });
    expect([made.code, made.err]).toEqual([0, '']);
    const { policy, ...trusts } = papers.parse(JSON.parse(made.out));
    expect(policy.Statement.map(({ Sid }) => Sid)).toEqual(['Requests', 'Results']);
    const [requests = [], results = []] = policy.Statement.map(({ Resource }) => Resource);
    const names = ['dns-record', 's3-bucket'].map((name) => `teardown-handlers-dev-${name}-requests`);
    expect(requests.map((arn) => arn.split(':').at(-1)).toSorted()).toEqual(names);
    expect(results).toEqual([expect.stringMatching(new RegExp(`^arn:aws:sqs:eu-west-1:.*results-${UID}$`))]);
    expect(JSON.stringify(trusts)).toContain('system:serviceaccount:fb:bridge');
    expect(Object.keys(trusts)).toEqual(['irsaTrust', 'podIdentityTrust']);
    expect(await run('npx finalizer-bridge bridge-policy --service-account bridge')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--service-account bridge: write <namespace>/<name>'),
    });
  });

  it('are the last command of the page', () => {
    expect(pages.left()).toEqual([]);
  });
});
