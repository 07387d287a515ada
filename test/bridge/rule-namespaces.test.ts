/*
 * The namespaces that a rule's entries may be in: what is forgotten there leaves objects that nothing ever frees (P5, P9), and what
 * is named too long holds up a withdrawal for good. Through the whole bridge in leaving-namespaces.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { Contests } from '../../bridge/contests.ts';
import { noteNamespaces } from '../../bridge/noted-namespaces.ts';
import type { Cluster, KubeObject, ObjectMeta, PatchOutcome } from '../../bridge/ports.ts';
import {
  ANYWHERE,
  formerNamespaces,
  knownNamespaces,
  leftBehind,
  leftWords,
  namespacesOnly,
  namespacesUnder,
  saysWhere,
  stillLeaving,
} from '../../bridge/rule-namespaces.ts';
import { EVERYWHERE, type Served } from '../../bridge/served.ts';
import { rulePath, WITHDRAWAL_FINALIZER } from '../../bridge/teardown-rules.ts';
import { metaOf, RULE } from '../support/bridge-builders.ts';

const ONE: Served = { namespaces: ['team-a'], leaving: [] };
const LEAVING: Served = { namespaces: ['team-a'], leaving: ['team-b'] };

function ruleWith(status?: Readonly<Record<string, unknown>>, finalizers: readonly string[] = []): KubeObject {
  const metadata = metaOf({ name: RULE, namespace: undefined, uid: 'uid-rule', finalizers });
  return { apiVersion: 'finalizer-bridge.dev/v1alpha1', kind: 'TeardownRule', metadata, ...(status && { status }) };
}
const named = (...namespaces: readonly string[]) => ruleWith({ namespaces });

describe('where a rule may have entries', () => {
  it('is what its status names', () => {
    expect(knownNamespaces(named('team-b', 'team-a'))).toEqual(['team-b', 'team-a']);
    expect(knownNamespaces(ruleWith({ namespaces: [], observedGeneration: 1 }, [WITHDRAWAL_FINALIZER]))).toEqual([]);
  });

  it.each([
    ['was judged', ruleWith({ observedGeneration: 1 })],
    ['holds itself', ruleWith(undefined, [WITHDRAWAL_FINALIZER])],
  ])('is anywhere for a rule without a list that %s: a bridge for the whole cluster took it on (P9)', (_what, rule) => {
    expect(knownNamespaces(rule)).toEqual([ANYWHERE]);
    expect(leftBehind(rule, ONE)).toEqual([ANYWHERE]);
    expect(namespacesOnly(rule)).toBeUndefined();
  });

  it.each([
    ['without a status', ruleWith()],
    ['with an empty one', ruleWith({})],
    ['that others hold', ruleWith({}, ['example.com/other'])],
  ])('is nowhere yet for a rule %s', (_what, rule) => {
    expect(knownNamespaces(rule)).toEqual([]);
    expect(leftBehind(rule, ONE)).toEqual([]);
  });

  it('is known for certain only where the list says nothing of the whole cluster', () => {
    expect(namespacesOnly(named('team-a'))).toEqual(['team-a']);
    expect(namespacesOnly(named())).toEqual([]);
    expect(namespacesOnly(named('team-a', ANYWHERE))).toBeUndefined();
  });
});

describe('a rule says already where its entries may be', () => {
  const holding = (...namespaces: readonly string[]) => ruleWith({ namespaces }, [WITHDRAWAL_FINALIZER]);

  it('where it holds itself and names every namespace that is served (P5, P9)', () => {
    const both: Served = { namespaces: ['team-a', 'team-b'], leaving: [] };
    expect(saysWhere(holding('team-b', 'team-c', 'team-a'), both)).toBe(true);
    expect(saysWhere(holding('team-a'), both)).toBe(false);
    expect(saysWhere(holding('team-b'), both)).toBe(false);
    expect(saysWhere(holding(), both)).toBe(false);
    expect(saysWhere(holding(), { namespaces: [], leaving: [] })).toBe(true);
  });

  it('or that they may be anywhere, where the whole cluster is served', () => {
    expect(saysWhere(holding('team-a', ANYWHERE), EVERYWHERE)).toBe(true);
    expect(saysWhere(ruleWith({}, [WITHDRAWAL_FINALIZER]), EVERYWHERE)).toBe(true);
    expect(saysWhere(holding('team-a'), EVERYWHERE)).toBe(false);
  });

  it('and never where it does not hold itself', () => {
    expect(saysWhere(named('team-a'), ONE)).toBe(false);
    expect(saysWhere(ruleWith({ namespaces: ['team-a'] }, ['example.com/other']), ONE)).toBe(false);
    expect(saysWhere(ruleWith({ observedGeneration: 1 }), EVERYWHERE)).toBe(false);
  });
});

describe('rights that may be kept from before the whole cluster was served', () => {
  it('are in the namespaces that the list names, and never in all', () => {
    expect(formerNamespaces(named('team-b', ANYWHERE, 'team-a'))).toEqual(['team-b', 'team-a']);
    expect(formerNamespaces(named(ANYWHERE))).toEqual([]);
    expect(formerNamespaces(ruleWith({ observedGeneration: 1 }))).toEqual([]);
  });

  it('keep their namespaces named, with the word that entries may be anywhere, until there are none (P9)', () => {
    expect(namespacesUnder(EVERYWHERE, named('team-b', ANYWHERE, 'team-a'))).toEqual([ANYWHERE, 'team-b', 'team-a']);
    expect(namespacesUnder(EVERYWHERE, named('team-a'))).toEqual([ANYWHERE, 'team-a']);
    expect(namespacesUnder(EVERYWHERE, named(ANYWHERE))).toBeUndefined();
    expect(namespacesUnder(EVERYWHERE, named())).toBeUndefined();
  });

  it('are none where some namespaces are served: the list stays as it is', () => {
    expect(namespacesUnder(ONE, named('team-b', ANYWHERE))).toEqual(['team-b', ANYWHERE]);
    expect(namespacesUnder(ONE, named())).toEqual([]);
    expect(namespacesUnder(ONE, ruleWith({ observedGeneration: 1 }))).toEqual([ANYWHERE]);
  });
});

describe('what nobody looks into any more', () => {
  it('is what the list names beyond those that are served or being left', () => {
    expect(leftBehind(named('team-a', 'team-b', 'team-c'), LEAVING)).toEqual(['team-c']);
    expect(leftBehind(named('team-a', ANYWHERE), ONE)).toEqual([ANYWHERE]);
  });

  it('is nothing where the whole cluster is served', () => {
    expect(leftBehind(named('team-a', ANYWHERE), EVERYWHERE)).toEqual([]);
  });

  it('is told with what mends it', () => {
    expect(leftWords(['team-b'])).toMatch(/^objects in namespace team-b may still carry the entry.*leavingNamespaces/);
    expect(leftWords(['team-b', 'team-c'])).toContain('objects in namespaces team-b, team-c may');
    expect(leftWords(['team-b', ANYWHERE])).toContain('in any namespace, as the whole cluster was served before may');
  });
});

it('a namespace that is being left is so for a rule until it was found empty', () => {
  expect(stillLeaving(named('team-a', 'team-b'), LEAVING)).toEqual(['team-b']);
  expect(stillLeaving(named('team-a'), LEAVING)).toEqual([]);
});

describe('noting them', () => {
  type Patch = Parameters<Cluster['patch']>;
  const namespace = (name: string, changes: Partial<ObjectMeta> = {}): KubeObject => ({
    ...{ apiVersion: 'v1', kind: 'Namespace', metadata: metaOf({ name, namespace: undefined, ...changes }) },
  });
  const states: Readonly<Record<string, KubeObject>> = {
    ...Object.fromEntries(['team-a', 'team-b', 'team-c'].map((name) => [name, namespace(name)])),
    ending: namespace('ending', { deletionTimestamp: '2026-03-02T10:00:00Z' }),
  };
  const written = metaOf({ name: RULE, uid: 'uid-rule', resourceVersion: '8' });

  async function noted(
    rule: KubeObject,
    noting: { readonly served: Served; readonly emptied?: readonly string[]; readonly going?: readonly string[] },
    outcome: PatchOutcome = { kind: 'patched', meta: written },
  ) {
    const patches: Patch[] = [];
    const asked: string[] = [];
    const patch: Cluster['patch'] = async (...call) => {
      patches.push(call);
      return outcome;
    };
    const contests = new Contests({ monotonic: () => 0 });
    const get: Cluster['get'] = async ({ name }) => {
      asked.push(name);
      return states[name];
    };
    const object = await noteNamespaces({ cluster: { get, patch }, contests }, rule, { emptied: [], ...noting });
    return { object, patches, asked, named: patches.flatMap(([, operations]) => operations.slice(-1)) };
  }
  const listed = (...namespaces: readonly string[]) => [
    { op: 'add', path: '/status', value: expect.objectContaining({ namespaces }) },
  ];

  it('adds those that are served now to those that were, each once and in order (P9)', async () => {
    const { named: value } = await noted(named('team-b', 'team-a'), {
      served: { namespaces: ['team-c', 'team-a'], leaving: [] },
    });
    expect(value).toEqual(listed('team-a', 'team-b', 'team-c'));
  });

  it('begins the list of a rule that has none, before any entry is put on (P5)', async () => {
    expect((await noted(ruleWith(), { served: ONE })).named).toEqual(listed('team-a'));
    const takenOn = ruleWith({ observedGeneration: 1 });
    expect((await noted(takenOn, { served: ONE })).named).toEqual(listed(ANYWHERE, 'team-a'));
  });

  it('drops what was found empty, and nothing else', async () => {
    const { named: value } = await noted(named('team-a', 'team-b', 'team-c'), { served: LEAVING, emptied: ['team-b'] });
    expect(value).toEqual(listed('team-a', 'team-c'));
  });

  it('names no namespace anew in which nothing can be made any more, and keeps one that was named', async () => {
    const served = { namespaces: ['team-a', 'team-b'], leaving: [] };
    expect((await noted(named(), { served, going: ['team-b'] })).named).toEqual(listed('team-a'));
    expect((await noted(named('team-b'), { served, going: ['team-b'] })).named).toEqual(listed('team-a', 'team-b'));
  });

  it('names none anew that is not there or is being deleted, and asks for no other (P4, P8)', async () => {
    const served = { namespaces: ['team-a', 'team-b', 'gone', 'ending'], leaving: [] };
    const { named: value, asked } = await noted(named('team-a'), { served });
    expect([value, asked]).toEqual([listed('team-a', 'team-b'), ['team-b', 'gone', 'ending']]);
    expect((await noted(named('gone', 'team-a', 'team-b'), { served })).patches).toEqual([]);
    expect((await noted(named('team-a', 'team-b'), { served })).patches).toEqual([]);
    expect((await noted(named('team-a'), { served: EVERYWHERE })).asked).toEqual([]);
  });

  it('says that it may be anywhere where the whole cluster is served over a list, and nothing where there is none', async () => {
    expect((await noted(named('team-a'), { served: EVERYWHERE })).named).toEqual(listed(ANYWHERE, 'team-a'));
    const rule = ruleWith({ observedGeneration: 1 });
    const { object, patches } = await noted(rule, { served: EVERYWHERE });
    expect([object, patches]).toEqual([rule, []]);
  });

  it('writes nothing where the list is as wanted (P8)', async () => {
    const rule = named('team-a');
    const { object, patches } = await noted(rule, { served: ONE });
    expect([object, patches]).toEqual([rule, []]);
  });

  it('keeps the rest of the status, binds the write to the rule as it was read, and gives the rule as it is then', async () => {
    const rule = ruleWith({ observedGeneration: 3, namespaces: [] }, [WITHDRAWAL_FINALIZER]);
    const { object, patches } = await noted(rule, { served: ONE });
    const status = { observedGeneration: 3, namespaces: ['team-a'] };
    expect(patches).toEqual([
      [
        rulePath(RULE),
        [
          { op: 'test', path: '/metadata/uid', value: 'uid-rule' },
          { op: 'test', path: '/metadata/resourceVersion', value: '7' },
          { op: 'add', path: '/status', value: status },
        ],
        'status',
      ],
    ]);
    expect(object).toEqual({ ...rule, metadata: written, status });
  });

  it('throws when the rule has changed, since no entry may be put on before they are noted (P5)', async () => {
    await expect(noted(named(), { served: ONE }, { kind: 'conflict' })).rejects.toThrow(
      `noting the namespaces of rule ${RULE}: it has changed`,
    );
  });

  it('leaves a rule that is no more as it was', async () => {
    const rule = named();
    expect((await noted(rule, { served: ONE }, { kind: 'missing' })).object).toBe(rule);
  });
});
