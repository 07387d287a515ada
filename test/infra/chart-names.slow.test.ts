/*
 * Names and words that YAML reads as something else, wherever the chart writes one: a namespace called 1234, a release called null, a kind
 * whose label is made of digits only; Off, which is false. Each is a name that Kubernetes and Helm take.
 */
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { injectsLabel } from '../../bridge/injects.ts';
import {
  CHART_FOLDER,
  type Helm,
  MINIMAL,
  manifestsOf,
  POLICIES_SERVED,
  startHelm,
  type Values,
} from '../support/chart.ts';

/** The first 32 digits of its hash are no letters: 159899209e0745843920558194620587 is a number. */
const NUMBERED = { group: 'example.com', resource: 'things171710' };

let helm: Helm;
beforeAll(async () => {
  helm = await startHelm();
}, 600_000);
afterAll(() => helm?.stop());

/** What is written under these keys, anywhere in what is rendered but the schema of rules. */
async function written(keys: readonly string[], words: readonly string[], values: Values = {}): Promise<Set<unknown>> {
  const file = await helm.valuesFile({ ...MINIMAL, kinds: [NUMBERED], ...values });
  const { code, out, err } = await helm.run('template', ...words, CHART_FOLDER, '--values', file, ...POLICIES_SERVED);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const found = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, below] of Object.entries(value)) {
      if (keys.includes(key)) found.add(below);
      visit(below);
    }
  };
  for (const { kind, ...more } of manifestsOf(out)) if (kind !== 'CustomResourceDefinition') visit(more);
  return found;
}

describe('the chart', () => {
  it.each(['1234', 'null', 'true', '1e3'])('is installed in a namespace and as a release called %s', async (name) => {
    const words = [name, '--namespace', name, '--kube-version', '1.36.0'];
    const found = await written(['namespace', 'app.kubernetes.io/instance', 'release'], words);
    expect(found).toEqual(new Set([name, 'kube-system']));
  });

  it.each(['1234', 'null'])('has its objects called %s where that is said', async (name) => {
    const own = { nameOverride: name, fullnameOverride: name, serviceAccount: { name } };
    const words = ['fb', '--namespace', 'fb-system', '--kube-version', '1.36.0'];
    const found = await written(['name', 'serviceAccountName', 'app.kubernetes.io/name', 'deployment'], words, own);
    expect([...found].filter((one) => typeof one !== 'string')).toEqual([]);
    expect(found).toContain(name);
  });

  it('selects the rules of a kind whose label is a number in YAML', async () => {
    const words = ['fb', '--namespace', 'fb-system', '--kube-version', '1.36.0'];
    expect(await written(['finalizer-bridge.dev/injects'], words)).toEqual(new Set([injectsLabel(NUMBERED)]));
  });

  it.each([
    ['Off', []],
    ['"Off"', []],
    ['no', []],
    ['Deleting', ['finalizer-bridge-entries']],
    ['Always', ['finalizer-bridge-entries']],
  ])('is told by guardEntries: %s whose entries to guard, with quotes or without', async (word, policies) => {
    const values = await helm.valuesFile({ ...MINIMAL, kinds: [NUMBERED] });
    const said = `${values}.said`;
    await writeFile(said, `admission:\n  guardEntries: ${word}\n`);
    const files = ['--values', values, '--values', said];

    const { code, out, err } = await helm.run('template', 'fb', CHART_FOLDER, ...files, ...POLICIES_SERVED);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    const rendered = manifestsOf(out).filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
    expect(rendered.map(({ metadata }) => metadata.name).filter((name) => name.endsWith('-entries'))).toEqual(policies);
  });

  it.each(['On', 'Sometimes', '1'])('refuses guardEntries: %s', async (word) => {
    const values = await helm.valuesFile({ ...MINIMAL, kinds: [NUMBERED] });
    const said = `${values}.said`;
    await writeFile(said, `admission:\n  guardEntries: ${word}\n`);

    const { code, err } = await helm.run('template', 'fb', CHART_FOLDER, '--values', values, '--values', said);

    expect(code).not.toBe(0);
    expect(err).toContain('guardEntries');
  });
});
