/*
 * Rules from a file: what a rule becomes,
 * and the shapes that a file may have.
 */
import { describe, expect, it } from 'vitest';
import { targetDigestOf } from '../../bridge/contract.ts';
import type { ObjectLike } from '../../bridge/rule.ts';
import { parseRules } from '../../bridge/rules.ts';
import { faultsOf, fileWith, ruleFrom, spec } from '../support/rule-file.ts';

const bucket: ObjectLike = {
  apiVersion: 'storage.example.com/v1',
  kind: 'Bucket',
  metadata: { name: 'logs', namespace: 'team-a', uid: 'u-1', annotations: { keep: 'Retain' } },
  status: { bucketName: 'team-a-logs' },
};

describe('a rule', () => {
  it('written with everything becomes what it says', () => {
    const rule = ruleFrom(`
apiVersion: finalizer-bridge.dev/v1alpha1
kind: TeardownRule
metadata: { name: team-buckets, uid: 6a3e1c1e-1111-2222-3333-444455556666 }
spec:
  match:
    group: storage.example.com
    version: v1
    resource: buckets
    labelSelector: { matchLabels: { tier: prod }, matchExpressions: [{ key: skip, operator: DoesNotExist }] }
  handler: s3-bucket
  target:
    bucket: object.status.bucketName
    region: "'eu-central-1'"
  options: { partitions: 4, deep: { list: [1, null, true] } }
  ownership: { tags: { owner: "object.metadata.namespace + '/' + object.metadata.name" } }
  policy: "object.metadata.annotations[?'keep'].orValue('Delete')"
  whenTargetMissing: Release
  whenAbsent: Hold
  waitFor: { finalizers: [kubernetes.io/pvc-protection, foregroundDeletion], atMost: 1m30s }
  deadline: 36h
  term: 2h30m
  paused: true
  unmatched: Release
`);
    expect(rule).toEqual({
      name: 'team-buckets',
      uid: '6a3e1c1e-1111-2222-3333-444455556666',
      entry: 'finalizer-bridge.dev/team-buckets',
      match: { group: 'storage.example.com', version: 'v1', resource: 'buckets' },
      matches: expect.any(Function),
      handler: 's3-bucket',
      options: { partitions: 4, deep: { list: [1, null, true] } },
      binding: 'name',
      evaluate: expect.any(Function),
      term: 9_000_000,
      deadline: 129_600_000,
      waitFor: { finalizers: ['kubernetes.io/pvc-protection', 'foregroundDeletion'], atMost: 90_000 },
      whenTargetMissing: 'Release',
      whenAbsent: 'Hold',
      unmatched: 'Release',
      paused: true,
    });
    expect(rule.matches({ tier: 'prod' })).toBe(true);
    expect(rule.matches({ tier: 'prod', skip: '' })).toBe(false);
    expect(rule.matches({})).toBe(false);
    const target = { bucket: 'team-a-logs', region: 'eu-central-1' };
    expect(rule.evaluate(bucket)).toEqual({
      target: { kind: 'found', target, digest: targetDigestOf(target) },
      ownership: { kind: 'found', ownership: { tags: { owner: 'team-a/logs' } } },
      policy: { kind: 'found', policy: 'Retain' },
    });
  });

  it('written with the least has the careful defaults', () => {
    const rule = ruleFrom(fileWith({}));
    expect(rule).toMatchObject({
      options: {},
      binding: 'uid',
      term: 3_600_000,
      deadline: 86_400_000,
      whenTargetMissing: 'Hold',
      whenAbsent: 'Release',
      unmatched: 'Keep',
      paused: false,
    });
    expect(rule).not.toHaveProperty('waitFor');
    expect(rule.matches({ any: 'thing' })).toBe(true);
    expect(rule.evaluate(bucket)).toMatchObject({
      ownership: { kind: 'found', ownership: { tags: { 'finalizer-bridge.dev/owner-uid': 'u-1' } } },
      policy: { kind: 'found', policy: 'Delete' },
    });
  });

  it('without a uid has one that depends on nothing but its name', () => {
    const { uid } = ruleFrom(fileWith({}));
    expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ruleFrom(fileWith({ handler: 'other', term: '30m' })).uid).toBe(uid);
    expect(ruleFrom(fileWith({}, { name: 'other' })).uid).not.toBe(uid);
  });

  it('holds an object that lacks its target, or is too deep to be read, and that one only (P10)', () => {
    const rule = ruleFrom(fileWith({}));
    const { status: _status, ...early } = bucket;
    expect(rule.evaluate(early).target).toMatchObject({ kind: 'missing', key: 'bucket' });
    let deep: unknown = {};
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    const { target, ownership, policy } = rule.evaluate({ ...bucket, spec: deep });
    for (const outcome of [target, ownership, policy])
      expect(outcome).toMatchObject({ kind: 'invalid', key: 'object' });
    expect(rule.evaluate(bucket).target).toMatchObject({ kind: 'found' });
  });
});

describe('a file', () => {
  const one = `{ metadata: { name: a }, spec: ${JSON.stringify(spec)} }`;
  const two = `{ metadata: { name: b }, spec: ${JSON.stringify(spec)} }`;

  it.each([
    ['a list', `- ${one}\n- ${two}`],
    ['documents', `---\n${one}\n---\n${two}\n`],
    ['documents with empty ones between', `---\n---\n${one}\n---\n# nothing\n---\n${two}\n...\n`],
    ['rules: with a list', `rules:\n  - ${one}\n  - ${two}`],
    ['lists in documents', `- ${one}\n---\nrules: [${two}]`],
    [
      'JSON',
      `{"rules": [${JSON.stringify({ metadata: { name: 'a' }, spec })}, ${JSON.stringify({ metadata: { name: 'b' }, spec })}]}`,
    ],
    ['anchors', `- metadata: { name: a }\n  spec: &s ${JSON.stringify(spec)}\n- metadata: { name: b }\n  spec: *s`],
  ])('may be %s', (_what, text) => {
    expect(parseRules(text, 'rules.yaml')).toMatchObject({ ok: true, rules: [{ name: 'a' }, { name: 'b' }] });
  });

  it('with an empty list has no rules; an empty file is a fault', () => {
    expect(parseRules('rules: []', 'rules.yaml')).toEqual({ ok: true, rules: [] });
    expect(parseRules('[]', 'rules.yaml')).toEqual({ ok: true, rules: [] });
    for (const text of ['', '\n# nothing\n', '---\n---\n']) {
      expect(faultsOf(text)).toEqual({ 'rules.yaml': 'no rules in it' });
    }
  });

  it.each([
    ['rules: 5', 'rules.yaml', 'expected a rule'],
    ['rules: []\nmore: 1', 'rules.yaml', 'expected a rule'],
    ['text', 'rules.yaml', 'expected a rule'],
    ['- 1', 'rules.yaml: rule 1', 'expected object'],
    ['a: b: c', 'rules.yaml:1:4', 'Nested mappings'],
    [`${one}\n---\nmetadata: {name: x, name: y}`, 'rules.yaml:3:', 'unique'],
    ['x: !secret y', 'rules.yaml:1:4', 'tag'],
    ['x: &a [*a]', 'rules.yaml', 'circular'],
    ['x: *nowhere', 'rules.yaml', 'nowhere'],
    [`- metadata: {name: a}\n  spec: {options: {__proto__: {a: 1}}}`, 'rules.yaml', '__proto__'],
    [`x: ${'['.repeat(70)}${']'.repeat(70)}`, 'rules.yaml', 'nested deeper'],
    [`x: ${'['.repeat(20_000)}${']'.repeat(20_000)}`, 'rules.yaml', 'call stack'],
    [
      'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c]',
      'rules.yaml',
      'alias',
    ],
  ])('that is wrong itself says where: %j', (text, path, why) => {
    const parsed = parseRules(text, 'rules.yaml');
    if (parsed.ok) throw new Error('accepted');
    expect(parsed.faults.some((fault) => fault.path.startsWith(path) && fault.message.includes(why))).toBe(true);
  });

  it('with two rules of one name or uid is refused, also when they have other faults', () => {
    const file = JSON.stringify([
      { metadata: { name: 'a' }, spec },
      { metadata: { name: 'b', uid: 'same' }, spec },
      { metadata: { name: 'a' }, spec: {} },
      { metadata: { name: 'c', uid: 'same' }, spec },
    ]);
    const faults = faultsOf(file);
    expect(faults).toMatchObject({
      'rules.yaml: a: metadata.name': 'taken by another rule, a',
      'rules.yaml: c: metadata.uid': 'taken by another rule, b',
    });
    expect(Object.keys(faults)).toContain('rules.yaml: a: spec.handler');
    expect(Object.keys(faults)).not.toContain('rules.yaml: a: metadata.uid');
  });
});
