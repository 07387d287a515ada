/*
 * The checks of verify-aws.ts about volumes: the conformance suite of ebs-volume, and that runs at the same time begin one
 * snapshot.
 */
import assert from 'node:assert/strict';
import { DeleteSnapshotCommand, DescribeSnapshotsCommand } from '@aws-sdk/client-ec2';
import { ebsVolume } from '../../functions/handlers/ebs-volume.ts';
import { KEEP_TAG, tagsFrom } from '../../functions/ownership.ts';
import { runOnce, runToEnd } from '../../functions/testing/runs.ts';
import type { ConformanceHarness } from '../../functions/testing.ts';
import type { Site } from './account.ts';
import { type Check, harnessOf, OWNED, suite, UID } from './harness.ts';
import { volumeScene } from './scenes.ts';

/** The checks. */
export function volumeChecks(site: Site): readonly Check[] {
  const { ec2, account, region } = site;
  const target = { volumeId: 'vol-0123456789abcdef0', region, account };
  const harness: ConformanceHarness = {
    ...harnessOf(site),
    absent: async () => ({ target, exists: async () => false }),
    owned: () => volumeScene(site, OWNED),
    foreign: () => volumeScene(site, {}),
    kept: () => volumeScene(site, { ...OWNED, [KEEP_TAG]: 'true' }),
  };
  return [
    ...suite('ebs', ebsVolume, harness),
    {
      id: 'V6-snapshot',
      title: 'five runs at the same time begin one snapshot, which has the tags of the rule and stays',
      async run() {
        const scene = { ...(await volumeScene(site, OWNED)), options: { snapshot: true } };
        const subject = { handler: ebsVolume, harness };
        await Promise.all(Array.from({ length: 5 }, () => runOnce(subject, scene)));
        const last = await runToEnd(subject, scene);
        const Filters = [{ Name: 'volume-id', Values: [scene.id] }];
        const { Snapshots = [] } = await ec2.send(new DescribeSnapshotsCommand({ OwnerIds: ['self'], Filters }));
        for (const { SnapshotId = '' } of Snapshots) {
          site.atEnd(`snapshot ${SnapshotId}`, () => ec2.send(new DeleteSnapshotCommand({ SnapshotId })));
        }
        assert.deepEqual([last.outcome, Snapshots.length], ['gone', 1]);
        assert.equal(tagsFrom(Snapshots[0]?.Tags).get('finalizer-bridge.dev/owner-uid'), UID);
      },
    },
  ];
}
