/*
 * What the chart renders for several sets of values: taken by helm's strict lint, by closed schemas made from the API server's
 * own, and by the API server itself (a dry run that refuses unknown fields, in a namespace with the restricted Pod security
 * standard). The bridge's own schema reads the configuration; what the templates refuse says why.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod/mini';
import { loadConfig } from '../../bridge/config.ts';
import { findKubeconform } from '../../infra/local/kubeconform.ts';
import { monitoringKinds } from '../../infra/local/monitoring-kinds.ts';
import {
  CHART_FOLDER,
  type Helm,
  MINIMAL,
  manifestOf,
  manifestsOf,
  POLICIES_SERVED,
  type Rendered,
  startHelm,
} from '../support/chart.ts';
import { VALUE_SETS } from '../support/chart-values.ts';
import { dryRuns, type Tried } from '../support/dry-run.ts';
import { sharedKube } from '../support/e2e.ts';
import { type NamedKind, writeSchemas } from '../support/kube-schemas.ts';

const NAMESPACE = 'fb-system';
const say = (line: string) => void process.stderr.write(`${line}\n`);
const kube = sharedKube();
const rendered = new Map<string, Extract<Rendered, { ok: true }>>();
let folder: string;
let helm: Helm;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-chart-'));
  helm = await startHelm();
  for (const [name, values] of Object.entries(VALUE_SETS)) {
    const one = await helm.render(values, ...POLICIES_SERVED);
    if (!one.ok) throw new Error(`rendering the chart for ${name}: ${one.message}`);
    rendered.set(name, one);
  }
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await kube.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } },
    // Those that some of the values serve.
    ...['team-a', 'team-b', 'team-c'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    // No controller makes it here.
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: NAMESPACE } },
  ]);
  await kube.apply(await monitoringKinds());
}, 600_000);
afterAll(async () => {
  await helm?.stop();
  await kube.close();
  await rm(folder, { recursive: true, force: true });
});

function of(name: string): Extract<Rendered, { ok: true }> {
  const one = rendered.get(name);
  if (one === undefined) throw new Error(`looking for ${name}: it was not rendered`);
  return one;
}

/** Standard output, whatever the exit code. */
const output = (command: string, words: readonly string[]): Promise<string> =>
  new Promise((resolve) => void execFile(command, [...words], (_error, out) => resolve(out)));

/** What kubeconform says of a text, by the schemas of its kinds. */
async function conforming(text: string, kinds: readonly NamedKind[]): Promise<unknown> {
  const location = await writeSchemas(kube, kinds, join(folder, 'schemas'));
  const file = join(folder, 'rendered.yaml');
  await writeFile(file, text);
  const words = ['-strict', '-summary', '-output', 'json', '-schema-location', location, file];
  return JSON.parse(await output(await findKubeconform(say), words));
}

const configMap = z.object({ data: z.object({ 'bridge.yaml': z.string() }) });

async function configured(name: string) {
  const file = join(folder, 'bridge.yaml');
  const [first] = of(name).manifests.filter(
    ({ kind, data }) => kind === 'ConfigMap' && configMap.safeParse({ data }).success,
  );
  await writeFile(file, z.parse(configMap, first).data['bridge.yaml']);
  return await loadConfig(file);
}

describe.each(Object.keys(VALUE_SETS))('the chart, %s', (name) => {
  it('passes the strict lint', async () => {
    const { code, out } = await helm.lint(VALUE_SETS[name] ?? {});

    expect(out).not.toMatch(/\[(WARNING|ERROR)\]/);
    expect(code).toBe(0);
  });

  it('holds nothing that the schemas of its kinds do not know', async () => {
    const { manifests, text } = of(name);

    expect(await conforming(text, manifests)).toMatchObject({
      summary: { valid: manifests.length, invalid: 0, errors: 0, skipped: 0 },
    });
  });

  it('is taken by the API server, its Pods by the restricted standard', async () => {
    const tried = await dryRuns(kube, of(name).manifests);

    // What is there already, as the definition of another file of this run, was found to be in order before that.
    expect(tried.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(tried.length).toBeGreaterThan(of(name).manifests.length);
  });

  it('gives a configuration that the bridge takes', async () => {
    expect(await configured(name)).toMatchObject({ ok: true });
  });
});

describe('the package of the chart', () => {
  it('holds the chart and nothing else', async () => {
    const { code, out } = await helm.run('package', CHART_FOLDER, '--destination', folder);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('.tgz') });
    const [, archive = ''] = /saved it to: (\S+\.tgz)/.exec(out) ?? [];

    const packed = (await output('tar', ['-tzf', archive])).trim().split('\n');

    const top = new Set(packed.map((path) => path.split('/').slice(1, 2).join('')));
    const known = ['Chart.yaml', 'README.md', 'files', 'templates', 'values.schema.json', 'values.yaml'];
    expect([...top].sort()).toEqual(known);
  });
});

describe('a chart with faults', () => {
  it('would be found out: by the schemas, by the API server, and by the Pod security standard', async () => {
    const { text, manifests } = of('usual');
    const mistyped = text.replace('enableServiceLinks', 'enableServiceLink');
    const insecure = manifestsOf(text.replaceAll('runAsNonRoot: true', 'runAsNonRoot: false'));

    const said = await conforming(mistyped, manifests);
    const [unknown, forbidden] = [await dryRuns(kube, manifestsOf(mistyped)), await dryRuns(kube, insecure)];

    expect(said).toMatchObject({ summary: { invalid: 1, errors: 0, skipped: 0 } });
    const refused = (tried: readonly Tried[]) =>
      tried.filter(({ status }) => status !== 201).map(({ what, message }) => `${what}: ${message}`);
    expect(refused(unknown)).toContainEqual(expect.stringMatching(/^Deployment .*unknown field .*enableServiceLink/));
    expect(refused(forbidden)).toContainEqual(expect.stringMatching(/^Pod .*violates PodSecurity/));
  });
});

describe('the configuration', () => {
  it('has what the values say, in words that no quoting can break', async () => {
    expect(await configured('everything')).toMatchObject({
      ok: true,
      config: {
        cluster: { name: 'production "east": 1' },
        kinds: [{ resource: 'buckets' }, { group: '', version: 'v1', resource: 'persistentvolumeclaims' }],
        queues: { endpoint: 'https://vpce.example.com' },
        handlers: { webhook: { sender: 'AROAEXAMPLEFUNCTION02' } },
        deadLetters: { sender: 'AROAEXAMPLELETTERS001' },
        server: { host: '::', port: 9090 },
        log: { level: 'debug' },
      },
    });
  });

  it('has the bridges started again when it changes, and only then', async () => {
    const checksum = z.object({
      spec: z.object({ template: z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()) }) }) }),
    });
    const of = (one: Rendered) =>
      z.parse(checksum, manifestOf(one, 'Deployment')).spec.template.metadata.annotations['checksum/configuration'];

    const [first, same, other] = await Promise.all([
      helm.render(MINIMAL),
      helm.render({ ...MINIMAL, replicas: 3 }),
      helm.render({ ...MINIMAL, log: { level: 'debug' } }),
    ]);

    expect(of(first)).toMatch(/^[0-9a-f]{64}$/);
    expect(of(same)).toBe(of(first));
    expect(of(other)).not.toBe(of(first));
  });
});

describe('values that cannot be', () => {
  it.each([
    ['are refused with the field that is missing', {}, 'queues.region is required'],
    ['are refused when they are mistyped', { ...MINIMAL, replica: 3 }, "additional properties 'replica' not allowed"],
    ['are refused when they are no kinds', { ...MINIMAL, kinds: [{ group: 'a.b', resource: 'Buckets' }] }, 'kinds'],
    [
      'are refused when a handler lacks its queue',
      { ...MINIMAL, handlers: { webhook: { sender: 'AROAEXAMPLE' } } },
      "missing property 'queue'",
    ],
  ])('%s', async (_, values, message) => {
    expect(await helm.render(values)).toMatchObject({ ok: false, message: expect.stringContaining(message) });
  });
});
