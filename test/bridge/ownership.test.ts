/*
 * Ownership proofs and policies from expressions: how a proof is bound to its object,
 * and what says nothing and so holds the object.
 */
import { describe, expect, it } from 'vitest';
import { prepare } from '../../bridge/cel/object.ts';
import { bindingOf, evaluateOwnership, evaluatePolicy } from '../../bridge/target.ts';
import { expression, expressions } from '../support/expressions.ts';

const bucket = prepare({ metadata: { name: 'logs', namespace: 'team-a', uid: 'u-1' } });

describe('ownership', () => {
  const uid = { tags: expressions({ 'finalizer-bridge.dev/owner-uid': 'object.metadata.uid' }) };
  const both = { tags: expressions({ owner: "object.metadata.namespace + '/' + object.metadata.name" }) };
  const name = { tags: expressions({ owner: 'object.metadata.name' }) };

  it.each([
    [{ 'a/b': 'object.metadata.uid' }, 'uid'],
    [{ a: "'x'", b: 'object.metadata.name', c: "'z-' + object.metadata.uid" }, 'uid'],
    [{ a: "object.metadata.namespace + '.' + object.metadata.name" }, 'name'],
    [{ a: 'object.metadata.namespace', b: 'object.metadata.name' }, 'name'],
    [{ a: 'object.metadata.name' }, 'name'],
    [{ a: 'object.metadata.namespace' }, undefined],
    [{ a: 'object.spec.owner' }, undefined],
    [{ a: "'team-a'" }, undefined],
    [{ a: 'object.spec.metadata.uid' }, undefined],
    [{ a: "has(object.metadata.uid) ? 'x' : 'y'" }, undefined],
  ])('by %j is bound by %s', (texts, binding) => {
    expect(bindingOf({ tags: expressions(texts) })).toBe(binding);
  });

  it('of none is bound by nothing, on the rule’s own word', () => {
    expect(bindingOf({ none: true })).toBe('none');
    expect(evaluateOwnership({ none: true }, bucket, true)).toEqual({ kind: 'found', ownership: { none: true } });
  });

  it('holds the values of all tags', () => {
    expect(evaluateOwnership(uid, bucket, true)).toEqual({
      kind: 'found',
      ownership: { tags: { 'finalizer-bridge.dev/owner-uid': 'u-1' } },
    });
    expect(evaluateOwnership(both, bucket, true)).toEqual({
      kind: 'found',
      ownership: { tags: { owner: 'team-a/logs' } },
    });
  });

  it('by name alone proves nothing for an object in a namespace (K21)', () => {
    expect(evaluateOwnership(name, bucket, true)).toMatchObject({
      kind: 'invalid',
      key: 'owner',
      detail: expect.stringContaining('OwnershipNotBound'),
    });
    const machine = prepare({ metadata: { name: 'runner-7', uid: 'u-2' } });
    expect(evaluateOwnership(name, machine, false)).toEqual({
      kind: 'found',
      ownership: { tags: { owner: 'runner-7' } },
    });
  });

  it.each([
    ['object.spec.replicas', 'invalid', 'a string, not a number'],
    ['object.spec.versioned', 'invalid', 'a string, not a boolean'],
    ['object.spec.ids', 'invalid', 'a string, not a list'],
    ["'x'.replace('x', '')", 'invalid', 'empty'],
    ["'' + object.spec.long", 'invalid', '257 characters'],
    ['object.status.owner', 'missing', 'No such key'],
  ])('with a tag %s is %s', (text, kind, why) => {
    const object = prepare({
      metadata: { name: 'n', uid: 'u' },
      spec: { replicas: 3, versioned: true, ids: ['a'], long: 'x'.repeat(257) },
      status: {},
    });
    const tags = expressions({ owner: 'object.metadata.uid', other: text });
    expect(evaluateOwnership({ tags }, object, false)).toEqual({
      kind,
      key: 'other',
      detail: expect.stringContaining(why),
    });
  });
});

it('of the longest tag that AWS takes holds, in any spelling', () => {
  for (const value of ['x'.repeat(256), '\u0001'.repeat(256), 'ü'.repeat(256)]) {
    const object = prepare({ metadata: { name: 'n', uid: 'u' }, spec: { value } });
    const tags = expressions({ owner: 'object.metadata.uid', other: 'object.spec.value' });
    expect(evaluateOwnership({ tags }, object, false)).toEqual({
      ...{ kind: 'found', ownership: { tags: { owner: 'u', other: value } } },
    });
  }
});

describe('policy', () => {
  const onDelete = "object.metadata.annotations[?'team.example.com/on-delete'].orValue('Delete')";
  const annotated = (value: string) => prepare({ metadata: { annotations: { 'team.example.com/on-delete': value } } });

  it.each(['Delete', 'Retain'])('%s is what the expression says', (policy) => {
    expect(evaluatePolicy(expression(onDelete), annotated(policy))).toEqual({ kind: 'found', policy });
  });

  it('is the default where the annotation is absent', () => {
    expect(evaluatePolicy(expression(onDelete), prepare({ metadata: {} }))).toEqual({
      kind: 'found',
      policy: 'Delete',
    });
  });

  it.each(['', 'delete', 'Keep', 'Retain ', 'x'.repeat(500)])(
    '"%s" says nothing and deletes nothing (P1, P2)',
    (value) => {
      const outcome = evaluatePolicy(expression(onDelete), annotated(value));
      expect(outcome).toMatchObject({
        kind: 'invalid',
        key: 'policy',
        detail: expect.stringMatching(/^the policy is "/),
      });
      expect(JSON.stringify(outcome).length).toBeLessThan(200);
    },
  );

  it.each(["object.metadata.annotations['x']", 'object.spec', 'object.metadata.generation'])(
    'of a missing key or another type is invalid: %s',
    (text) => {
      const object = prepare({ metadata: { generation: 1 }, spec: {} });
      expect(evaluatePolicy(expression(text), object)).toMatchObject({ kind: 'invalid', key: 'policy' });
    },
  );
});
