/*
 * Calls under fire: what happens to single GETs and PATCHes, tokens that expire, an object that nobody may write. The
 * shipped bundle, a real API server, and a proxy between them; what is struck is one object, or one token.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../bridge/stopping.ts';
import { eventually } from '../support/eventually.ts';
import type { Fault, Verb } from '../support/fault-script.ts';
import { type FireScene, startFireScene } from '../support/fire-scene.ts';
import { sumOf } from '../support/metrics-page.ts';
import { logFailures } from '../support/site.ts';

const KIND = 'struck';
const OTHER = 'undisturbed';
/** Longest that anything takes that was not struck beside a call that is mute; on a busy machine four times as long, and still less. */
const SOON = 3_500;
/** A call gives up after 15 s, and is made again. */
const PATIENT = 40_000;

let scene: FireScene;
logFailures(() => scene.site);

beforeAll(async () => {
  scene = await startFireScene('fire-calls', [KIND, OTHER]);
});
afterAll(async () => await scene?.stop());

describe.concurrent('a call under fire is made again until it is answered, and one object more is not disturbed (P10)', () => {
  it.each<[string, Verb, Fault, number]>([
    ['get-500', 'get', { kind: 'answer', status: 500 }, 2],
    ['get-truncated', 'get', { kind: 'truncate' }, 2],
    ['get-refused', 'get', { kind: 'refuse' }, 2],
    ['get-late', 'get', { kind: 'late', ms: 600 }, 1],
    ['get-dripping', 'get', { kind: 'slow', bytes: 1, everyMs: 500 }, 1],
    ['get-mute', 'get', { kind: 'mute' }, 1],
    ['patch-500', 'patch', { kind: 'answer', status: 500 }, 2],
    ['patch-503', 'patch', { kind: 'answer', status: 503 }, 2],
    ['patch-504', 'patch', { kind: 'answer', status: 504 }, 2],
    ['patch-refused', 'patch', { kind: 'refuse' }, 2],
    ['patch-truncated', 'patch', { kind: 'truncate' }, 1],
    ['patch-lost', 'patch', { kind: 'lose' }, 1],
    ['patch-mute', 'patch', { kind: 'mute' }, 1],
  ])('K5 %s', async (name, verb, fault, times) => {
    const { proxy, things } = scene;
    const [thing, other] = [await scene.make(KIND, name), await scene.make(OTHER, name)];
    const before = { calls: proxy.count({ name }), ended: proxy.ended({ verb: 'watch' }) };
    const playing = proxy.when({ verb, name, resource: KIND }, times).strike(fault);
    await Promise.all([things.delete(thing), things.delete(other)]);

    await Promise.all([scene.settle(other, fault.kind === 'mute' ? SOON : undefined), scene.settle(thing, PATIENT)]);

    expect(playing.struck).toBe(times);
    // One GET and one PATCH of each; of the one that was struck at most two more for each time. An API server that is starved
    // ends watches, and both are looked at again.
    const ended = proxy.ended({ verb: 'watch' }) - before.ended;
    expect(proxy.count({ name }) - before.calls, 'calls').toBeLessThanOrEqual(4 + 3 * times + 2 * ended);
  });

  it('K13 a PATCH that is answered 429 waits as long as the API server asks', async () => {
    const { proxy, things } = scene;
    const thing = await scene.make(KIND, 'patch-429');
    const isOurs = { verb: 'patch', name: 'patch-429' } as const;
    const busy = proxy.when(isOurs, 2).strike({ kind: 'answer', status: 429, retryAfter: 2 });
    await things.delete(thing);

    await scene.settle(thing);

    const at = proxy.asked.filter((ask) => ask.verb === isOurs.verb && ask.name === isOurs.name).map((ask) => ask.at);
    expect(busy.struck).toBe(2);
    expect((at.at(-1) ?? 0) - (at.at(-3) ?? 0), 'ms for two pauses').toBeGreaterThan(3_900);
  });

  it('P4 a kind whose every other call fails in some way is emptied all the same', async () => {
    const { proxy, things } = scene;
    const names = Array.from({ length: 20 }, (_, index) => `many-${index}`);
    const made = await Promise.all(names.map((name) => scene.make(KIND, name)));
    const steps = names.flatMap((name, index) => {
      const faults: readonly Fault[] = [
        { kind: 'lose' },
        { kind: 'answer', status: 500 + (index % 5) },
        { kind: 'truncate' },
        { kind: 'refuse' },
      ];
      const fault = faults[index % faults.length] ?? { kind: 'lose' };
      return (['get', 'patch'] as const).map((verb) => ({ on: { verb, name }, fault, times: 2 }));
    });
    proxy.play(steps);
    await Promise.all(made.map((thing) => things.delete(thing)));

    await Promise.all(made.map((thing) => scene.settle(thing)));
  });
});

it('K29 an object that nobody may update is held and told of, others are not affected, and it goes on by itself', async () => {
  const { site, rules, things, proxy } = scene;
  const [thing, other] = [await scene.make(KIND, 'walled'), await scene.make(KIND, 'beside')];
  const wall = await wallAround('walled');
  await things.delete(thing);
  const [before, from] = [proxy.count({ verb: 'patch', name: 'walled' }), performance.now()];
  await scene.hands.finish(thing);
  const rule = await eventually('the rule tells of it', async () => {
    const { status } = await rules.found(scene.ruleOf(KIND));
    return status.heldObjects.some(({ name, reason }) => name === 'walled' && reason === 'Failing') && status;
  });
  expect(rule.held).toBeGreaterThan(0);
  const labels = { rule: scene.ruleOf(KIND), reason: 'Failing' };
  await expect
    .poll(async () => sumOf(await scene.bridge().metrics(), 'finalizer_bridge_held', labels))
    .toBeGreaterThan(0);
  expect(await things.has(thing, scene.ruleOf(KIND))).toBe(true);
  await things.delete(other);
  await scene.settle(other);
  const seconds = (performance.now() - from) / 1_000;
  // Each pause is twice as long as the one before, up to a limit; without them it would be hundreds.
  expect(proxy.count({ verb: 'patch', name: 'walled' }) - before, 'tries').toBeLessThan(15 + seconds / 4);

  await site.admin.request('DELETE', wall);

  await things.gone(thing, PATIENT);
});

describe('a token that expires', () => {
  it('K14 is read again from its file at the first 401, and the bridge stays ready', async () => {
    const { faults, things } = scene;
    const thing = await scene.make(KIND, 'rotated');
    await faults.renewToken(() => faults.expireToken());
    await things.delete(thing);

    await scene.settle(thing);

    await scene.bridge().ready();
    expect(sumOf(await scene.bridge().metrics(), 'finalizer_bridge_api_calls_total', { status: '401' })).toBeLessThan(
      10,
    );
  });

  it('K14 and is not renewed ends the bridge, without a storm; the next one, with a new token, loses nothing', async () => {
    const { faults, proxy, things } = scene;
    const thing = await scene.make(KIND, 'expired');
    const [before, from] = [proxy.asked.length, performance.now()];
    await faults.expireToken();
    await things.delete(thing);

    expect(await scene.bridge().exited).toBe(EXIT.lostLease);

    const seconds = (performance.now() - from) / 1_000;
    expect((proxy.asked.length - before) / seconds, 'calls a second').toBeLessThan(4);
    await scene.startAgain();
    await scene.settle(thing, PATIENT);
  });
});

/** A policy of the cluster's that refuses every update of one object, as a webhook that fails closed; in force when it resolves. */
async function wallAround(name: string): Promise<string> {
  const { admin, group, namespace } = scene.site;
  const api = 'admissionregistration.k8s.io';
  const wall = `fire-calls-${name}`;
  const rule = { apiGroups: [group], apiVersions: ['*'], resources: ['*'], operations: ['UPDATE'] };
  const validations = [{ expression: `object.metadata.name != '${name}'`, message: 'nobody may write this' }];
  const spec = { failurePolicy: 'Fail', matchConstraints: { resourceRules: [rule] }, validations };
  await admin.apply([
    { apiVersion: `${api}/v1`, kind: 'ValidatingAdmissionPolicy', metadata: { name: wall }, spec },
    {
      ...{ apiVersion: `${api}/v1`, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: wall } },
      spec: { policyName: wall, validationActions: ['Deny'] },
    },
  ]);
  const path = `/apis/${group}/v1/namespaces/${namespace}/${KIND}/${name}`;
  await eventually('the wall stands', async () => {
    const labels = { metadata: { labels: { tried: String(performance.now()) } } };
    const { status } = await admin.request('PATCH', path, labels, { contentType: 'application/merge-patch+json' });
    return status === 422;
  });
  return `/apis/${api}/v1/validatingadmissionpolicybindings/${wall}`;
}
