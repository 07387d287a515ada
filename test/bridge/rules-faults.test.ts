/*
 * Rules that are refused: every fault is found at once,
 * with file, rule and path, in words for people.
 */
import { describe, expect, it } from 'vitest';
import { parseRules } from '../../bridge/rules.ts';
import { faultsOf, fileWith, ruleFrom, spec } from '../support/rule-file.ts';

/** The faults of one field of the only rule. */
function faultOf(change: object, path: string): string | undefined {
  return faultsOf(fileWith(change))[`rules.yaml: team-buckets: ${path}`];
}

describe('faults', () => {
  it('are found all at once, each with file, rule and path', () => {
    const faults = faultsOf(`
- metadata: { name: UPPER, labels: {} }
  status: {}
  spec:
    match: { group: "", version: v1, resource: secrets, namespaceSelector: {}, labelSelector: { matchlabels: {} } }
    handler: S3
    target: { "1x": object.a, account: 111122223333, region: "object.spec.", empty: "''" }
    options: { a: .nan }
    ownership: { tags: {}, none: false }
    policy: "1"
    budget: { limit: 1 }
    waitFor: { finalizers: [finalizer-bridge.dev/, a b], atMost: 10 }
    term: 5m
    deadline: soon
    whenAbsent: Maybe
- kind: Rule
  metadata: {}
`);
    expect(Object.keys(faults)).toEqual(
      expect.arrayContaining([
        'rules.yaml: UPPER: metadata.name',
        'rules.yaml: UPPER: metadata.labels',
        'rules.yaml: UPPER: status',
        'rules.yaml: UPPER: spec.match',
        'rules.yaml: UPPER: spec.match.namespaceSelector',
        'rules.yaml: UPPER: spec.match.labelSelector.matchlabels',
        'rules.yaml: UPPER: spec.handler',
        'rules.yaml: UPPER: spec.target.1x',
        'rules.yaml: UPPER: spec.target.account',
        'rules.yaml: UPPER: spec.target.region',
        'rules.yaml: UPPER: spec.target.empty',
        'rules.yaml: UPPER: spec.options.a',
        'rules.yaml: UPPER: spec.ownership.tags',
        'rules.yaml: UPPER: spec.ownership.none',
        'rules.yaml: UPPER: spec.policy',
        'rules.yaml: UPPER: spec.budget',
        'rules.yaml: UPPER: spec.waitFor.finalizers.0',
        'rules.yaml: UPPER: spec.waitFor.finalizers.1',
        'rules.yaml: UPPER: spec.waitFor.atMost',
        'rules.yaml: UPPER: spec.term',
        'rules.yaml: UPPER: spec.deadline',
        'rules.yaml: UPPER: spec.whenAbsent',
        'rules.yaml: rule 2: kind',
        'rules.yaml: rule 2: metadata.name',
        'rules.yaml: rule 2: spec',
      ]),
    );
    for (const message of Object.values(faults)) expect(message).not.toBe('');
  });

  it.each([
    [
      { match: { ...spec.match, namespaceSelector: {} } },
      'spec.match.namespaceSelector',
      'not supported for rules from a file',
    ],
    [{ budget: { limit: 50, window: '1h' } }, 'spec.budget', 'not supported for rules from a file'],
    [{ finalizer: 'x' }, 'spec.finalizer', 'unknown field'],
    [{ target: {} }, 'spec.target', 'at least one'],
    [{ target: { account: 111122223333 } }, 'spec.target.account', 'literal is written in quotes'],
    [{ target: { a: 'object.' } }, 'spec.target.a', 'it ends where a name is expected'],
    [{ target: { a: '1.5' } }, 'spec.target.a', 'type double'],
    [{ target: { a: "'x'.matches('(')" } }, 'spec.target.a', 'regexp'],
    [{ target: { a: "''" } }, 'spec.target.a', 'an empty string'],
    [{ policy: "'Keep'" }, 'spec.policy', 'neither "Delete" nor "Retain"'],
    [{ policy: 'true' }, 'spec.policy', 'type bool, not string'],
    [{ ownership: { tags: { a: 'object.spec.owner' } } }, 'spec.ownership', 'OwnershipNotBound'],
    [{ ownership: { tags: { a: 'object.metadata.namespace' } } }, 'spec.ownership', 'OwnershipNotBound'],
    [{ ownership: { tags: { a: 'object.metadata.uid', b: '1' } } }, 'spec.ownership.tags.b', 'type int, not string'],
    [{ ownership: { tags: { a: 'object.metadata.uid', b: "''" } } }, 'spec.ownership.tags.b', 'empty'],
    [{ ownership: {} }, 'spec.ownership', 'either tags or none'],
    [{ ownership: { none: true, tags: { a: 'object.metadata.uid' } } }, 'spec.ownership', 'either tags or none'],
    [{ term: '29m59s' }, 'spec.term', 'from 30m to 6h'],
    [{ term: '6h1s' }, 'spec.term', 'from 30m to 6h'],
    [{ term: 3600 }, 'spec.term', 'expected a duration'],
    [{ deadline: '0' }, 'spec.deadline', 'from 1m'],
    [{ deadline: '24' }, 'spec.deadline', 'not a duration'],
    [{ waitFor: { finalizers: [], atMost: '10m' } }, 'spec.waitFor.finalizers', 'Too small'],
    [{ waitFor: { finalizers: ['a.b/c'] } }, 'spec.waitFor.atMost', 'expected a duration'],
    [{ waitFor: { finalizers: ['-a'], atMost: '10m' } }, 'spec.waitFor.finalizers.0', 'not a finalizer'],
    [{ options: { text: 'x'.repeat(9000) } }, 'spec.options', 'larger than 8192'],
    [{ options: [] }, 'spec.options', 'expected'],
    [{ handler: 'x'.repeat(41) }, 'spec.handler', 'Too big'],
    [{ match: { version: 'v1', resource: 'buckets' } }, 'spec.match.group', 'expected string'],
    [{ match: { ...spec.match, resource: 'buckets/status' } }, 'spec.match.resource', 'the plural'],
    [{ match: { ...spec.match, resource: '*' } }, 'spec.match.resource', 'the plural'],
    [{ paused: 'yes' }, 'spec.paused', 'expected boolean'],
  ])('in %j are told at %s: %s', (change, path, why) => {
    expect(faultOf(change, path)).toContain(why);
  });

  it.each([
    ['', 'secrets', 'secrets'],
    ['', 'events', 'events'],
    ['events.k8s.io', 'events', 'events.events.k8s.io'],
    ['coordination.k8s.io', 'leases', 'leases.coordination.k8s.io'],
    ['certificates.k8s.io', 'certificatesigningrequests', 'certificatesigningrequests.certificates.k8s.io'],
    ['finalizer-bridge.dev', 'teardownrules', 'teardownrules.finalizer-bridge.dev'],
    [
      'admissionregistration.k8s.io',
      'mutatingadmissionpolicies',
      'mutatingadmissionpolicies.admissionregistration.k8s.io',
    ],
    ['apiextensions.k8s.io', 'customresourcedefinitions', 'customresourcedefinitions.apiextensions.k8s.io'],
    ['authentication.k8s.io', 'tokenreviews', 'tokenreviews.authentication.k8s.io'],
    ['authorization.k8s.io', 'subjectaccessreviews', 'subjectaccessreviews.authorization.k8s.io'],
  ])('refuse the kind %s/%s', (group, resource, said) => {
    expect(faultOf({ match: { group, version: 'v1', resource } }, 'spec.match')).toBe(`rules for ${said} are refused`);
  });

  it('do not refuse a kind that only shares its name with a refused one', () => {
    const match = { group: 'secretsmanager.services.k8s.aws', version: 'v1alpha1', resource: 'secrets' };
    expect(ruleFrom(fileWith({ match })).match).toEqual(match);
    expect(ruleFrom(fileWith({ match: { group: '', version: 'v1', resource: 'configmaps' } })).match.group).toBe('');
  });

  it.each([
    ['a', true],
    ['a'.repeat(63), true],
    ['team.buckets-1', true],
    ['a'.repeat(64), false],
    ['', false],
    ['Team', false],
    ['-a', false],
    ['a-', false],
    ['a..b', false],
    ['a_b', false],
    ['a/b', false],
  ])('let a rule be called "%s": %s (K16, K24)', (name, accepted) => {
    const parsed = parseRules(fileWith({}, { name }), 'rules.yaml');
    expect(parsed.ok).toBe(accepted);
    if (parsed.ok) expect(parsed.rules[0]?.entry).toBe(`finalizer-bridge.dev/${name}`);
  });
});
