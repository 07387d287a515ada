/*
 * A repository of handlers outside this tree, as `finalizer-bridge init` makes it: compiled, tested and packaged with no
 * network, from the packed npm package. What is refused on the way is in kit-refusals.slow.test.ts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { registry } from '../../functions/registry.ts';
import { init } from '../../infra/kit/init.ts';
import { type PackedKit, packKit, type Ran } from '../support/kit-project.ts';
import { root } from '../support/tracked-files.ts';

const templateShape = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), Properties: z.optional(z.looseObject({})) })),
  Outputs: z.record(z.string(), z.unknown()),
});
const manifestShape = z.object({
  version: z.string(),
  exports: z._default(z.record(z.string(), z.unknown()), {}),
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});
const manifestOf = (folder: string) =>
  manifestShape.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));

let kit: PackedKit;
beforeAll(async () => {
  kit = await packKit();
}, 600_000);
afterAll(() => kit?.remove());

async function project(name: string): Promise<string> {
  const folder = await init({ folder: kit.folder(name), spec: kit.tarball });
  kit.install(folder);
  return folder;
}

function said({ code, out, err }: Ran): string {
  return `code ${code}\n${out}${err}`;
}

function templateOf(folder: string) {
  const file = join(folder, '.serverless/cloudformation-template-update-stack.json');
  const { Resources, Outputs } = templateShape.parse(JSON.parse(readFileSync(file, 'utf8')));
  const ofType = (type: string) =>
    Object.entries(Resources).flatMap(([id, { Type }]) => (Type === `AWS::${type}` ? [id] : []));
  return { resources: Resources, outputs: Object.keys(Outputs), ofType };
}

const bundleOf = (folder: string, name: string) =>
  readFileSync(join(folder, 'build/functions', name, 'index.mjs'), 'utf8');

describe('the repository that init makes', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await project('fresh');
  });

  it('compiles with strict types', () => {
    expect(said(kit.run(folder, 'npm', ['run', '--silent', 'typecheck']))).toBe('code 0\n');
  }, 600_000);

  it('passes its own tests, the conformance suite among them', () => {
    const ran = kit.run(folder, 'npm', ['test']);
    expect(ran.code, said(ran)).toBe(0);
    expect(ran.out).toContain('never says gone because a call failed, and ends the same after it');
    expect(ran.out).toMatch(/fail 0\n/);
  }, 600_000);

  it('packages queues, roles, functions, dead letters, alarms and outputs of its registry, offline', () => {
    const ran = kit.run(folder, 'npm', ['run', 'package']);
    expect(ran.code, said(ran)).toBe(0);
    const { ofType, outputs, resources } = templateOf(folder);
    expect(ofType('Lambda::Function').sort()).toEqual(['DeadDashlettersLambdaFunction', 'DnsDashrecordLambdaFunction']);
    expect(ofType('IAM::Role').sort()).toEqual(['DeadDashlettersRole', 'DnsDashrecordRole']);
    expect(ofType('SQS::Queue')).toEqual(
      expect.arrayContaining(['DnsDashrecordRequestQueue', 'DnsDashrecordRequestDeadLetterQueue']),
    );
    expect(ofType('CloudWatch::Alarm')).toContain('DnsDashrecordRequestDeadLetterQueueLyingAlarm');
    expect(outputs).toEqual(expect.arrayContaining(['DnsDashrecordRequestQueueUrl', 'DnsDashrecordRoleId']));
    expect(resources.DnsDashrecordLambdaFunction?.Properties).toMatchObject({
      FunctionName: 'teardown-handlers-dev-dns-record',
      Runtime: 'nodejs24.x',
    });
  }, 600_000);

  it('has versions that this package was tested with', () => {
    const own = manifestOf(root);
    const { dependencies, devDependencies } = manifestOf(folder);
    const { 'finalizer-bridge': spec, ...others } = { ...dependencies, ...devDependencies };
    expect(spec).toBe(`file:vendor/${basename(kit.tarball)}`);
    expect({ ...own.dependencies, ...own.devDependencies }).toMatchObject(others);
    expect(manifestOf(join(root, 'infra/template')).dependencies['finalizer-bridge']).toBe(own.version);
  });
});

describe('a registry', () => {
  const shipped = `
    import { defineHandler, defineRegistry, gone } from 'finalizer-bridge/functions';
    import { s3Bucket } from 'finalizer-bridge/handlers/s3-bucket';
    import * as z from 'zod';
    import { dnsRecord } from './handlers/dns-record';
    const made = (name: string) => defineHandler({
      name, version: '1', target: z.strictObject({ id: z.string() }), options: z.strictObject({}), permissions: [],
      identity: ({ id }) => ({ names: [id], place: 'outside' }), service: 'none', connect: () => undefined,
      teardown: async () => gone('absent'),
    });
    enum Dialect { Old }
    export const registry = defineRegistry([dnsRecord, s3Bucket, made('inline'), made('spare')].slice(Dialect.Old));`;
  const allow = `{ accounts: ['111122223333'], regions: [eu-west-1], names: [team-a-*] }`;

  it('may name shipped handlers and make its own where it stands; a handler of a module is bundled without the others', async () => {
    const folder = await project('mixed');
    writeFileSync(join(folder, 'registry.ts'), shipped);
    const values = readFileSync(join(folder, 'functions.values.yml'), 'utf8');
    writeFileSync(
      join(folder, 'functions.values.yml'),
      `${values}  s3-bucket: { allow: ${allow} }\n  inline: { allow: ${allow} }\n`,
    );
    const ran = kit.run(folder, 'serverless', ['package']);
    expect(ran.code, said(ran)).toBe(0);
    expect(said(ran)).toMatch(
      /\nspare: registered, but not deployed, since .*functions\.values\.yml does not list it\./,
    );
    const isClientOfS3 = (text: string) => text.includes('http://s3.amazonaws.com/doc/2006-03-01');
    const isDns = (text: string) => text.includes('/api/v1/servers/localhost/zones/');
    const marks = ['dns-record', 's3-bucket', 'inline'].map((name) => {
      const text = bundleOf(folder, name);
      return [isClientOfS3(text), isDns(text)];
    });
    expect(marks).toEqual([
      [false, true],
      [true, false],
      [true, true],
    ]);
    expect(templateOf(folder).ofType('Lambda::Function')).toHaveLength(4);
    const started = kit.run(folder, process.execPath, ['build/functions/dns-record/index.mjs']);
    expect(started.err).toContain('reading FINALIZER_BRIDGE_CONFIG: the variable is not set');
  }, 600_000);

  it('finds every shipped handler under an entrance of its own', () => {
    const entrances = Object.keys(manifestOf(root).exports).filter((name) => name.startsWith('./handlers/'));
    expect(entrances).toEqual(registry.map(({ name }) => `./handlers/${name}`));
  });
});
