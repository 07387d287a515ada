/*
 * The role of one handler's function: its log group, its request queue, the result queues, and the handler's own actions
 * on what its allow-list names. Called by service. One role per handler, so that no function can do another's work.
 */
import type { Allow } from '../../functions/config.ts';
import type { Handler } from '../../functions/handler.ts';
import type { HandlerNames } from './names.ts';
import { arnOf, type Resource, type Value } from './queues.ts';

/** IAM's limit on the inline policies of a role, in characters without white space. */
export const ROLE_POLICY_MAX = 10_240;

/** A statement of an IAM policy. */
export interface Statement {
  readonly Sid: string;
  readonly Effect: 'Allow';
  readonly Action: readonly string[];
  readonly Resource: readonly Value[];
  readonly Condition?: unknown;
}

/** What a role is made from. */
export interface RoleInput {
  readonly handler: Handler;
  readonly names: HandlerNames;
  readonly allow: Allow;
  /** Logical ids of all result queues. */
  readonly resultQueueIds: readonly string[];
}

/** The role of one handler's function. */
export function roleResource(input: RoleInput): Resource {
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      Description: `Function of the handler ${input.handler.name}`,
      AssumeRolePolicyDocument: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
      },
      Policies: [{ PolicyName: 'handler', PolicyDocument: { Version: '2012-10-17', Statement: statementsOf(input) } }],
    },
  };
}

/** All that the role may do. */
export function statementsOf({ handler, names, allow, resultQueueIds }: RoleInput): readonly Statement[] {
  const log = `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:${names.logGroup}:*`;
  return [
    statement('Log', ['logs:CreateLogStream', 'logs:PutLogEvents'], [{ 'Fn::Sub': log }]),
    statement(
      'Requests',
      ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'],
      [arnOf(names.queueId)],
    ),
    statement('Results', ['sqs:SendMessage'], resultQueueIds.map(arnOf)),
    ...handler.permissions.map(({ actions, resources, condition }, index) => ({
      ...statement(`Handler${index}`, actions, resources(allow)),
      ...(condition === undefined ? {} : { Condition: condition(allow) }),
    })),
  ];
}

/** Size of the role's policy as IAM counts it, in characters; references count as written. */
export function policySize(statements: readonly Statement[]): number {
  return JSON.stringify(statements).length;
}

function statement(Sid: string, Action: readonly string[], Resource: readonly Value[]): Statement {
  return { Sid, Effect: 'Allow', Action, Resource };
}
