/*
 * Rules that are drained while the bridge runs, on a real API server with the admission policy: all tests of this file run
 * side by side, each with rules of its own, so that the minutes of a withdrawal are spent once. The drains are processes
 * under the few rights that the chart's hook has.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { born, type LeavingSite, startLeavingSite } from '../support/leaving-site.ts';
import { logFailures } from '../support/site.ts';
import { entryOf, type Thing } from '../support/site-things.ts';

/** Objects are made this often while a rule is drained. */
const EVERY_MS = 200;

vi.setConfig({ maxConcurrency: 10 });

let here: LeavingSite;
logFailures(() => here.site);

beforeAll(async () => {
  here = await startLeavingSite('drain');
});
afterAll(() => here?.stop());

describe.concurrent('drain beside a running bridge', () => {
  it('K20 K25 K9 takes a rule away while objects are made all the while, and none is left that carries its entry', async ({
    expect,
  }) => {
    const { rule, made, things, hands, drainAsHook, rules, site } = here;
    await rule('dr-live');
    const ending = await things.namespace('drain-ending');
    const live = [await made('live', 'dr-live'), await made('ending', 'dr-live', ending.name)];
    const pending = await made('pending', 'dr-live', ending.name);
    await things.delete(ending);
    await things.delete(pending);
    await hands.requested(pending);

    let isOver = false;
    const drained = drainAsHook('--rule', 'dr-live').finally(() => {
      isOver = true;
    });
    const raced: Thing[] = [];
    while (!isOver) {
      raced.push(await things.bucket(`raced-${raced.length}`, { labels: { rule: 'dr-live' } }));
      if (raced.length === 100) await hands.finish(pending);
      await wait(EVERY_MS);
    }

    expect(await drained).toMatchObject({ code: 0, out: expect.stringContaining('clean') });
    await things.gone(pending);
    expect(await rules.read('dr-live')).toBeUndefined();
    const left = await Promise.all([...live, ...raced].map((thing) => things.finalizers(thing)));
    expect(left.flat()).toEqual([]);
    expect(raced.length).toBeGreaterThan(100);
    expect(await born(site, { rule: 'dr-live' })).toEqual([]);
  });

  it('names the held objects that block it, and releases them on a person’s word only', async ({ expect }) => {
    const { rule, made, things, drainAsHook, rules, hands } = here;
    await rule('dr-held', { target: { bucket: 'object.status.bucketName' } });
    const held = await made('stuck', 'dr-held');
    await things.delete(held);
    await things.says(held, 'dr-held', 'TargetMissing');

    const first = await drainAsHook('--rule', 'dr-held', '--timeout', '15s');

    expect(first).toMatchObject({ code: 1, out: expect.stringContaining('drain/stuck: TargetMissing') });
    expect(first.out).toContain('drain --rule dr-held --release-held');
    expect(await things.finalizers(held)).toEqual([entryOf('dr-held')]);
    const second = await drainAsHook('--rule', 'dr-held', '--release-held');
    expect(second).toMatchObject({ code: 0 });
    expect(second.err).toContain('releasing');
    await things.gone(held);
    expect(await rules.read('dr-held')).toBeUndefined();
    expect(hands.of(held)).toEqual([]);
  });

  it('K26 does the withdrawal itself where the bridge has lost its rights on the kind (RBAC first)', async ({
    expect,
  }) => {
    const { define, rights, rule, matching, things, site, drain, rules } = here;
    await define('safes', 'Safe');
    await rights.grant('safes');
    await rule('dr-safes', matching('safes'));
    const collection = `/apis/${site.group}/v1/namespaces/${site.namespace}/safes`;
    const safe = async (name: string) =>
      await things.create(collection, { apiVersion: `${site.group}/v1`, kind: 'Safe', metadata: { name } });
    const [live, stuck] = [await safe('live'), await safe('stuck')];
    for (const thing of [live, stuck]) await things.claimed(thing, 'dr-safes');
    await rights.revoke('safes');
    await things.delete(stuck);

    const drained = await drain('--rule', 'dr-safes', '--release-held=now');

    expect(drained).toMatchObject({ code: 0 });
    expect(drained.err).toContain('NotPermitted');
    expect(await things.finalizers(live)).toEqual([]);
    expect(await things.read(stuck)).toBeUndefined();
    expect(await rules.read('dr-safes')).toBeUndefined();
  });

  it('K33 frees a live object that came back from a backup, whatever its kind, and touches nobody else’s finalizers', async ({
    expect,
  }) => {
    const { things, site, drain } = here;
    const manifest = {
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name: 'restored', finalizers: ['example.com/a', entryOf('dr-gone'), 'example.com/b'] },
    };
    const restored = await things.create(`/api/v1/namespaces/${site.namespace}/configmaps`, manifest);

    expect(await drain('--rule', 'dr-gone')).toMatchObject({ code: 0 });

    expect(await things.finalizers(restored)).toEqual(['example.com/a', 'example.com/b']);
  });
});
