/*
 * Any TeardownRule, right or spoilt anywhere: it is accepted or refused with the places of its faults, and what is accepted keeps
 * the bounds that the protocol leans on and can be evaluated over any object. A failure prints its seed and the smallest rule.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownershipSchema, TERM_MAX_MS, TERM_MIN_MS, targetDigestOf, targetSchema } from '../../bridge/contract.ts';
import { ruleFromObject } from '../../bridge/rules.ts';
import { holds } from '../support/property.ts';
import { mutatedSpec } from '../support/rule-mutations.ts';

/** Expressions by their grammar: paths, literals, calls and conditions over them. */
const { expression } = fc.letrec<{ expression: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(
    fc.constantFrom('object.metadata.uid', 'object.metadata.name', 'object.metadata.namespace', 'object.status.id'),
    fc.constantFrom("'a'", "''", '1', 'true', 'null', '[]', 'object', 'object.spec', "object.metadata.labels['x']"),
    fc.constantFrom("object.metadata.annotations[?'a'].orValue('b')", 'object.status.?id.orValue("")', '1 / 0', '('),
  ),
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.tuple(tie('expression'), tie('expression')).map(([left, right]) => `${left} + ${right}`),
    fc.tuple(tie('expression'), tie('expression')).map(([left, right]) => `(${left} == ${right} ? ${left} : ${right})`),
    tie('expression').map((of) => `has(${of})`),
    tie('expression').map((of) => `string(${of})`),
    tie('expression').map((of) => `[${of}]`),
  ),
}));
const usually = <T>(most: fc.Arbitrary<T>, some: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: most }, { weight: 1, arbitrary: some });
const spec = fc.record({
  match: fc.constant({ group: 'storage.example.com', version: 'v1', resource: 'buckets' }),
  handler: usually(fc.constant('s3-bucket'), fc.constant('')),
  target: fc.dictionary(usually(fc.constantFrom('bucket', 'region'), fc.constant('a b')), expression, {
    ...{ minKeys: 1, maxKeys: 2 },
  }),
  ownership: usually<unknown>(
    fc.constantFrom<unknown>({ tags: { owner: 'object.metadata.uid' } }, { none: true }),
    fc.record({ tags: fc.dictionary(fc.constantFrom('owner', 'x'), expression, { maxKeys: 2 }) }),
  ),
  policy: usually(fc.constant("'Delete'"), expression),
  term: usually(fc.constantFrom('30m', '6h'), fc.constantFrom('1m', '7h', '')),
});
const object = fc.record({
  apiVersion: fc.constant('storage.example.com/v1'),
  kind: fc.constant('Bucket'),
  metadata: fc.record({
    name: fc.constant('logs'),
    namespace: fc.constantFrom('team-a', undefined),
    uid: fc.constant('6f1c2f0e-5a0a-4a5e-9d2c-1f2e3d4c5b6a'),
    labels: fc.constantFrom(undefined, {}, { x: 'y' }),
    annotations: fc.constantFrom(undefined, {}, { a: 'Retain' }),
  }),
  spec: fc.jsonValue(),
  status: fc.oneof(fc.record({ id: fc.jsonValue() }), fc.jsonValue()),
});

const metadata = { name: 'team-buckets', uid: 'rule-1', creationTimestamp: '2026-03-01T08:00:00Z', generation: 1 };
const parsed = (of: unknown) => ruleFromObject({ apiVersion: 'v1', kind: 'TeardownRule', metadata, spec: of });

describe('any rule', () => {
  it('is accepted within its bounds, or refused with what is wrong and where', () => {
    const seen = new Set<boolean>();
    holds(
      fc.property(fc.oneof(mutatedSpec, spec), (of) => {
        const outcome = parsed(of);
        seen.add(outcome.ok);
        if (!outcome.ok) {
          expect(outcome.faults.length).toBeGreaterThan(0);
          for (const { path, message } of outcome.faults)
            expect([path, message]).toEqual([expect.stringMatching(/^spec\./), expect.stringMatching(/./)]);
          return;
        }
        const { rule } = outcome;
        expect(rule.term).toBeGreaterThanOrEqual(TERM_MIN_MS);
        expect(rule.term).toBeLessThanOrEqual(TERM_MAX_MS);
        expect(rule.entry).toBe('finalizer-bridge.dev/team-buckets');
        expect(rule.handler).not.toBe('');
        expect(`${rule.match.group}/${rule.match.resource}`).not.toBe('/secrets');
      }),
      { numRuns: 500 },
    );
    expect([...seen].sort()).toEqual([false, true]);
  });

  it('that is accepted gives of any object a target, a proof and a policy that can be sent, or says why not (P1, P10)', () => {
    const seen = new Set<string>();
    holds(
      fc.property(spec, object, (of, over) => {
        const outcome = parsed(of);
        if (!outcome.ok) return;
        const { target, ownership, policy } = outcome.rule.evaluate(over);
        seen.add(target.kind);
        if (target.kind === 'found') {
          expect(targetSchema.safeParse(target.target).success).toBe(true);
          expect(target.digest).toBe(targetDigestOf(target.target));
        } else expect([target.key, target.detail]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
        if (ownership.kind === 'found') expect(ownershipSchema.safeParse(ownership.ownership).success).toBe(true);
        if (policy.kind === 'found') expect(['Delete', 'Retain']).toContain(policy.policy);
      }),
      { numRuns: 1_500 },
    );
    expect([...seen].sort()).toEqual(['found', 'invalid', 'missing']);
  });
});
