/*
 * What `explain` says of a deletion for which nothing was sent, or of which nobody knows yet: what is waited for, from the first
 * second on, and never that somebody is at work.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { ENTRY, RULE } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';
import { ruleSpec } from '../../support/rule-objects.ts';
import { RuleScene } from '../../support/rule-scene.ts';

const MINUTE = 60_000;
const scenes: RuleScene[] = [];
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.stop();
});

describe('an entry', () => {
  it.each<[string, Readonly<Record<string, unknown>>, RegExp, RegExp]>([
    ['of a rule that is paused', { paused: true }, /the rule not to be paused any more/, /the rule not to be paused/],
    [
      'of a rule that waits for others',
      { waitFor: { finalizers: ['example.com/other'], atMost: '1h' } },
      /the result, if its request has been sent by now; the bridge writes nothing for the first half minute/,
      /finalizers of others, see below/,
    ],
    [
      'that is held without a target',
      { target: { bucket: 'object.status.bucketName' } },
      /the object to name its outside resource/,
      /the object to name its outside resource/,
    ],
  ])(
    '%s says what it waits for, from the first second on, and never that a request was sent',
    async (_what, spec, atFirst, later) => {
      const scene = await RuleScene.start();
      scenes.push(scene);
      await scene.apply(spec);
      await scene.create('logs', { finalizers: ['example.com/other'] });
      await scene.delete('logs');
      const line = new CommandLine(scene);
      const waiting = async () => /waits for +(.*)/.exec((await line.run('explain bucket/logs')).out)?.[1];
      await scene.clock.advance(1_000);
      expect(await waiting()).toMatch(atFirst);
      await scene.clock.advance(MINUTE);
      expect(await waiting()).toMatch(later);
      expect(scene.requests).toEqual([]);
      const { out } = await line.run('explain bucket/logs');
      expect(out).toMatch(
        /requests +none is known to have been sent; any that was sent by now ends by 2026-.*Z at the latest\n/,
      );
      expect(out).not.toContain('first sent');
    },
  );

  it('whose request was sent says by when that ends', async () => {
    const scene = await RuleScene.start();
    scenes.push(scene);
    await scene.apply();
    await scene.create('logs');
    await scene.delete('logs');
    await scene.clock.advance(MINUTE);
    expect(scene.requests).toHaveLength(1);
    const { out } = await new CommandLine(scene).run('explain bucket/logs');
    expect(out).toMatch(/requests +any that was sent by now ends by /);
  });

  it('of a rule whose handler has no queue says how to come by one', async () => {
    const scene = await RuleScene.start();
    scenes.push(scene);
    await scene.apply();
    await scene.create('logs');
    await scene.apply({ handler: 'nobody' });
    await scene.delete('logs');
    await scene.clock.advance(MINUTE);
    const { out } = await new CommandLine(scene).run('explain bucket/logs');
    expect(out).toMatch(/waits for +a queue of the handler; nothing is sent meanwhile/);
    expect(out).toMatch(/next +deploy the handler's function, and give the bridge its queue/);
  });

  it('under Retain is said to wait for the bridge, not for a result', async () => {
    const line = new CommandLine();
    line.cluster.create({ name: 'logs', finalizers: [ENTRY] });
    line.cluster.delete('logs');
    line.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: ruleSpec({ policy: "'Retain'" }) });
    const { out } = await line.run('explain bucket/logs');
    expect(out).toMatch(/waits for +the bridge to take the entry off; under Retain nothing is sent/);
  });
});
