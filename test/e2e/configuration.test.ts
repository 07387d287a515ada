/*
 * Bad configurations, given to the real processes: each is refused at start, before anything is watched or polled, with
 * every fault and its path.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startFunctionProcess } from '../../infra/local/function-process.ts';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../infra/local/places.ts';
import { bridgeBundle } from '../support/made-once.ts';

let folder: string;
/** The bridge that is shipped. */
let entry: string;
beforeAll(async () => {
  entry = join((await bridgeBundle()).outDir, 'main.mjs');
  folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-configuration-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const target = { bucket: 'object.status.bucketName', region: `'${LOCAL_REGION}'`, account: `'${LOCAL_ACCOUNT_ID}'` };
const GOOD_RULE = {
  metadata: { name: 'team' },
  spec: { match: { group: 'example.com', version: 'v1', resource: 'buckets' }, handler: 's3-bucket', target },
};
const GOOD_CONFIG = {
  queues: { region: LOCAL_REGION, results: 'http://127.0.0.1:1/0/results' },
  handlers: { 's3-bucket': { queue: 'http://127.0.0.1:1/0/requests', sender: 'AROAFUNCTION' } },
};

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  /** Lines, the private folder's path left out. */
  readonly faults: readonly string[];
}

/** Starts a bridge that has to end by itself. */
async function startBridge(...args: readonly string[]): Promise<Ended> {
  return await new Promise((resolve) => {
    execFile(process.execPath, [entry, ...args], { timeout: 120_000 }, (error, stdout, stderr) => {
      const faults = stderr.replaceAll(`${folder}/`, '').trimEnd().split('\n');
      resolve({ code: error?.code ?? 0, stdout, faults });
    });
  });
}

async function startBridgeWith(config: object, rules: readonly object[] = [GOOD_RULE]): Promise<Ended> {
  await writeFile(join(folder, 'rules.yaml'), stringify({ rules }));
  await writeFile(join(folder, 'bridge.yaml'), stringify({ rules: 'rules.yaml', ...config }));
  return await startBridge('--config', join(folder, 'bridge.yaml'));
}

describe('the bridge', () => {
  it('names every fault of its configuration and of its rules at once, each with its path, and ends with 2', async () => {
    const config = {
      colour: 'red',
      kubeconfig: join(folder, 'nowhere'),
      queues: { region: '', results: 'ftp://results' },
      handlers: { S3: GOOD_CONFIG.handlers['s3-bucket'], 's3-bucket': { queue: 5 } },
      server: { port: 70_000, hots: 'all' },
      log: { level: 'loud' },
    };
    const match = { group: '', version: 'v1', resource: 'secrets' };
    const rules = [
      GOOD_RULE,
      {
        metadata: { name: 'Bad_Name' },
        spec: { ...GOOD_RULE.spec, match, target: { bucket: 'object.(' }, term: '1m' },
      },
      GOOD_RULE,
    ];

    const { code, stdout, faults } = await startBridgeWith(config, rules);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const paths = faults.map((line) => line.replace(/^(bridge\.yaml: \S+|rules\.yaml: \S+ \S+): .+$/, '$1')).sort();
    expect(paths).toEqual([
      'bridge.yaml: colour',
      'bridge.yaml: handlers.S3',
      'bridge.yaml: handlers.s3-bucket.queue',
      'bridge.yaml: handlers.s3-bucket.sender',
      'bridge.yaml: kubeconfig',
      'bridge.yaml: log.level',
      'bridge.yaml: queues.region',
      'bridge.yaml: queues.results',
      'bridge.yaml: server.hots',
      'bridge.yaml: server.port',
      'rules.yaml: Bad_Name: metadata.name',
      'rules.yaml: Bad_Name: spec.match',
      'rules.yaml: Bad_Name: spec.target.bucket',
      'rules.yaml: Bad_Name: spec.term',
      'rules.yaml: team: metadata.name',
    ]);
    expect(faults).toContain('bridge.yaml: server.hots: unknown field');
    expect(faults).toContain(
      'bridge.yaml: handlers.s3-bucket.sender: Invalid input: expected string, received undefined',
    );
  });

  it('refuses rules for a handler without a queue', async () => {
    const spec = { ...GOOD_RULE.spec, handler: 'ec2-instance' };
    const { code, faults } = await startBridgeWith(GOOD_CONFIG, [{ metadata: { name: 'machines' }, spec }]);

    expect(code).toBe(2);
    expect(faults).toEqual([
      'bridge.yaml: handlers.ec2-instance: rule machines needs this handler, and no queue is configured for it',
    ]);
  });

  it.each([
    ['is not there', undefined, /^absent\.yaml: ENOENT/],
    ['is not YAML', 'rules: [', /^absent\.yaml: .+ at line 1/],
    ['is no map', 'just words', /^absent\.yaml: Invalid input: expected object, received string$/],
  ])('says so when its configuration %s', async (_what, text, fault) => {
    const file = join(folder, 'absent.yaml');
    if (text === undefined) await rm(file, { force: true });
    else await writeFile(file, text);

    const { code, faults } = await startBridge('--config', file);

    expect(code).toBe(2);
    expect(faults[0]).toMatch(fault);
  });

  it('says how it is used when it is not told where its configuration is', async () => {
    expect(await startBridge()).toEqual({ code: 2, stdout: '', faults: ['usage: bridge --config FILE'] });
  });

  it('ends with one line of its log when its kubeconfig names no cluster', async () => {
    await writeFile(join(folder, 'kubeconfig'), 'apiVersion: v1\nkind: Config\n');
    const { code, stdout } = await startBridgeWith({ ...GOOD_CONFIG, kubeconfig: join(folder, 'kubeconfig') });

    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ level: 'error', msg: 'starting the bridge: failed' });
  });
});

describe('a function', () => {
  /** Starts the function of s3-bucket as Lambda would. */
  async function startFunction(configuration: string | undefined): Promise<unknown> {
    const functions = join(import.meta.dirname, '..', '..', 'functions');
    const entry = join(folder, 'entry.mjs');
    const text = `
import { createEntry } from '${functions}/entry.ts';
import { s3Bucket } from '${functions}/handlers/s3-bucket.ts';
export const handler = createEntry(s3Bucket);`;
    await writeFile(entry, text);
    return await startFunctionProcess({
      ...{ functionName: 'any', entry, batchSize: 1, functionTimeoutMs: 60_000, concurrency: 1 },
      ...{ accessKeyId: 'any', region: LOCAL_REGION, folder },
      queues: [{ url: 'http://127.0.0.1:1/0/requests', arn: `arn:aws:sqs:${LOCAL_REGION}:000000000000:requests` }],
      endpoints: { sqs: 'http://127.0.0.1:1' },
      environment: configuration === undefined ? {} : { FINALIZER_BRIDGE_CONFIG: configuration },
    }).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  it('names every fault of its configuration, each with its path, and does not start', async () => {
    const bad = {
      handler: 's3-bucket',
      clusters: [{ uid: 'a/b', sender: '', resultQueueUrl: 'results' }],
      allow: { accounts: ['12'], regions: [], names: ['team-*'], namse: [] },
      ownershipNon: true,
    };

    const error = await startFunction(JSON.stringify(bad));

    const paths = [
      ...['clusters.0.uid', 'clusters.0.sender', 'clusters.0.resultQueueUrl', 'allow.accounts.0', 'allow.regions'],
      ...['allow: Unrecognized key: "namse"', 'Unrecognized key: "ownershipNon"'],
    ];
    for (const path of paths) expect(String(error)).toContain(path);
    expect(String(error)).toContain('ConfigError: reading FINALIZER_BRIDGE_CONFIG');
  });

  it.each([
    ['is not set', undefined, 'the variable is not set'],
    ['is not JSON', '{', 'the value is not JSON'],
    ['is for another handler', JSON.stringify(configurationFor('ec2-instance')), 'handler: this function is s3-bucket'],
  ])('does not start when its configuration %s', async (_what, text, fault) => {
    expect(String(await startFunction(text))).toContain(`reading FINALIZER_BRIDGE_CONFIG: ${fault}`);
  });
});

function configurationFor(handler: string): object {
  return {
    handler,
    clusters: [{ uid: 'cluster', sender: 'AROABRIDGE', resultQueueUrl: 'http://127.0.0.1:1/0/results' }],
    allow: { accounts: [LOCAL_ACCOUNT_ID], regions: [LOCAL_REGION], names: ['team-*'] },
  };
}
