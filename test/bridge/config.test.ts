/*
 * The configuration is closed and dies early: every fault at once, each with its path, and nothing unknown let through.
 * Files are real ones in a private folder; what rules themselves may say is in rules.test.ts.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../../bridge/config.ts';
import { HANDLER, ruleText, SENDER } from '../support/bridge-builders.ts';

const good = {
  cluster: { name: 'production-eu' },
  rules: 'rules.yaml',
  queues: { region: 'eu-central-1', results: 'https://queues/results' },
  handlers: { [HANDLER]: { queue: `https://queues/${HANDLER}`, sender: SENDER } },
};

const pods = { group: '', resource: 'pods' };

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-config-'));
  file = join(folder, 'bridge.yaml');
  await writeFile(join(folder, 'rules.yaml'), `rules: [${ruleText()}]`);
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** The faults of a configuration, their paths relative to its folder. */
async function faultsOf(config: unknown): Promise<readonly (readonly [string, string])[]> {
  await writeFile(file, typeof config === 'string' ? config : stringify(config));
  const loaded = await loadConfig(file);
  return loaded.ok ? [] : loaded.faults.map(({ path, message }) => [path.replaceAll(`${folder}/`, ''), message]);
}

async function pathsOf(config: unknown): Promise<readonly string[]> {
  return (await faultsOf(config)).map(([path]) => path).sort();
}

describe('a good configuration', () => {
  it('is read with its rules, and with defaults for what it does not say', async () => {
    await writeFile(file, stringify(good));
    const loaded = await loadConfig(file);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults));
    const { rules, ...rest } = loaded.config;
    expect(rest).toEqual({
      ...{ cluster: good.cluster, queues: good.queues, handlers: good.handlers },
      ...{ kinds: [], leavingNamespaces: [], server: { host: '0.0.0.0', port: 8080 }, log: { level: 'info' } },
    });
    expect(rules?.map(({ name, handler }) => [name, handler])).toEqual([['team-buckets', HANDLER]]);
  });

  it('without a rules file leaves the rules to the API', async () => {
    await writeFile(file, stringify({ ...good, rules: undefined }));
    expect(await loadConfig(file)).toMatchObject({ ok: true, config: { rules: undefined } });
  });

  it('may be JSON, and may say everything', async () => {
    const all = {
      ...good,
      kinds: [
        { group: '', resource: 'configmaps' },
        { group: 'example.com', version: 'v1', resource: 'buckets' },
      ],
      ...{ namespaces: ['team-a', 'team-b'], leavingNamespaces: ['team-c'] },
      ...{ kubeconfig: join(folder, 'rules.yaml'), server: { host: '127.0.0.1', port: 0 }, log: { level: 'debug' } },
      queues: { ...good.queues, endpoint: 'http://127.0.0.1:4566' },
    };
    await writeFile(file, JSON.stringify(all));
    expect(await loadConfig(file)).toMatchObject({ ok: true, config: { ...all, rules: [{ name: 'team-buckets' }] } });
  });
});

describe('a fault', () => {
  it.each([
    ['rules', { ...good, rules: '' }],
    ['kinds', { ...good, kinds: 'buckets' }],
    ['kinds.0.resource', { ...good, kinds: [{ group: 'example.com', resource: 'Bucket' }] }],
    ['kinds.0.group', { ...good, kinds: [{ resource: 'pods' }] }],
    [
      'kinds.1.version',
      {
        ...good,
        kinds: [
          { group: '', resource: 'pods' },
          { ...pods, version: 'V 1' },
        ],
      },
    ],
    ['kinds.0', { ...good, kinds: [{ group: '', resource: 'secrets' }] }],
    ['kinds.0', { ...good, kinds: [{ group: 'finalizer-bridge.dev', resource: 'teardownrules' }] }],
    ['kinds.0.kind', { ...good, kinds: [{ ...pods, kind: 'Pod' }] }],
    ['queues', { ...good, queues: undefined }],
    ['queues.region', { ...good, queues: { ...good.queues, region: '' } }],
    ['queues.results', { ...good, queues: { ...good.queues, results: 'results' } }],
    ['queues.endpoint', { ...good, queues: { ...good.queues, endpoint: 'ftp://127.0.0.1' } }],
    ['handlers', { ...good, handlers: undefined }],
    [`handlers.${HANDLER}.sender`, { ...good, handlers: { [HANDLER]: { queue: 'https://queues/a' } } }],
    [`handlers.${HANDLER}.queue`, { ...good, handlers: { [HANDLER]: { queue: 7, sender: SENDER } } }],
    ['handlers.S3', { ...good, handlers: { ...good.handlers, S3: good.handlers[HANDLER] } }],
    ['cluster.name', { ...good, cluster: { name: '' } }],
    ['server.port', { ...good, server: { port: 65_536 } }],
    ['server.port', { ...good, server: { port: '8080' } }],
    ['log.level', { ...good, log: { level: 'chatty' } }],
    ['kubeconfig', { ...good, kubeconfig: '' }],
    ['namespaces', { ...good, namespaces: [] }],
    ['namespaces.1', { ...good, namespaces: ['team-a', 'Team B'] }],
    ['leavingNamespaces.0', { ...good, leavingNamespaces: ['team-a'] }],
    ['leavingNamespaces.1', { ...good, namespaces: ['team-a'], leavingNamespaces: ['team-b', 'team-a'] }],
  ])('in %s is told with its path', async (path, config) => {
    expect(await pathsOf(config)).toEqual([`bridge.yaml: ${path}`]);
  });

  it.each([
    ['rule', { ...good, rule: 'rules.yaml' }],
    ['queues.result', { ...good, queues: { ...good.queues, result: 'x' } }],
    [`handlers.${HANDLER}.senders`, { ...good, handlers: { [HANDLER]: { ...good.handlers[HANDLER], senders: [] } } }],
    ['server.ports', { ...good, server: { ports: 1 } }],
    ['log.file', { ...good, log: { level: 'info', file: 'x' } }],
  ])('is also a field that is unknown: %s', async (path, config) => {
    expect(await faultsOf(config)).toEqual([[`bridge.yaml: ${path}`, 'unknown field']]);
  });

  it('is told together with all others, those of the rules included', async () => {
    await writeFile(join(folder, 'rules.yaml'), ruleText({ term: '1m' }));
    const broken = { queues: { region: 7, results: 'x' }, handlers: { [HANDLER]: {} }, server: { port: -1 }, more: 1 };
    const paths = [
      `handlers.${HANDLER}.queue`,
      `handlers.${HANDLER}.sender`,
      'more',
      'queues.region',
      'queues.results',
    ];
    expect(await pathsOf({ ...broken, rules: 'rules.yaml' })).toEqual([
      ...[...paths, 'server.port'].map((path) => `bridge.yaml: ${path}`),
      'rules.yaml: team-buckets: spec.term',
    ]);
  });

  it.each([
    ['no YAML', 'rules: [', 'bridge.yaml'],
    ['empty', '', 'bridge.yaml'],
    ['a list', '[]', 'bridge.yaml'],
    ['two documents', 'a: 1\n---\nb: 2', 'bridge.yaml'],
    [
      'of a tag that nobody knows, and would be read without it',
      `${stringify(good)}\nkubeconfig: !secret none`,
      'bridge.yaml',
    ],
    ['a key twice', `${stringify(good)}\nrules: other.yaml`, 'bridge.yaml'],
  ])('is a file that is %s', async (_what, text, path) => {
    expect(await pathsOf(text)).toEqual([path]);
  });

  it('is a file that is not there', async () => {
    expect(await loadConfig(join(folder, 'none.yaml'))).toMatchObject({
      ok: false,
      faults: [{ path: join(folder, 'none.yaml'), message: expect.stringContaining('ENOENT') }],
    });
    expect(await pathsOf({ ...good, rules: 'none.yaml' })).toEqual(['none.yaml']);
    expect(await pathsOf({ ...good, kubeconfig: join(folder, 'none') })).toEqual(['bridge.yaml: kubeconfig']);
  });
});

describe('the rules that the configuration names', () => {
  it('have their faults told with file, rule and field, all of them', async () => {
    await writeFile(
      join(folder, 'rules.yaml'),
      `[${ruleText({ term: '1m' })}, ${ruleText({ policy: '1 +' }, 'other')}]`,
    );
    const paths = await pathsOf(good);
    expect(paths.map((path) => path.replace(/: spec\..*/, ''))).toEqual([
      'rules.yaml: other',
      'rules.yaml: team-buckets',
    ]);
  });

  it('need a queue for each handler they name', async () => {
    await writeFile(join(folder, 'rules.yaml'), ruleText({ handler: 'ec2-instance' }));
    expect(await faultsOf(good)).toEqual([
      ['bridge.yaml: handlers.ec2-instance', 'rule team-buckets needs this handler, and no queue is configured for it'],
    ]);
  });

  it('may be anywhere relative to the configuration', async () => {
    await writeFile(join(folder, 'more.yaml'), ruleText());
    expect(await faultsOf({ ...good, rules: './more.yaml' })).toEqual([]);
    expect(await faultsOf({ ...good, rules: join(folder, 'more.yaml') })).toEqual([]);
  });
});
