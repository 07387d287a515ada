/*
 * A whole life under all policies, entries guarded as well: a bridge under its own few rights, real queues, and people with the
 * least rights at the command line. An object is born, taken down, refused, retried, approved and released; what a record
 * says cannot be forged; a rule is withdrawn and the rest drained by the hook's account.
 */
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { guardManifests } from '../../infra/admission/guards.ts';
import { BRIDGE_NAMESPACE } from '../../infra/local/installation.ts';
import { cliProcesses, type Person, type Right } from '../support/cli-process.ts';
import { eventually } from '../support/eventually.ts';
import { type LeavingSite, startLeavingSite } from '../support/leaving-site.ts';
import { logFailures } from '../support/site.ts';
import { entryOf, type Thing } from '../support/site-things.ts';

const SITE = 'guarded';

vi.setConfig({ maxConcurrency: 10 });

let here: LeavingSite;
/** May write buckets, and has no verb on rules. */
let author: Person;
let operator: Person;
let releaser: Person;
logFailures(() => here.site);

beforeAll(async () => {
  here = await startLeavingSite(SITE);
  const { site, kube } = here;
  const accounts = {
    bridge: { namespace: BRIDGE_NAMESPACE, name: SITE },
    drain: { namespace: BRIDGE_NAMESPACE, name: 'drain' },
  };
  await kube.apply(guardManifests([{ group: site.group, resource: 'buckets' }], { ...accounts, entries: 'Deleting' }));
  const cli = await cliProcesses(site);
  const objects: Right = { apiGroups: [site.group], resources: ['buckets'], verbs: ['get', 'list', 'patch'] };
  const rules = (...verbs: readonly string[]): Right => ({
    ...{ apiGroups: ['finalizer-bridge.dev'], resources: ['teardownrules'], verbs: ['get', 'list', ...verbs] },
  });
  author = await cli.person('author', { here: [objects], everywhere: [rules()] });
  operator = await cli.person('operator', { here: [objects], everywhere: [rules('retry', 'approve')] });
  releaser = await cli.person('releaser', { here: [objects, rules('release')], everywhere: [rules()] });
});
afterAll(() => here?.stop());

const nameOf = ({ name }: Thing) => `buckets.${here.site.group}/${name}`;

/** An object under a rule of its own, deleted and refused. */
async function refused(rule: string, changes = {}): Promise<Thing> {
  const { things, hands } = here;
  await here.rule(rule, changes);
  const thing = await here.made(`of-${rule}`, rule);
  await things.delete(thing);
  await hands.answer(thing, { outcome: 'refused', reason: 'NotOwned', message: 'tag owner-uid is missing' });
  await things.says(thing, rule, 'NotOwned');
  return thing;
}

describe.concurrent('under all policies', () => {
  it('a happy deletion goes its way, and so does an entry that the bridge puts on', async () => {
    const { rule, made, things, hands } = here;
    await rule('gl-happy');
    const thing = await made('happy', 'gl-happy');
    const older = await things.bucket('older', { labels: { rule: 'none' } });
    await things.label(older, { rule: 'gl-happy' });
    await things.claimed(older, 'gl-happy');
    for (const one of [thing, older]) {
      await things.delete(one);
      await hands.finish(one);
      await things.gone(one);
    }
  });

  it('a retry takes the verb, and is then heard', async ({ expect }) => {
    const { things, hands } = here;
    const thing = await refused('gl-retry');
    const not = await author('retry', nameOf(thing));
    expect(not).toMatchObject({ code: 1, err: expect.stringContaining('takes the verb retry on teardownrules') });
    expect(await releaser('retry', nameOf(thing))).toMatchObject({ code: 1 });
    expect(await operator('retry', nameOf(thing))).toMatchObject({ code: 0 });
    await eventually('it is asked for again', () => hands.of(thing).length > 1);
    await hands.finish(thing);
    await things.gone(thing);
  });

  it('a release takes the verb, in one namespace at least', async ({ expect }) => {
    const { things } = here;
    const thing = await refused('gl-release');
    const words = ['release', nameOf(thing), '--now', '--yes', '--reason', 'moved'];
    expect(await author(...words)).toMatchObject({ code: 1, err: expect.stringContaining('takes the verb release') });
    expect(await operator(...words)).toMatchObject({ code: 1 });
    expect(await things.has(thing, 'gl-release')).toBe(true);
    expect(await releaser(...words)).toMatchObject({ code: 0 });
    await things.gone(thing);
  });

  it('an approval takes the verb', async ({ expect }) => {
    const { things, hands, made } = here;
    const first = await refused('gl-budget', { budget: { limit: 1, window: '1h' } });
    const second = await made('second', 'gl-budget');
    await things.delete(second);
    await things.says(second, 'gl-budget', 'BudgetExceeded');
    expect(await author('approve', nameOf(second))).toMatchObject({ code: 1 });
    expect(await operator('approve', nameOf(second))).toMatchObject({ code: 0 });
    await hands.finish(second);
    await things.gone(second);
    await releaser('release', nameOf(first), '--now', '--yes', '--reason', 'x');
    await things.gone(first);
  });

  it('P9 the hook drains a rule, what is held included, and leaves nothing', async ({ expect }) => {
    const { things, rule, made, drainAsHook, rules } = here;
    await rule('gl-drain', { target: { bucket: 'object.status.bucketName' } });
    const live = await made('live', 'gl-drain');
    const held = await made('held', 'gl-drain');
    await things.delete(held);
    await things.says(held, 'gl-drain', 'TargetMissing');

    const drained = await drainAsHook('--rule', 'gl-drain', '--release-held=now');

    expect(drained).toMatchObject({ code: 0 });
    await things.gone(held);
    expect(await things.finalizers(live)).toEqual([]);
    expect(await rules.read('gl-drain')).toBeUndefined();
  });

  it('a withdrawal goes its way', async ({ expect }) => {
    const { things, rule, made, rules } = here;
    await rule('gl-withdrawn');
    const live = await made('kept', 'gl-withdrawn');
    await rules.delete('gl-withdrawn');
    await rules.gone('gl-withdrawn', 180_000);
    expect(await things.finalizers(live)).not.toContain(entryOf('gl-withdrawn'));
  });
});

describe('P7 a bridge that a policy refuses', () => {
  it('says so on the rule and in an Event, and goes on when the policy is gone', async ({ expect }) => {
    const { kube, site, rule, made, things, hands } = here;
    await rule('gl-stopped');
    const thing = await made('stopped', 'gl-stopped');
    const name = 'last-writer';
    const path = '/apis/admissionregistration.k8s.io/v1';
    const resourceRules = [
      { apiGroups: [site.group], apiVersions: ['*'], resources: ['buckets'], operations: ['UPDATE'] },
    ];
    const expression =
      'Object{metadata: Object.metadata{annotations: {"example.com/writer": request.userInfo.username}}}';
    const spec = {
      ...{ failurePolicy: 'Fail', reinvocationPolicy: 'Never', matchConstraints: { resourceRules } },
      matchConditions: [{ name: 'stopped', expression: "object.metadata.name == 'stopped'" }],
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
    };
    const apiVersion = 'admissionregistration.k8s.io/v1';
    await kube.apply([
      { apiVersion, kind: 'MutatingAdmissionPolicy', metadata: { name }, spec },
      { apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName: name } },
    ]);
    await eventually(
      'the other policy is at work',
      async () => {
        await things.label(thing, { probe: String(performance.now()) });
        return (await things.found(thing)).metadata.annotations['example.com/writer'] !== undefined;
      },
      45_000,
    );
    await things.delete(thing);
    await hands.finish(thing);

    const held = async () =>
      (await here.rules.found('gl-stopped')).status.heldObjects.find(({ uid }) => uid === thing.uid);
    expect(await eventually('the rule says that it is held', held, 90_000)).toMatchObject({ reason: 'Failing' });
    const events = (await things.events(thing)).map(({ reason, note }) => `${reason} ${note}`).join('\n');
    expect(events).toMatch(/TeardownHeld .*finalizer-bridge-limits/);
    expect(await things.has(thing, 'gl-stopped')).toBe(true);

    await kube.request('DELETE', `${path}/mutatingadmissionpolicybindings/${name}`);
    await things.gone(thing, 90_000);
  });
});
