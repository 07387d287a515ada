/*
 * The GitHub workflows, as far as they can be looked at without GitHub: by actionlint, and for what it does not mind, which is
 * whose code runs with which rights.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { lintWorkflows } from '../../infra/local/actionlint.ts';
import { root } from '../support/tracked-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'workflows-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FOLDER = '.github/workflows';
const names = readdirSync(join(root, FOLDER));
const read = (name: string) => readFileSync(join(root, FOLDER, name), 'utf8');
const say = (line: string) => console.error(line);
const BUILD_TIME_MS = 600_000;

const rights = z.record(z.string(), z.string());
const stepSchema = z.object({
  id: z.optional(z.string()),
  uses: z.optional(z.string()),
  run: z.optional(z.string()),
  with: z.optional(z.json()),
});
const workflowSchema = z.object({
  on: z.record(z.string(), z.json()),
  permissions: rights,
  jobs: z.record(z.string(), z.object({ permissions: z._default(rights, {}), steps: z.array(stepSchema) })),
});
const workflows = names.map((name) => ({ name, ...workflowSchema.parse(parse(read(name))) }));

describe('the workflows', () => {
  it(
    'are two, and actionlint finds nothing in them',
    async () => {
      expect(names.sort()).toEqual(['ci.yml', 'release.yml']);
      const files = names.map((name) => join(FOLDER, name));
      expect(await lintWorkflows(files, root, say)).toEqual([]);
    },
    BUILD_TIME_MS,
  );

  it(
    'would be found out',
    async () => {
      mkdirSync(join(folder, FOLDER), { recursive: true });
      const title = '$' + '{{ github.event.pull_request.title }}';
      const broken = read('ci.yml')
        .replace('run: npm test', `run: echo "${title}"`)
        .replace('matrix.node', 'matrix.nod');
      writeFileSync(join(folder, FOLDER, 'ci.yml'), broken);
      const found = (await lintWorkflows([join(FOLDER, 'ci.yml')], folder, say)).join('\n');
      expect(found).toContain('potentially untrusted');
      expect(found).toContain('property "nod" is not defined');
    },
    BUILD_TIME_MS,
  );

  it.each(names)('%s names each action by its full commit, with the version for people', (name) => {
    const used = read(name)
      .split('\n')
      .filter((line) => /\buses:/.test(line));
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((line) => !/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  it.each(workflows)(
    '$name may read the repository and no more, but for what a job says',
    ({ permissions, on, jobs }) => {
      expect(permissions).toEqual({ contents: 'read' });
      expect(Object.keys(on)).not.toContain('pull_request_target');
      for (const { steps } of Object.values(jobs)) {
        const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
        expect(checkouts.map((step) => step.with)).toEqual(checkouts.map(() => ({ 'persist-credentials': false })));
      }
    },
  );

  it('writes only in the jobs of a release, each where it publishes', () => {
    const writing = workflows.flatMap(({ name, jobs }) =>
      Object.entries(jobs).flatMap(([job, { permissions }]) =>
        Object.entries(permissions)
          .filter(([, right]) => right !== 'read')
          .map(([right]) => `${name} ${job} ${right}`),
      ),
    );
    expect(writing.sort()).toEqual([
      'release.yml chart attestations',
      'release.yml chart id-token',
      'release.yml chart packages',
      'release.yml image attestations',
      'release.yml image id-token',
      'release.yml image packages',
      'release.yml package id-token',
      'release.yml release contents',
    ]);
  });

  it('says of image and chart where each was made, by the digest that the registry gave it', () => {
    const attestation = z.object({
      'subject-name': z.string(),
      'subject-digest': z.literal('$' + '{{ steps.push.outputs.digest }}'),
      'push-to-registry': z.literal(true),
    });
    const jobs = workflows.find(({ name }) => name === 'release.yml')?.jobs ?? {};
    const provenances = Object.entries(jobs).flatMap(([job, { steps }]) =>
      steps
        .filter(({ uses }) => uses?.startsWith('actions/attest@'))
        .map((step) => z.looseObject(attestation.shape).parse(step.with))
        .filter((made) => !('sbom-path' in made))
        .map((made) => `${job} ${made['subject-name']}`),
    );
    expect(provenances).toEqual([
      `image ${'$'}{{ env.IMAGE }}`,
      'chart ghcr.io/finalizer-bridge/charts/finalizer-bridge',
    ]);
    // What comes from the registry is what was pushed there: each job has one step of that name, and it pushes.
    const pushing = ['image', 'chart'].map((job) => jobs[job]?.steps.filter(({ id }) => id === 'push') ?? []);
    expect(pushing.map((steps) => steps.length)).toEqual([1, 1]);
    expect(pushing.map(([step]) => step?.run ?? step?.uses)).toEqual([
      expect.stringMatching(/^docker\/build-push-action@/),
      expect.stringMatching(/helm push[\s\S]*digest=\$digest/),
    ]);
  });

  it('puts no text that others write into a script, and stores no secret', () => {
    const scripts = workflows.flatMap(({ jobs }) =>
      Object.values(jobs).flatMap(({ steps }) => steps.map(({ run }) => run)),
    );
    expect(scripts.filter((script) => script?.includes('${{'))).toEqual([]);
    expect(names.filter((name) => /\bsecrets\./.test(read(name)))).toEqual([]);
  });
});
