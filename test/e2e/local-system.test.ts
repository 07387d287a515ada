/*
 * The shared servers are what the tests take them for: a real API server with RBAC and real ServiceAccount tokens,
 * S3 with versions, EC2 with states.
 */
import { DescribeInstancesCommand, RunInstancesCommand } from '@aws-sdk/client-ec2';
import {
  CreateBucketCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it } from 'vitest';
import { sharedCloud, sharedKube } from '../support/e2e.ts';

const kube = sharedKube();
const cloud = sharedCloud();
afterAll(() => kube.close());

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.local-system.example.com' },
  spec: {
    group: 'local-system.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

describe('the shared API server', () => {
  it('is Kubernetes 1.36 and serves a new kind as soon as apply returns', async () => {
    expect((await kube.request('GET', '/version')).body).toMatchObject({ major: '1', minor: '36' });
    const metadata = { name: 'local-system' };
    const widget = { name: 'one', namespace: 'local-system', finalizers: ['example.com/keep'] };
    await kube.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata },
      widgets,
      { apiVersion: 'local-system.example.com/v1', kind: 'Widget', metadata: widget },
    ]);
    const path = '/apis/local-system.example.com/v1/namespaces/local-system/widgets/one';
    expect((await kube.request('DELETE', path)).status).toBe(200);
    expect((await kube.request('GET', path)).body).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String), finalizers: ['example.com/keep'] },
    });
    const patch = [{ op: 'remove', path: '/metadata/finalizers/0' }];
    await kube.request('PATCH', path, patch, { contentType: 'application/json-patch+json' });
    expect((await kube.request('GET', path)).status).toBe(404);
  });

  it('lets a ServiceAccount do what RBAC grants and nothing else', async () => {
    const { token } = await kube.serviceAccount('local-system-rbac', 'reader');
    const path = '/api/v1/namespaces/local-system-rbac/configmaps';
    const before = await kube.request('GET', path, undefined, { token });
    await kube.apply([
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'read', namespace: 'local-system-rbac' },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'read', namespace: 'local-system-rbac' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'read' },
        subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'local-system-rbac' }],
      },
    ]);
    await expect.poll(async () => (await kube.request('GET', path, undefined, { token })).status).toBe(200);

    expect(before.body).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect((await kube.request('POST', path, {}, { token })).status).toBe(403);
    expect((await kube.request('GET', path, undefined, { token: null })).status).toBe(403);
    expect((await kube.request('GET', path, undefined, { token: 'made up' })).status).toBe(401);
  });
});

describe('the shared cloud', () => {
  it('keeps versions of objects and states of instances', async () => {
    const [s3, ec2] = [cloud.s3(), cloud.ec2()];
    const Bucket = 'local-system';
    await s3.send(
      new CreateBucketCommand({ Bucket, CreateBucketConfiguration: { LocationConstraint: 'eu-central-1' } }),
    );
    await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
    for (const Body of ['1', '2']) await s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body }));
    const run = new RunInstancesCommand({ ImageId: 'ami-12c6146b', MinCount: 1, MaxCount: 1 });
    const started = (await ec2.send(run)).Instances?.[0]?.InstanceId ?? '';
    const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [started] }));

    expect((await s3.send(new ListObjectVersionsCommand({ Bucket }))).Versions).toHaveLength(2);
    expect(Reservations[0]).toMatchObject({ OwnerId: cloud.accountId, Instances: [{ State: { Name: 'running' } }] });
    s3.destroy();
    ec2.destroy();
  });
});
