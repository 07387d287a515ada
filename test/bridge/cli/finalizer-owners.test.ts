/*
 * Who is behind the finalizers of others, as `explain` tells it: by well-known names, by domain, by managedFields; and what
 * kinds that hold others say of themselves. Over a tiny API server.
 */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../bridge/ports.ts';
import { ENTRY } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';
import { START, stamp } from '../../support/manual-clock.ts';

describe('finalizers of others', () => {
  const managed = (manager: string, finalizer: string, time: string) => ({
    ...{ manager, operation: 'Update', time },
    fieldsV1: { 'f:metadata': { 'f:finalizers': { '.': {}, [`v:"${finalizer}"`]: {} } } },
  });

  it('are named with their probable owners, and with who wrote them', async () => {
    const line = new CommandLine();
    line.cluster.create({ name: 'logs', finalizers: ['kubernetes.io/pvc-protection', 'acme.example.com/own'] });
    line.cluster.change('logs', ({ metadata, ...rest }): KubeObject => {
      const managedFields = [
        managed('old-controller', 'acme.example.com/own', stamp(START - 1000)),
        managed('acme-controller', 'acme.example.com/own', stamp(START)),
        { manager: 'kubectl', operation: 'Update' },
      ];
      return { ...rest, metadata: Object.assign({ ...metadata }, { managedFields }) };
    });
    line.cluster.delete('logs');
    const { out } = await line.run('explain bucket/logs');
    expect(out).toContain('No entry of Finalizer Bridge is on it.');
    expect(out).toMatch(
      /kubernetes\.io\/pvc-protection\n +probably of Kubernetes' PVC protection controller\n +waits for every Pod/,
    );
    expect(out).toMatch(/acme\.example\.com\/own\n +probably of unknown; of the domain acme\.example\.com/);
    expect(out).toContain('written by acme-controller at 2026-03-02T09:30:00Z');
  });

  it('of a namespace are those of its spec, with what the namespace says of itself', async () => {
    const line = new CommandLine();
    const kind = { group: '', version: 'v1', resource: 'namespaces' };
    const finalizers = ['x.example.com/y'];
    line.cluster.create({ name: 'team-b', kind, finalizers, spec: { finalizers: ['kubernetes'] } });
    line.cluster.delete('team-b', {}, kind);
    line.cluster.change(
      'team-b',
      (object) => ({
        ...object,
        status: {
          conditions: [
            {
              type: 'NamespaceFinalizersRemaining',
              status: 'True',
              reason: 'SomeFinalizersRemain',
              message: `${ENTRY} in 3`,
            },
            { type: 'NamespaceDeletionDiscoveryFailure', status: 'False' },
          ],
        },
      }),
      kind,
    );
    const { out } = await line.run('explain ns/team-b');
    expect(out).toContain(`SomeFinalizersRemain: ${ENTRY} in 3`);
    expect(out).toMatch(/ {2}kubernetes\n +probably of Kubernetes' namespace controller/);
    expect(out).not.toContain('DiscoveryFailure');
  });

  it.each([
    ['foregroundDeletion', 'garbage collector'],
    ['orphan', 'garbage collector'],
    ['kubernetes.io/pv-protection', 'PV protection'],
    ['service.kubernetes.io/load-balancer-cleanup', 'cloud controller manager'],
    ['external-attacher/ebs-csi-aws-com', 'external-attacher'],
    ['finalizer.managedresource.crossplane.io', 'Crossplane'],
    ['finalizers.s3.services.k8s.aws/Bucket', 'ACK'],
    ['machine.cluster.x-k8s.io', 'Cluster API'],
    ['awsmachine.infrastructure.cluster.x-k8s.io', 'Cluster API'],
    ['cluster.cluster.x-k8s.io', 'Cluster API'],
    ['resources-finalizer.argocd.argoproj.io', 'Argo CD'],
    ['batch.kubernetes.io/job-tracking', 'Job controller'],
    ['customresourcecleanup.apiextensions.k8s.io', 'apiextensions'],
    ['nothing.example.com/known', 'unknown; of the domain nothing.example.com'],
    ['not-cluster.x-k8s.io.example.com/x', 'unknown'],
  ])('%s is probably of %s', async (finalizer, owner) => {
    const line = new CommandLine();
    line.cluster.create({ name: 'logs', finalizers: [finalizer] });
    const { others } = JSON.parse((await line.run('explain bucket/logs -o json')).out);
    expect(others).toEqual([expect.objectContaining({ finalizer, owner: expect.stringContaining(owner) })]);
  });
});

describe('what comes from an object', () => {
  it('cannot draw on the terminal', async () => {
    const line = new CommandLine();
    line.cluster.create({ name: 'logs', finalizers: ['evil.example.com/\u001b[2Jx'] });
    const { out } = await line.run('explain bucket/logs');
    expect(out).toContain('evil.example.com/\ufffd[2Jx');
    expect(out).not.toContain('\u001b');
  });
});
