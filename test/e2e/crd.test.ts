/*
 * The definition of TeardownRule as the API server serves it: its names, what cannot be changed, its status, and the
 * columns that people see.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { sharedKube } from '../support/e2e.ts';
import { committedDefinition, rulesOf, type StoredRule } from '../support/rule-api.ts';
import { fullestSpec, leastSpec } from '../support/rule-corpus.ts';
import { ruleNameSamples } from '../support/rule-names.ts';

const kube = sharedKube();
const rules = rulesOf(kube);
const NAME = 'crd-test';
let stored: StoredRule;

beforeAll(async () => {
  await rules.apply();
  await rules.remove(NAME);
  const made = await rules.create(NAME, fullestSpec);
  if (!made.accepted) throw new Error(`creating ${NAME}: ${made.message}`);
  stored = made.rule;
});

afterAll(async () => {
  await rules.remove(NAME);
  await kube.close();
});

describe('the definition', () => {
  it('is structural and served under its names', async () => {
    const { metadata } = committedDefinition();
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${metadata.name}`;
    const { body } = await kube.request('GET', path);
    expect(body).toMatchObject({
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: 'Established', status: 'True' })]),
      },
    });
    expect(JSON.stringify(body)).not.toContain('NonStructuralSchema');
    const discovered = await kube.request('GET', '/apis/finalizer-bridge.dev/v1alpha1');
    expect(discovered.body).toMatchObject({
      resources: [
        {
          name: 'teardownrules',
          kind: 'TeardownRule',
          namespaced: false,
          shortNames: ['tdr'],
          categories: ['finalizer-bridge'],
        },
        { name: 'teardownrules/status' },
      ],
    });
  });

  it.each(ruleNameSamples)('lets a rule be called "%s": %s (K16, K24)', async (name, accepted) => {
    const answer = await rules.tryCreate(leastSpec, name);
    expect(answer.accepted).toBe(accepted);
    if (!answer.accepted && name.length > 63) {
      expect(answer.message).toContain('has at most 63 characters, because it becomes the name of a finalizer');
    }
  });
});

describe('an edit', () => {
  it.each([
    ['group', 'other.example.com', 'group cannot be changed'],
    ['version', 'v2', 'version cannot be changed'],
    ['resource', 'volumes', 'resource cannot be changed'],
  ])('of match.%s is refused', async (field, value, says) => {
    const match = { ...fullestSpec.match, [field]: value };
    expect(await rules.tryReplace({ ...stored, spec: { ...stored.spec, match } })).toEqual({
      accepted: false,
      message: expect.stringContaining(says),
    });
  });

  it('of the term is refused, by leaving it out as well; the same term in other words is not', async () => {
    const { term: _term, ...withoutTerm } = stored.spec;
    for (const spec of [{ ...stored.spec, term: '2h' }, withoutTerm]) {
      expect(await rules.tryReplace({ ...stored, spec })).toEqual({
        accepted: false,
        message: expect.stringContaining('term cannot be changed'),
      });
    }
    expect(await rules.tryReplace({ ...stored, spec: { ...stored.spec, term: '150m' } })).toMatchObject({
      accepted: true,
    });
  });

  it('of everything else is taken', async () => {
    const spec = {
      ...leastSpec,
      match: { ...fullestSpec.match, labelSelector: {} },
      term: fullestSpec.term,
      handler: 'other',
    };
    expect(await rules.tryReplace({ ...stored, spec })).toMatchObject({ accepted: true, rule: { spec } });
  });
});

const status = {
  observedGeneration: 1,
  conditions: [
    {
      type: 'Ready',
      status: 'False',
      observedGeneration: 1,
      lastTransitionTime: '2026-03-01T08:00:00Z',
      reason: 'NoQueue',
      message: 'no queue is configured for s3-bucket',
    },
  ],
  pending: 3,
  held: 1,
  oldestPendingTime: '2026-03-01T08:00:00Z',
  budget: { reservations: [{ time: '2026-03-01T08:00:00.123Z', size: 5 }] },
  heldObjects: [
    { namespace: 'team-a', name: 'logs', uid: 'u-1', reason: 'NotOwned', since: '2026-03-01T08:00:00.5Z' },
    { name: 'cluster-wide', uid: 'u-2', reason: 'TargetMissing', since: '2026-03-01T08:00:00Z' },
  ],
};

describe('the status', () => {
  it('is written apart from the spec, whole, and with a resourceVersion', async () => {
    const written = await rules.replaceStatus({ ...stored, spec: leastSpec, status });
    expect(written).toMatchObject({ accepted: true, rule: { spec: stored.spec, status, metadata: { generation: 1 } } });
    expect(await rules.replaceStatus({ ...stored, status: { ...status, pending: 9 } })).toEqual({
      accepted: false,
      message: expect.stringContaining('the object has been modified'),
    });
    if (written.accepted) stored = written.rule;
    expect(await rules.tryReplace({ ...stored, status: { pending: 9 } })).toMatchObject({ rule: { status } });
  });

  it.each([
    ['a negative count', { pending: -1 }, 'status.pending'],
    ['a time that is none', { oldestPendingTime: 'yesterday' }, 'status.oldestPendingTime'],
    ['two conditions of a type', { conditions: [...status.conditions, ...status.conditions] }, 'Duplicate value'],
    ['a reason that is no word', { heldObjects: [{ ...status.heldObjects[0], reason: 'not owned' }] }, 'reason'],
    [
      'a held object without a uid',
      { heldObjects: [{ name: 'a', reason: 'A', since: status.oldestPendingTime }] },
      'uid',
    ],
    ['too many held objects', { heldObjects: Array.from({ length: 21 }, () => status.heldObjects[1]) }, 'at most 20'],
    ['an empty block', { budget: { reservations: [{ time: status.oldestPendingTime, size: 0 }] } }, 'size'],
  ])('with %s is refused', async (_what, change, says) => {
    expect(await rules.replaceStatus({ ...stored, status: { ...status, ...change } })).toEqual({
      accepted: false,
      message: expect.stringContaining(says),
    });
  });
});

const table = z.object({
  columnDefinitions: z.array(z.object({ name: z.string(), priority: z.int() })),
  rows: z.array(z.object({ cells: z.array(z.unknown()) })),
});

/** As `kubectl get` asks. */
async function printed(): Promise<z.output<typeof table>> {
  const { url, caFile, adminToken } = kube;
  const agent = new Agent({ connect: { ca: readFileSync(caFile, 'utf8') } });
  try {
    const answer = await request(`${url}${rules.path}/${NAME}`, {
      dispatcher: agent,
      headers: { authorization: `Bearer ${adminToken}`, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    return z.parse(table, await answer.body.json());
  } finally {
    await agent.destroy();
  }
}

it('prints what people look for first, and more on demand', async () => {
  const { columnDefinitions, rows } = await printed();
  const shown = Object.fromEntries(columnDefinitions.map(({ name }, index) => [name, rows[0]?.cells[index]]));
  const names = (priority: number) =>
    columnDefinitions.filter((one) => one.priority === priority).map(({ name }) => name);
  expect(names(0)).toEqual(['Name', 'Resource', 'Handler', 'Pending', 'Held', 'Oldest', 'Ready', 'Age']);
  expect(names(1)).toEqual(['Reason', 'Group', 'Paused']);
  expect(shown).toMatchObject({
    Name: NAME,
    Resource: 'buckets',
    Handler: 's3-bucket',
    Pending: 3,
    Held: 1,
    Oldest: expect.stringMatching(/^\d+d$/),
    Ready: 'False',
    Reason: 'NoQueue',
    Group: 'storage.example.com',
    Paused: true,
  });
});
