/*
 * What people are told by Events: a held object's note says by itself what to do, each word of a person is told once,
 * and no rule tells so much that others are not heard. Through the whole bridge over fakes.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Outcome, utf8Bytes } from '../../bridge/contract.ts';
import { cutToBytes, eventName, NOTE_MAX_BYTES } from '../../bridge/event-note.ts';
import { nextCommand } from '../../bridge/next-command.ts';
import { counts, RULE } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { settled, stamp } from '../support/manual-clock.ts';
import { holds } from '../support/property.ts';

const refused: Outcome = { outcome: 'refused', reason: 'NotOwned', message: 'the owner tag is another one' };
const NAMED = {
  rule: RULE,
  kind: { group: 'storage.example.com', version: 'v1', resource: 'buckets' },
  meta: { name: 'logs', namespace: 'team-a' },
};

async function held(outcome: Outcome = refused): Promise<Scene> {
  const scene = await Scene.start();
  await scene.deleted();
  await scene.answer(outcome);
  return scene;
}

describe('the Event of a held object', () => {
  it('names the rule, the reason, since when, why, and the command that comes next', async () => {
    const scene = await held();
    expect(scene.cluster.events.map(({ message }) => message)).toEqual([
      `${RULE}: NotOwned since ${new Date(scene.clock.now()).toISOString()}: the owner tag is another one. ` +
        'Next: kubectl finalizer-bridge explain buckets.storage.example.com/logs -n team-a',
    ]);
  });

  it('keeps the command whole, however long the reason is and whatever it is written in', async () => {
    const scene = await held({ ...refused, message: '所有者'.repeat(170) });
    const [event] = scene.cluster.events;
    expect(utf8Bytes(event?.message ?? '')).toBeLessThanOrEqual(NOTE_MAX_BYTES);
    expect(event?.message).toMatch(/…\. Next: kubectl finalizer-bridge explain \S+ -n team-a$/);
  });

  it.each([
    ['NotOwned', 'explain buckets.storage.example.com/logs -n team-a'],
    ['AccessDenied', `retry buckets.storage.example.com/logs -n team-a --rule ${RULE}`],
    ['NoRule', `release buckets.storage.example.com/logs -n team-a --rule ${RULE}`],
    ['BudgetExceeded', `approve buckets.storage.example.com/logs -n team-a --rule ${RULE}`],
    ['TargetChanged', 'explain buckets.storage.example.com/logs -n team-a'],
    ['Failing', 'explain buckets.storage.example.com/logs -n team-a'],
  ])('for %s asks for %s', (reason, command) => {
    expect(nextCommand(reason, NAMED)).toBe(`kubectl finalizer-bridge ${command}`);
  });

  it.each(['RuleNotAccepted', 'BudgetNotKept'])('for %s asks to look at the rule', (reason) => {
    expect(nextCommand(reason, NAMED)).toBe(`kubectl describe teardownrules.finalizer-bridge.dev ${RULE}`);
  });

  it('names core kinds and cluster-scoped objects as kubectl does', () => {
    const node = { rule: RULE, kind: { group: '', version: 'v1', resource: 'nodes' }, meta: { name: 'one' } };
    expect(nextCommand('NoRule', node)).toBe(`kubectl finalizer-bridge release nodes/one --rule ${RULE}`);
  });

  it('is safe to paste, whatever object and rule are called', () => {
    const meta = { name: 'a; touch $HOME `id`', namespace: 'team-a' };
    const role = { rule: "it's", kind: { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles' }, meta };
    expect(nextCommand('AccessDenied', role)).toBe(
      "kubectl finalizer-bridge retry 'roles.rbac.authorization.k8s.io/a; touch $HOME `id`' -n team-a --rule 'it'\\''s'",
    );
  });

  it.each(['logs', 'system:foo', `${'x'.repeat(199)}.y`, `${'x'.repeat(199)}-y`, '.', '-a-..-b.', 'A b', '所有者'])(
    'has a name that the API server takes, for an object called %s',
    (name) => {
      const unique = '0b9d2f5a-7c55-4a4e-8a35-5d4f3d0a9c01';
      const made = eventName(name, unique);
      expect(made).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
      expect(made.length).toBeLessThanOrEqual(253);
      expect(made.endsWith(unique)).toBe(true);
    },
  );

  it('is cut to whole characters within its bytes', () => {
    // What stands for a half of a character is one itself.
    const texts = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !text.includes('\ufffd'));
    holds(
      fc.property(texts, fc.nat({ max: 60 }), (text, max) => {
        const cut = cutToBytes(text, max);
        expect(utf8Bytes(cut)).toBeLessThanOrEqual(max);
        expect(cut).not.toContain('\ufffd');
        if (utf8Bytes(text) <= max) expect(cut).toBe(text);
        else expect(text.startsWith(cut.replace(/…$/, ''))).toBe(true);
      }),
    );
  });
});

describe('a word of a person', () => {
  const words = [
    ['release', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs/now', 'ReleaseAsked'],
    ['retry', `retry.finalizer-bridge.dev/${RULE}`, 'uid-logs/1', 'RetryAsked'],
    ['approve', `approve.finalizer-bridge.dev/${RULE}`, 'uid-logs', 'ApproveAsked'],
  ] as const;

  it.each(words)('%s is told once, with field manager and time, and counted', async (word, key, said, reason) => {
    const scene = await held();
    const time = stamp(scene.clock.now());
    const fieldsV1 = { 'f:metadata': { 'f:annotations': { '.': {}, [`f:${key}`]: {} } } };
    scene.cluster.change('logs', (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        annotations: { ...object.metadata.annotations, [key]: said },
        managedFields: [{ manager: 'kubectl-annotate', operation: 'Update', time, fieldsV1 }],
      },
    }));
    await settled();
    await scene.clock.advance(120_000);
    const told = scene.cluster.events.filter((event) => event.reason === reason);
    expect(told).toMatchObject([
      { type: 'Warning', message: `${RULE}: ${word} was asked for, by field manager kubectl-annotate at ${time}` },
    ]);
    expect(await counts(scene.metrics.words)).toEqual({ [`${RULE}/${word}`]: 1 });
  });

  it.each(words)('%s for another uid is not told of', async (_word, key, said, reason) => {
    const scene = await held();
    scene.cluster.annotate('logs', key, said.replace('uid-logs', 'uid-of-another'));
    await settled();
    expect(scene.events).not.toContain(reason);
  });

  it.each([
    ['approve', 'uid-logs', 'ApproveAsked', ['approve']],
    ['release', 'uid-logs', 'ReleaseAsked', ['release wait']],
  ])(
    '%s that was told before another bridge leads is not told of again, where a record was written since',
    async (word, said, reason, heard) => {
      const first = await held();
      first.cluster.annotate('logs', `${word}.finalizer-bridge.dev/${RULE}`, said);
      await first.clock.advance(60_000);
      expect(first.record()).toMatchObject({ heard });
      await first.bridge.stop();

      const second = await Scene.start({ after: first });
      await second.clock.advance(60_000);

      expect(second.events.filter((told) => told === reason)).toHaveLength(1);
      expect(await counts(second.metrics.words)).toEqual({});
      // Another word is another.
      second.cluster.annotate('logs', `release.finalizer-bridge.dev/${RULE}`, 'uid-logs/now');
      await settled();
      expect(second.events.filter((told) => told === 'ReleaseAsked')).toHaveLength(word === 'release' ? 2 : 1);
    },
  );

  it('that was handled before a restart is not told of again', async () => {
    const first = await held();
    first.cluster.annotate('logs', `retry.finalizer-bridge.dev/${RULE}`, 'uid-logs/1');
    await settled();
    await first.bridge.stop();
    const second = await Scene.start({ after: first });
    await second.clock.advance(60_000);
    expect(second.events.filter((reason) => reason === 'RetryAsked')).toHaveLength(1);
    expect(await counts(second.metrics.words)).toEqual({});
  });
});

it('records so many Events of one rule, counts the others, and goes on later (P10)', async () => {
  const scene = await Scene.start();
  for (let index = 0; index < 60; index += 1) {
    await scene.deleted({ name: `logs-${index}`, uid: `uid-${index}` });
    await scene.answer(refused);
  }
  expect(scene.events.filter((reason) => reason === 'TeardownHeld')).toHaveLength(50);
  expect(await counts(scene.metrics.events)).toEqual({ recorded: 50, dropped: 10 });
  await scene.clock.advance(2_000);
  await scene.deleted({ name: 'later', uid: 'uid-later' });
  await scene.answer(refused);
  expect(scene.events.filter((reason) => reason === 'TeardownHeld')).toHaveLength(51);
});
