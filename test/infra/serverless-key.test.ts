/*
 * Encryption at rest with a key of the user's own, in what the service is composed of: every queue, and the rights of every
 * function. That without one SQS's own key is used, test/infra/serverless-template.slow.test.ts asserts.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { registry } from '../../functions/registry.ts';
import { composeService } from '../../infra/functions/service.ts';
import { readValues, ValuesError } from '../../infra/functions/values.ts';

const folder = mkdtempSync(join(tmpdir(), 'finalizer-bridge-key-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KEY = 'arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';
const VALUES = `clusters: [{ uid: abc-1, bridgeRoleArn: 'arn:aws:iam::111122223333:role/b', bridgeRoleId: AROA0123456789ABCDEF }]
handlers: { ebs-volume: { allow: { accounts: ['111122223333'], regions: [eu-west-1], names: [vol-*] } } }
`;

function resourcesOf(text: string) {
  const file = join(folder, 'values.yml');
  writeFileSync(file, text);
  const names = registry.map(({ name }) => name);
  const { values, source } = readValues({ file, folder, exampleAllowed: false }, names);
  return Object.values(composeService(values, registry, source).resources.Resources);
}

const ofType = (text: string, type: string) => resourcesOf(text).filter(({ Type }) => Type === type);

describe('a key of one’s own', () => {
  const values = `${VALUES}kmsKeyArn: ${KEY}\n`;

  it('encrypts every queue, dead letters and their archive among them', () => {
    const queues = ofType(values, 'AWS::SQS::Queue');
    expect(queues).toHaveLength(5);
    for (const { Properties } of queues) {
      expect(Properties).toMatchObject({ KmsMasterKeyId: KEY, KmsDataKeyReusePeriodSeconds: 3600 });
      expect(Properties).not.toHaveProperty('SqsManagedSseEnabled');
    }
  });

  it('may be used by every function, through the queue and for nothing else', () => {
    const roles = ofType(values, 'AWS::IAM::Role');
    expect(roles).toHaveLength(2);
    for (const { Properties } of roles) {
      expect(JSON.stringify(Properties)).toContain(
        JSON.stringify({
          Sid: 'Key',
          Effect: 'Allow',
          Action: ['kms:GenerateDataKey', 'kms:Decrypt'],
          Resource: [KEY],
          Condition: { StringLike: { 'kms:ViaService': 'sqs.*.amazonaws.com*' } },
        }),
      );
    }
  });

  it('is nobody’s to use where there is none', () => {
    expect(JSON.stringify(ofType(VALUES, 'AWS::IAM::Role'))).not.toContain('kms:');
    for (const { Properties } of ofType(VALUES, 'AWS::SQS::Queue')) expect(Properties.SqsManagedSseEnabled).toBe(true);
  });

  it.each(['alias/mine', 'arn:aws:kms:eu-west-1:111122223333:alias/mine', KEY.replace('kms', 'sqs')])(
    'is not %s',
    (key) => {
      expect(() => resourcesOf(`${VALUES}kmsKeyArn: ${key}\n`)).toThrow(ValuesError);
    },
  );
});
