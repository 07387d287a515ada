/*
 * The worked rules of docs/worked-rules: each is read by the bridge's own schema and evaluated by its own CEL over the
 * object beside it; targets go through the shipped handlers' schemas, proofs over the tags beside them.
 * The page docs/worked-rules.md is held to the files, and to what it says of ownership, handlers and limits.
 */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { prepare } from '../../bridge/cel/object.ts';
import type { Ownership } from '../../bridge/contract.ts';
import { selectorPredicate } from '../../bridge/label-selector.ts';
import type { Evaluation, ObjectLike } from '../../bridge/rule.ts';
import { type TeardownRuleSpec, teardownRuleSpec } from '../../bridge/rule-schema.ts';
import { ownershipOf, parseRules } from '../../bridge/rules.ts';
import { bindingOf, evaluateOwnership, evaluatePolicy, evaluateTarget } from '../../bridge/target.ts';
import { isStrong, judgeOwnership } from '../../functions/ownership.ts';
import { registry } from '../../functions/registry.ts';
import { expectedOf, files, objectOf, page, read, ruleCalled, rulesOf, tagsOf } from '../support/worked-rules.ts';

/** Number of the section, its heading and its files, and what the page says of the ownership. */
const worked = [
  { number: 1, title: 'In-house CRD', file: 'in-house', ownership: 'strong', ready: true },
  { number: 2, title: 'ACK Bucket', file: 'ack-bucket', ownership: 'strong', ready: false },
  { number: 3, title: 'Crossplane Bucket', file: 'crossplane-bucket', ownership: 'strong', ready: false },
  { number: 4, title: 'Cluster API machine', file: 'cluster-api-machine', ownership: 'weak', ready: true },
  { number: 5, title: 'EBS volume of a PVC', file: 'ebs-volume', ownership: 'weak', ready: true },
  { number: 6, title: 'Terraform-made bucket', file: 'terraform-bucket', ownership: 'strong', ready: false },
  { number: 7, title: 'SaaS tenant by webhook', file: 'saas-tenant', ownership: 'strong', ready: true },
  { number: 8, title: 'Notice before deletion', file: 'notify-first', ownership: 'strong', ready: true },
  { number: 9, title: 'Retain by annotation', file: 'retain', ownership: 'strong', ready: true },
  { number: 10, title: 'Namespace with a budget', file: 'budget', ownership: 'strong', ready: true },
] as const;

function evaluated(spec: TeardownRuleSpec, object: ObjectLike): Evaluation {
  const prepared = prepare(object);
  return {
    target: evaluateTarget(spec.target, prepared),
    ownership: evaluateOwnership(ownershipOf(spec), prepared, object.metadata.namespace !== undefined),
    policy: evaluatePolicy(spec.policy, prepared),
  };
}

function policyOf(file: string, name: string, change: { spec?: object; annotations?: Record<string, string> }) {
  const object = objectOf(file);
  const spec = z.looseObject({}).parse(object.spec ?? {});
  const metadata = { ...object.metadata, annotations: change.annotations ?? object.metadata.annotations };
  const { policy } = evaluated(ruleCalled(file, name), { ...object, metadata, spec: { ...spec, ...change.spec } });
  return policy.kind === 'found' ? policy.policy : policy.kind;
}

/** A section of the page: from its heading to the next. */
function sectionOf(heading: string): string {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  return section.split('\n## ')[0] ?? '';
}

describe.each(worked)('the worked rule $file', ({ number, title, file, ownership, ready }) => {
  const section = sectionOf(`${number}. ${title}`);

  it('says what its object is to lose, on what proof and by what policy', () => {
    const object = objectOf(file);
    const outcomes = rulesOf(file).map(({ metadata, spec }) => ({ rule: metadata.name, ...evaluated(spec, object) }));
    expect(outcomes).toMatchObject(
      expectedOf(file).map(({ rule, target, ownership, policy }) => ({
        rule,
        target: { kind: 'found', target },
        ownership: { kind: 'found', ownership },
        policy: { kind: 'found', policy },
      })),
    );
  });

  it('means the same from a file, which only refuses what needs the API', () => {
    const parsed = parseRules(read(`${file}.rule.yaml`), 'rules.yaml');
    const fields = parsed.ok ? [] : parsed.faults.map(({ path }) => path.split(': ').at(-1));
    expect([...new Set(fields)]).toEqual(file === 'budget' ? ['spec.match.namespaceSelector', 'spec.budget'] : []);
    const outcomes = parsed.ok ? parsed.rules.map((rule) => rule.evaluate(objectOf(file))) : [];
    expect(outcomes).toEqual(parsed.ok ? rulesOf(file).map(({ spec }) => evaluated(spec, objectOf(file))) : []);
  });

  it('has put its entry on the object exactly if it selects it', () => {
    const { apiVersion, kind, metadata } = objectOf(file);
    for (const { spec, metadata: rule } of rulesOf(file)) {
      const { group, version, resource, labelSelector, namespaceSelector } = spec.match;
      expect([apiVersion, `${kind.toLowerCase()}s`]).toEqual([group ? `${group}/${version}` : version, resource]);
      const namespace = { 'kubernetes.io/metadata.name': metadata.namespace ?? '' };
      const selects =
        (labelSelector === undefined || selectorPredicate(labelSelector)(metadata.labels)) &&
        (namespaceSelector === undefined || selectorPredicate(namespaceSelector)(namespace));
      expect(metadata.finalizers.includes(`finalizer-bridge.dev/${rule.name}`)).toBe(selects);
    }
  });

  it('is as strong and as ready as the page says', () => {
    expect(section).toContain(`**Ownership: ${ownership}${ready ? '' : ', once you have added the tag'}.**`);
    const deleting = rulesOf(file).at(-1);
    const proof: Ownership | undefined = expectedOf(file).at(-1)?.ownership;
    if (deleting === undefined || proof === undefined) throw new Error(`reading ${file}: no rule`);
    expect(bindingOf(ownershipOf(deleting.spec))).toBe({ strong: 'uid', weak: 'name', none: 'none' }[ownership]);
    expect(isStrong(proof, objectOf(file).metadata.uid)).toBe(ownership === 'strong');
    const { provisioner, added } = tagsOf(file);
    const judge = (tags: object) => judgeOwnership(proof, new Map(Object.entries(tags))).owned;
    expect([judge(provisioner), judge({ ...provisioner, ...added })]).toEqual([ready, true]);
  });

  it('asks for what its handler takes, or the page says that the handler is not there', () => {
    for (const [index, { spec }] of rulesOf(file).entries()) {
      const handler = registry.find(({ name }) => name === spec.handler);
      expect(section.includes(`\`${spec.handler}\` is not shipped yet`)).toBe(handler === undefined);
      const prepared = handler?.prepare(expectedOf(file)[index]?.target ?? {}, spec.options);
      expect(prepared?.ok).toBe(handler && true);
    }
  });

  it('stands in the page as it stands in its file', () => {
    expect(section).toContain(`\`\`\`yaml\n${read(`${file}.rule.yaml`)}\`\`\`\n`);
  });
});

describe('the policies of the worked rules', () => {
  it.each([
    ['ack-bucket', 'ack-buckets', { annotations: { 'services.k8s.aws/deletion-policy': 'retain' } }, 'Retain'],
    ['ack-bucket', 'ack-buckets', { annotations: { 'services.k8s.aws/deletion-policy': 'delete' } }, 'Delete'],
    ['crossplane-bucket', 'crossplane-buckets', { spec: { deletionPolicy: 'Orphan' } }, 'Retain'],
    ['crossplane-bucket', 'crossplane-buckets', { spec: { managementPolicies: ['Observe', 'Create'] } }, 'Retain'],
    [
      ...(['crossplane-bucket', 'crossplane-buckets'] as const),
      { spec: { deletionPolicy: 'Orphan', managementPolicies: ['Observe', 'Delete'] } },
      'Delete',
    ],
    ['ebs-volume', 'retained-volumes', { spec: { persistentVolumeReclaimPolicy: 'Delete' } }, 'Retain'],
    ['ebs-volume', 'retained-volumes', { spec: { csi: { driver: 'efs.csi.aws.com' } } }, 'Retain'],
    ['ebs-volume', 'retained-volumes', { spec: { csi: undefined } }, 'Retain'],
    ['retain', 'keepable-buckets', { annotations: {} }, 'Delete'],
    ['retain', 'keepable-buckets', { annotations: { 'storage.example.com/on-delete': 'retain' } }, 'invalid'],
  ])('%s, %s, with %j: %s', (file, rule, change, policy) => {
    expect(policyOf(file, rule, change)).toBe(policy);
  });
});

describe('the page of worked rules', () => {
  it('links every file, and has no other', () => {
    const kinds = ['evaluated', 'object', 'rule', 'tags'];
    expect(files).toEqual(worked.flatMap(({ file }) => kinds.map((kind) => `${file}.${kind}.yaml`)).sort());
    for (const name of files) expect(page).toContain(`](worked-rules/${name})`);
  });

  it('says truly what a rule can wait for, and what it cannot', () => {
    const waiting = ruleCalled('notify-first', 'announced-buckets').waitFor?.finalizers;
    expect(waiting).toEqual(['finalizer-bridge.dev/bucket-notice', 'notice.example.com/acknowledged']);
    const faults = (finalizer: string) => {
      const parsed = parseRules(
        read('notify-first.rule.yaml').replace('notice.example.com/acknowledged', finalizer),
        'r',
      );
      return parsed.ok ? '' : parsed.faults.map(({ message }) => message).join();
    };
    for (const [name] of page.matchAll(/(?<=`)[a-z.-]+\.(crossplane\.io|x-k8s\.io)(?=`)/g))
      expect(faults(name)).toBe('');
    expect(faults('finalizer-bridge.dev/announced-buckets')).toContain('WaitsInCircle');
    expect(page).toContain('`WaitsInCircle`');
  });

  it('waits for entries of rules of its own, and for finalizers that its object carries', () => {
    for (const { file } of worked) {
      const names = rulesOf(file).map(({ metadata }) => metadata.name);
      for (const { spec } of rulesOf(file)) {
        for (const finalizer of spec.waitFor?.finalizers ?? []) {
          expect(objectOf(file).metadata.finalizers, file).toContain(finalizer);
          const ours = finalizer.split('finalizer-bridge.dev/')[1];
          expect(ours === undefined || names.includes(ours)).toBe(true);
        }
      }
    }
  });

  it.each([
    ['ack-bucket', { 'services.k8s.aws/namespace': 'object.metadata.namespace' }, 'refused'],
    [
      'ack-bucket',
      { 'services.k8s.aws/namespace': 'object.metadata.namespace', 'services.k8s.aws/name': 'object.metadata.name' },
      'name found',
    ],
    ['crossplane-bucket', { 'crossplane-name': 'object.metadata.name' }, 'name found'],
    // As for the namespaced kind, whose objects have the same tags.
    ['in-house', { 'crossplane-name': 'object.metadata.name' }, 'undefined invalid'],
    ['cluster-api-machine', { 'finalizer-bridge.dev/owner-uid': 'object.metadata.uid' }, 'uid found'],
    ['ebs-volume', { CSIVolumeName: "'pvc-' + object.spec.claimRef.uid" }, 'refused'],
    ['ebs-volume', { CSIVolumeName: "'pvc-' + object.metadata.uid" }, 'uid found'],
  ])('says truly how strong %s would be with %j: %s', (file, tags, says) => {
    const [rule] = z.array(z.looseObject({ spec: z.looseObject({}) })).parse([parse(read(`${file}.rule.yaml`))]);
    const { data } = teardownRuleSpec.safeParse({ ...rule?.spec, ownership: { tags } });
    const object = objectOf(file);
    const binding = data && bindingOf(ownershipOf(data), object.metadata.namespace !== undefined);
    const proof = data && `${binding} ${evaluated(data, object).ownership.kind}`;
    expect(proof ?? 'refused').toBe(says);
  });
});
