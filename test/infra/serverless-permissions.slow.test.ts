/*
 * Who may do what, in the compiled template: the roles of the functions and the policies of the queues.
 * The rest of the template is asserted in serverless-template.slow.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../functions/config.ts';
import { isAws } from '../support/aws-services.ts';
import {
  getArn,
  handlers,
  type PackagedService,
  PRODUCTION_BRIDGE,
  packageService,
  resultQueues,
  STAGING_BRIDGE,
  twoClusters,
} from '../support/packaged-service.ts';

let service: PackagedService;

beforeAll(async () => {
  service = await packageService({ values: twoClusters, bundled: false });
}, 600_000);
afterAll(() => service?.remove());

const bridges = [PRODUCTION_BRIDGE, STAGING_BRIDGE];
const LETTERS = 'DeadDashletters';
const roles = [...handlers.map(({ id }) => `${id}Role`), `${LETTERS}Role`].map(getArn);
const policyOf = (queue: string) => service.properties(`${queue}Policy`)?.PolicyDocument;
const onlySenders = (queue: string, senders: unknown) => ({
  Sid: 'NobodyElseSends',
  Effect: 'Deny',
  Principal: '*',
  Action: 'sqs:SendMessage',
  Resource: getArn(queue),
  Condition: { ArnNotEquals: { 'aws:PrincipalArn': senders } },
});
const sending = (queue: string, senders: unknown) => ({
  Sid: 'Send',
  Effect: 'Allow',
  Principal: { AWS: senders },
  Action: ['sqs:SendMessage', 'sqs:GetQueueUrl', 'sqs:GetQueueAttributes'],
  Resource: getArn(queue),
});
const tlsOnly = expect.objectContaining({ Sid: 'TlsOnly', Effect: 'Deny' });

describe('the packaged roles', () => {
  it.each(handlers)(
    'let $name log, work its own queue, answer, and do what it declares on what is allowed',
    (handler) => {
      const { id, name, permissions } = handler;
      const { allow } = readConfig(handler, service.environment(name));
      const log = `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:/aws/lambda/finalizer-bridge-dev-${name}:*`;
      const granted = [
        { Action: ['logs:CreateLogStream', 'logs:PutLogEvents'], Resource: [{ 'Fn::Sub': log }] },
        {
          Action: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'],
          Resource: [getArn(`${id}RequestQueue`)],
        },
        { Action: ['sqs:SendMessage'], Resource: resultQueues.map(getArn) },
        ...permissions.flatMap(({ actions, resources, condition }) =>
          resources(allow).length === 0
            ? []
            : {
                Action: actions,
                Resource: resources(allow),
                ...(condition === undefined ? {} : { Condition: condition(allow) }),
              },
        ),
      ].map((statement) => ({ Sid: expect.any(String), Effect: 'Allow', ...statement }));
      expect(service.properties(`${id}Role`)).toEqual({
        Description: expect.any(String),
        AssumeRolePolicyDocument: {
          Version: '2012-10-17',
          Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
        },
        Policies: [{ PolicyName: 'handler', PolicyDocument: { Version: '2012-10-17', Statement: granted } }],
      });
    },
  );

  it.each(handlers)('scope what $name may change by its allow-list, and name every action of it', (handler) => {
    const { permissions, name } = handler;
    const { allow } = readConfig(handler, service.environment(name));
    // Who speaks to no service of AWS but the queues needs no right of its own.
    expect(permissions.length > 0).toBe(isAws(handler.service));
    for (const { actions, resources } of permissions) {
      expect(actions.filter((action) => action.includes('*'))).toEqual([]);
      const changing = actions.filter((action) => !/:(Describe|List|Get|Head)/.test(action));
      if (changing.length > 0) expect(resources(allow), changing.join()).not.toContain('*');
    }
  });

  it('are each trusted by nothing but the function they were made for', () => {
    const used = service.ofType('AWS::Lambda::Function').map((id) => service.properties(id)?.Role);
    expect(used).toHaveLength(roles.length);
    expect(new Set(used.map((role) => JSON.stringify(role))).size).toBe(roles.length);
  });

  it('let the dead-letter function take from every dead-letter queue, keep, answer, and nothing else', () => {
    const deadLetterQueues = service.ofType('AWS::SQS::Queue').filter((id) => id.endsWith('DeadLetterQueue'));
    const log = `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:/aws/lambda/finalizer-bridge-dev-dead-letters:*`;
    expect(service.properties(`${LETTERS}Role`)?.Policies).toMatchObject([
      {
        PolicyDocument: {
          Statement: [
            { Action: ['logs:CreateLogStream', 'logs:PutLogEvents'], Resource: [{ 'Fn::Sub': log }] },
            {
              Action: [
                'sqs:ReceiveMessage',
                'sqs:DeleteMessage',
                'sqs:ChangeMessageVisibility',
                'sqs:GetQueueAttributes',
              ],
              Resource: expect.toSatisfy((arns: unknown) => {
                expect(arns).toHaveLength(deadLetterQueues.length);
                expect(arns).toEqual(expect.arrayContaining(deadLetterQueues.map(getArn)));
                return true;
              }),
            },
            { Action: ['sqs:SendMessage'], Resource: [getArn(`${LETTERS}ArchiveQueue`)] },
            { Action: ['sqs:SendMessage'], Resource: resultQueues.map(getArn) },
          ],
        },
      },
    ]);
    expect(policyOf(`${LETTERS}ArchiveQueue`)).toEqual({
      Version: '2012-10-17',
      Statement: [
        sending(`${LETTERS}ArchiveQueue`, [getArn(`${LETTERS}Role`)]),
        onlySenders(`${LETTERS}ArchiveQueue`, [getArn(`${LETTERS}Role`)]),
        tlsOnly,
      ],
    });
  });
});

describe('the packaged queue policies', () => {
  it.each(handlers)('let only the bridges ask for $name', ({ id }) => {
    const queue = `${id}RequestQueue`;
    expect(policyOf(queue)).toEqual({
      Version: '2012-10-17',
      Statement: [sending(queue, bridges), onlySenders(queue, bridges), tlsOnly],
    });
  });

  it('let only the functions answer, and only the bridge of the cluster read its answers (Q11)', () => {
    for (const [index, queue] of resultQueues.entries()) {
      const receiving = {
        Sid: 'Receive',
        Effect: 'Allow',
        Principal: { AWS: [bridges[index]] },
        Action: [
          'sqs:ReceiveMessage',
          'sqs:DeleteMessage',
          'sqs:ChangeMessageVisibility',
          'sqs:GetQueueUrl',
          'sqs:GetQueueAttributes',
        ],
        Resource: getArn(queue),
      };
      expect(policyOf(queue)).toEqual({
        Version: '2012-10-17',
        Statement: [sending(queue, roles), receiving, onlySenders(queue, roles), tlsOnly],
      });
    }
  });
});
