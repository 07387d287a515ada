/*
 * The user's values for the functions: what is refused before anything is packaged, and what the service is made of.
 * The service is composed of handlers written here, so that the derivation is tested and not today's registry.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { readConfig } from '../../functions/config.ts';
import { defineHandler, gone, type Limits, type Permission } from '../../functions/handler.ts';
import { registry } from '../../functions/registry.ts';
import { composeService, loadService } from '../../infra/functions/service.ts';
import { readValues, ValuesError } from '../../infra/functions/values.ts';

const folder = mkdtempSync(join(tmpdir(), 'finalizer-bridge-values-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cluster = `{ uid: abc-1, bridgeRoleArn: 'arn:aws:iam::111122223333:role/bridge', bridgeRoleId: AROA0123456789ABCDEF }`;
const allow = `{ accounts: ['111122223333'], regions: [eu-west-1], names: [team-*] }`;
const valid = `clusters: [${cluster}]\nhandlers: { thing: { allow: ${allow} } }\n`;

interface Parts {
  readonly limits?: Partial<Limits>;
  readonly permissions?: readonly Permission[];
}

function handlerNamed(name: string, { limits = {}, permissions = [] }: Parts = {}) {
  return defineHandler({
    ...{ name, version: '1', target: z.object({}), options: z.object({}), permissions, limits },
    identity: () => ({ names: ['x'], place: 'outside' }),
    service: 'none',
    connect: () => undefined,
    teardown: async () => gone('absent'),
  });
}

function fileWith(text: string): string {
  const file = join(folder, 'values.yml');
  writeFileSync(file, text);
  return file;
}

function compose(text: string, handlers = [handlerNamed('thing')]) {
  const where = { file: fileWith(text), folder, exampleAllowed: false };
  const { values, source } = readValues(
    where,
    handlers.map(({ name }) => name),
  );
  return composeService(values, handlers, source);
}

function faultsOf(text: string, handlers = [handlerNamed('thing')]): readonly string[] {
  try {
    compose(text, handlers);
  } catch (error) {
    if (error instanceof ValuesError) return error.faults;
    throw error;
  }
  return [];
}

describe('the values of the functions', () => {
  it('are refused with every fault and its path at once', () => {
    const faults = faultsOf(`
stage: Prod!
region: here
logRetentionDays: 2
clusters:
  - { uid: A/B, bridgeRoleArn: 'arn:aws:iam::1:role/x' }
handlers: { thing: { maximumConcurrency: 1 } }
alow: {}
`);
    expect(faults.map((fault) => fault.split(': ')[0])).toEqual([
      'stage',
      'region',
      'logRetentionDays',
      'clusters.0.uid',
      'clusters.0.bridgeRoleArn',
      'clusters.0.bridgeRoleId',
      'handlers.thing.maximumConcurrency',
      'Unrecognized key',
    ]);
    expect(faults.at(-1)).toContain('"alow"');
  });

  it.each([
    ['text that is not YAML', 'clusters: [', /line 1/],
    ['no cluster', valid.replace(cluster, ''), /^clusters: names no cluster/],
    ['a cluster twice', valid.replace(cluster, `${cluster}, ${cluster}`), /^clusters\.1\.uid: .*second time/],
    ['no handler', valid.replace(/handlers:.*/, 'handlers: {}'), /^handlers: lists no handler/],
    ['a handler that is not registered', valid.replace('thing', 'think'), /^handlers\.think: .*there are thing$/],
    ['a handler without an allow-list', valid.replace(/thing: .*/, 'thing: {} }'), /^handlers\.thing\.allow: /],
    ['a misspelt limit', valid.replace('allow:', 'allowed:'), /^handlers\.thing\..*"allowed"/],
    ['an empty pattern', valid.replace('team-*', "''"), /^handlers\.thing\.allow\.names\.0: /],
    [
      'what the packaging sets',
      valid.replace('thing: {', 'thing: { clusters: [],'),
      /^handlers\.thing\.clusters: is set/,
    ],
    [
      'a stage that makes names too long',
      `stage: ${'s'.repeat(20)}\nservice: ${'n'.repeat(40)}\n${valid}`,
      /the function name/,
    ],
  ])('are refused for %s', (_, text, fault) => {
    expect(faultsOf(text)).toContainEqual(expect.stringMatching(fault));
  });

  it('are refused when they do not fit a function’s environment of 4 KB, and the fault says how large they are', () => {
    const many = Array.from({ length: 60 }, (_, index) => `a-rather-long-name-of-some-team-or-other-${index}-*`);
    const fitting = valid.replace('[team-*]', JSON.stringify(many.slice(0, 50)));
    expect(faultsOf(fitting)).toEqual([]);
    const [fault, ...others] = faultsOf(valid.replace('[team-*]', JSON.stringify([...many, ...many])));
    expect(fault).toMatch(/^handlers\.thing: its configuration takes \d{4} bytes .* has 4096/);
    expect(others).toEqual([]);
  });

  it('are refused when the role made of them would be larger than IAM takes', () => {
    const actions = ['thing:Delete'];
    const resources = () =>
      Array.from({ length: 400 }, (_, index) => `arn:aws:thing:::some-name-that-is-long-${index}`);
    const faults = faultsOf(valid, [handlerNamed('thing', { permissions: [{ actions, resources }] })]);
    expect(faults).toEqual([expect.stringMatching(/^handlers\.thing\.allow: .* characters, IAM takes 10240/)]);
  });

  it('may be missing for packaging, where the example stands in with every registered handler, never for deploying', () => {
    const empty = join(folder, 'empty');
    expect(() => readValues({ file: join(folder, 'none.yml'), folder, exampleAllowed: true }, [])).toThrow('not exist');
    expect(() => readValues({ folder: empty, exampleAllowed: false }, [])).toThrow('functions.values.yml');
    const said: string[] = [];
    const { functions } = loadService({ folder: empty, exampleAllowed: true, handlers: registry }, (notice) =>
      said.push(notice),
    );
    expect(Object.keys(functions).sort()).toEqual(['dead-letters', ...registry.map(({ name }) => name)].sort());
    expect(said).toEqual([expect.stringContaining('example')]);
  });
});

describe('the service composed of values and handlers', () => {
  it('deploys only the handlers that the values list', () => {
    const service = compose(valid, [handlerNamed('thing'), handlerNamed('other')]);
    expect(Object.keys(service.functions)).toEqual(['thing', 'dead-letters']);
    expect(JSON.stringify(service)).not.toContain('Other');
  });

  it('says which registered handlers it leaves out, and what to do about it, and nothing where there are none', () => {
    const said = (handlers: readonly string[]) => {
      const notices: string[] = [];
      const where = { file: fileWith(valid), folder, exampleAllowed: false };
      loadService({ ...where, handlers: handlers.map((name) => handlerNamed(name)) }, (notice) => notices.push(notice));
      return notices;
    };
    expect(said(['thing', 'other', 'third'])).toEqual([
      `other, third: registered, but not deployed, since ${join(folder, 'values.yml')} does not list them. To deploy one, say under handlers.<name>.allow what it may touch.`,
    ]);
    expect(said(['thing', 'other'])).toEqual([expect.stringContaining('does not list it.')]);
    expect(said(['thing'])).toEqual([]);
  });

  it('follows each handler’s own limits: time-out, visibility, batch size, memory, concurrency (Q1, Q4)', () => {
    const limits = { timeBudgetSeconds: 20, batchSize: 10, memoryMb: 1024, maximumConcurrency: 7 };
    const service = compose(valid, [handlerNamed('thing', { limits })]);
    const sqs = { batchSize: 10, maximumConcurrency: 7, functionResponseType: 'ReportBatchItemFailures' };
    expect(service.functions.thing).toMatchObject({ timeout: 50, memorySize: 1024, events: [{ sqs }] });
    expect(service.resources.Resources.ThingRequestQueue?.Properties).toMatchObject({ VisibilityTimeout: 300 });
  });

  it('has alarms without an action where no topic is named, and refuses what is no topic', () => {
    const alarms = Object.values(compose(valid).resources.Resources).filter(({ Type }) => Type.endsWith('::Alarm'));
    expect(alarms.length).toBeGreaterThan(2);
    for (const { Properties } of alarms) expect(Properties).not.toHaveProperty('AlarmActions');
    expect(faultsOf(`${valid}alarms: { topicArn: platform-alarms }\n`)).toEqual([
      expect.stringMatching(/^alarms\.topicArn: is not the ARN of an SNS topic$/),
    ]);
  });

  it('refuses a handler with the name of the dead-letter function, and names that are too long for it', () => {
    expect(faultsOf(valid.replace('thing:', 'dead-letters:'), [handlerNamed('dead-letters')])).toContainEqual(
      expect.stringContaining('has the name of the dead-letter function'),
    );
    const long = `service: ${'s'.repeat(40)}\nstage: ${'t'.repeat(20)}\n${valid}`;
    expect(faultsOf(long)).toContainEqual(expect.stringMatching(/dead-letters has 74 characters, AWS takes 64/));
  });

  it('lets the values lower or raise a handler’s concurrency', () => {
    const service = compose(valid.replace('thing: {', 'thing: { maximumConcurrency: 3,'));
    expect(service.functions.thing?.events).toMatchObject([{ sqs: { maximumConcurrency: 3 } }]);
  });

  it('hands text that looks like a reference to the function as it is written', () => {
    const service = compose(valid.replace('team-*', `"\${AWS::AccountId}-*"`));
    const template = service.functions.thing?.environment.FINALIZER_BRIDGE_CONFIG;
    const text = JSON.stringify(template);
    expect(text).toContain(`\${!AWS::AccountId}-*`);
    const sub: { 'Fn::Sub': string } = JSON.parse(text);
    const deployed = sub['Fn::Sub']
      .replaceAll(`\${ResultAbcDash1Queue}`, 'https://queue.example.com')
      .replaceAll(`\${!`, `\${`);
    const config = readConfig(handlerNamed('thing'), { FINALIZER_BRIDGE_CONFIG: deployed, AWS_REGION: 'eu-west-1' });
    expect(config.allow.names).toEqual([`\${AWS::AccountId}-*`]);
  });

  it('grants what a dangerous option needs only where the values allow that option', () => {
    const permissions: readonly Permission[] = [
      { actions: ['thing:Delete'], resources: () => ['arn:aws:thing:::a'] },
      {
        actions: ['thing:Unlock'],
        resources: ({ options = [] }) => (options.includes('unlock') ? ['arn:aws:thing:::a'] : []),
      },
    ];
    const handlers = [{ ...handlerNamed('thing', { permissions }), dangerous: ['unlock'] }];
    const roleOf = (text: string) => JSON.stringify(compose(text, handlers).resources.Resources.ThingRole);
    const allowing = valid.replace('names: [team-*]', 'names: [team-*], options: [unlock]');
    expect(roleOf(valid)).toContain('thing:Delete');
    expect(roleOf(valid)).not.toContain('thing:Unlock');
    expect(roleOf(allowing)).toContain('thing:Unlock');
    expect(faultsOf(allowing.replace('[unlock]', '[unlokc]'), handlers)).toEqual([
      'handlers.thing.allow.options.0: thing has no such option, only unlock',
    ]);
  });

  it('keeps IAM’s own variables in what a handler declares', () => {
    const arn = `arn:aws:thing:::\${aws:PrincipalTag/team}`;
    const service = compose(valid, [
      handlerNamed('thing', { permissions: [{ actions: ['thing:Delete'], resources: () => [arn] }] }),
    ]);
    expect(JSON.stringify(service.resources.Resources.ThingRole)).toContain(`"Resource":["${arn}"]`);
  });
});

describe('npm run package', () => {
  it('ends with the faults of the values before it builds anything', async () => {
    const entry = join(import.meta.dirname, '../../infra/package.ts');
    const file = fileWith(valid.replace('names:', 'nmaes:'));
    const child = spawn(process.execPath, [entry, '--values', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    expect(said).toContain(`reading ${file}: one fault\n  - handlers.thing: is not registered`);
    expect(out).toBe('');
    expect(code).toBe(1);
  });
});
