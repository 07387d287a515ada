/*
 * The chart as people use it: by helm, over values. Renders without a cluster, installs, upgrades and uninstalls with one.
 * Used by the end-to-end tests of the chart.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { z } from 'zod/mini';
import { findHelm } from '../../infra/local/helm.ts';
import type { Manifest } from '../../infra/local/kube-apply.ts';
import type { Ended } from './cli-process.ts';
import { root } from './tracked-files.ts';

/** Where the chart is. */
export const CHART_FOLDER = join(root, 'infra/chart');

/** Values beside the chart's own; as in a values file. */
export type Values = Readonly<Record<string, unknown>>;

/** The least that has to be said. */
export const MINIMAL: Values = {
  queues: {
    region: 'eu-west-1',
    results: 'https://sqs.eu-west-1.amazonaws.com/111122223333/finalizer-bridge-dev-results',
  },
};

/** What has to be said to `render`, which asks no cluster, for the admission policies to be among the manifests. */
export const POLICIES_SERVED = ['MutatingAdmissionPolicy', 'ValidatingAdmissionPolicy'].map(
  (kind) => `--api-versions=admissionregistration.k8s.io/v1/${kind}`,
);

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.optional(z.string()),
    labels: z._default(z.record(z.string(), z.string()), {}),
    annotations: z._default(z.record(z.string(), z.string()), {}),
  }),
});

/** What a rendering gives: manifests, or what helm says is wrong. */
export type Rendered =
  | { readonly ok: true; readonly text: string; readonly manifests: readonly z.output<typeof manifestSchema>[] }
  | { readonly ok: false; readonly message: string };

export type Helm = Awaited<ReturnType<typeof startHelm>>;

/** Helm with a home of its own; `kubeconfig` says which cluster, none unless told. Stop it when the file is done. */
export async function startHelm(kubeconfig?: string) {
  const command = await findHelm({ say: (line) => void process.stderr.write(`${line}\n`) });
  const folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-helm-'));
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: folder,
    KUBECONFIG: kubeconfig ?? join(folder, 'none'),
    GOGC: process.env.GOGC,
  };
  const run = (...words: readonly string[]): Promise<Ended> =>
    new Promise((resolve) => {
      execFile(command, [...words], { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, out: out.trimEnd(), err: err.trimEnd() });
      });
    });
  let files = 0;
  const valuesFile = async (values: Values): Promise<string> => {
    files += 1;
    const file = join(folder, `values-${files}.yaml`);
    await writeFile(file, stringify(values));
    return file;
  };
  return {
    run,
    valuesFile,
    lint: async (values: Values) => run('lint', '--strict', CHART_FOLDER, '--values', await valuesFile(values)),
    /** As `helm template`, of the release `fb` in the namespace `fb-system`. Hooks are among the manifests. */
    render: async (values: Values, ...flags: readonly string[]): Promise<Rendered> => {
      const release = ['template', 'fb', CHART_FOLDER, '--namespace', 'fb-system', '--kube-version', '1.36.0'];
      const ended = await run(...release, '--values', await valuesFile(values), ...flags);
      if (ended.code !== 0) return { ok: false, message: ended.err };
      return { ok: true, text: ended.out, manifests: manifestsOf(ended.out) };
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The documents of a YAML stream. */
export function manifestsOf(text: string): readonly (z.output<typeof manifestSchema> & Manifest)[] {
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((value) => value !== null)
    .map((value) => z.parse(manifestSchema, value));
}

/** The one manifest of a kind and, where there are several, of a name. Throws when there is none. */
export function manifestOf(rendered: Rendered, kind: string, name?: string): z.output<typeof manifestSchema> {
  if (!rendered.ok) throw new Error(`looking for a ${kind}: the chart was not rendered: ${rendered.message}`);
  const found = rendered.manifests.filter(
    (one) => one.kind === kind && (name === undefined || one.metadata.name === name),
  );
  const [first] = found;
  if (first === undefined) throw new Error(`looking for a ${kind} ${name ?? ''}: there is none`);
  return first;
}
