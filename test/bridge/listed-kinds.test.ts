/*
 * The kinds of the configuration, looked up over discovery by hand and virtual time: found in whatever version, told loudly
 * where they are not, and found again when they come or move.
 */
import { describe, expect, it } from 'vitest';
import { kindKey } from '../../bridge/kind-key.ts';
import { ListedKinds, LOOK_AGAIN_MS } from '../../bridge/listed-kinds.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import { ApiError, type ListedKind } from '../../bridge/ports.ts';
import { BUCKETS, counts, keptLog } from '../support/bridge-builders.ts';
import { CONFIG_MAPS, FakeKinds, VOLUMES } from '../support/fake-kinds.ts';
import { ManualClock } from '../support/manual-clock.ts';

const { group, resource } = BUCKETS;
const SNAPSHOTS = { ...BUCKETS, resource: 'snapshots' };

async function bench(kinds: readonly ListedKind[]) {
  const [clock, port, metrics, kept] = [new ManualClock(), new FakeKinds(), createMetrics(), keptLog()];
  const changes: string[] = [];
  const listed = new ListedKinds({
    ...{ kinds, port, clock, metrics, random: () => 0.5, log: kept.log },
    onChange: () => void changes.push(listed.found.map(kindKey).join(' ')),
  });
  listed.start();
  await clock.advance(0);
  const loud = () => kept.lines.filter(({ level }) => level === 'warn').length;
  return { listed, clock, port, metrics, kept, changes, loud };
}

describe('the kinds of the configuration', () => {
  it('are found, each in the version to watch, and told of once', async () => {
    const { listed, clock, changes, loud } = await bench([
      { group, resource },
      { group: '', resource: 'configmaps' },
    ]);
    expect(listed.found).toEqual([BUCKETS, CONFIG_MAPS]);
    await clock.advance(3 * LOOK_AGAIN_MS);
    expect(changes).toEqual([kindKey(BUCKETS), `${kindKey(BUCKETS)} ${kindKey(CONFIG_MAPS)}`]);
    expect(loud()).toBe(0);
  });

  it('that are not served are told in log and metric, stop no other, and are found when they come (P10)', async () => {
    const { listed, clock, port, metrics, kept, loud } = await bench([SNAPSHOTS, VOLUMES]);
    expect(listed.found).toEqual([VOLUMES]);
    expect(await counts(metrics.watching)).toEqual({ [`${group}/snapshots`]: 0 });
    const err = `the API server does not serve snapshots.v1.${group}`;
    expect(kept.lines[0]).toMatchObject({ level: 'warn', fields: { kind: `snapshots.v1.${group}`, err } });
    await clock.advance(24 * 3_600_000);
    expect(loud()).toBeGreaterThan(8);
    expect(loud()).toBeLessThan(20);
    port.served.set(kindKey(SNAPSHOTS), { kind: 'Snapshot', namespaced: true });
    await clock.advance(60_000);
    expect(listed.found).toEqual([VOLUMES, SNAPSHOTS]);
  });

  it('are followed to another version, and left when they are not served any more', async () => {
    const { listed, clock, port, changes } = await bench([{ group, resource }]);
    port.served.delete(kindKey(BUCKETS));
    port.served.set(kindKey({ ...BUCKETS, version: 'v2' }), { kind: 'Bucket', namespaced: true });
    await clock.advance(LOOK_AGAIN_MS);
    expect(listed.found).toEqual([{ ...BUCKETS, version: 'v2' }]);
    port.served.clear();
    await clock.advance(LOOK_AGAIN_MS);
    expect(listed.found).toEqual([]);
    expect(changes).toEqual([kindKey(BUCKETS), kindKey({ ...BUCKETS, version: 'v2' }), '']);
  });

  it('that were found stay so while nobody can be asked, and one that cannot be asked for stops no other (P10)', async () => {
    const { listed, clock, port, metrics, loud } = await bench([VOLUMES, BUCKETS]);
    port.fails.set(kindKey(BUCKETS), new ApiError('discovering', 503));
    await clock.advance(2 * LOOK_AGAIN_MS);
    expect(listed.found).toEqual([VOLUMES, BUCKETS]);
    expect(await counts(metrics.watching)).toEqual({});
    expect(loud()).toBeGreaterThan(0);
  });

  it('are not asked for any more once that is over', async () => {
    const { listed, clock, port } = await bench([SNAPSHOTS, VOLUMES]);
    await listed.stop();
    const { asked } = port;
    await clock.advance(24 * 3_600_000);
    expect(port.asked).toBe(asked);
    expect(clock.due).toEqual([]);
  });
});
