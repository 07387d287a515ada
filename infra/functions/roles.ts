/*
 * The role of one handler's function: its log group, its request queue, the result queues, and the handler's own actions
 * on what its allow-list names; and that of the dead-letter function. Called by service. One role per handler, so that no
 * function can do another's work.
 */
import type { Allow } from '../../functions/config.ts';
import type { Handler } from '../../functions/handler.ts';
import type { DeadLetterNames, HandlerNames } from './names.ts';
import { arnOf, type Resource, type Value } from './queues.ts';

/** IAM's limit on the inline policies of a role, in characters without white space. */
export const ROLE_POLICY_MAX = 10_240;

/** What an event source mapping needs of its queue. */
const RECEIVING = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'];

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
  readonly kmsKeyArn: string | undefined;
}

/** The role of one handler's function. */
export function roleResource(input: RoleInput): Resource {
  return lambdaRole(`Function of the handler ${input.handler.name}`, 'handler', statementsOf(input));
}

/** What the dead-letter function's role is made from: logical ids. */
export interface DeadLetterRoleInput {
  readonly names: DeadLetterNames;
  readonly deadLetterQueueIds: readonly string[];
  readonly resultQueueIds: readonly string[];
  readonly kmsKeyArn: string | undefined;
}

/** The role of the dead-letter function: it moves messages between queues, and reaches nothing else. */
export function deadLetterRole(input: DeadLetterRoleInput): Resource {
  const { names, deadLetterQueueIds, resultQueueIds, kmsKeyArn } = input;
  return lambdaRole('Function that dead letters go to', 'dead-letters', [
    logStatement(names.logGroup),
    statement('DeadLetters', RECEIVING, deadLetterQueueIds.map(arnOf)),
    statement('Archive', ['sqs:SendMessage'], [arnOf(names.archiveId)]),
    statement('Results', ['sqs:SendMessage'], resultQueueIds.map(arnOf)),
    ...keyStatements(kmsKeyArn),
  ]);
}

function lambdaRole(Description: string, PolicyName: string, Statement: readonly Statement[]): Resource {
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      Description,
      AssumeRolePolicyDocument: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
      },
      Policies: [{ PolicyName, PolicyDocument: { Version: '2012-10-17', Statement } }],
    },
  };
}

/** All that the role may do. */
export function statementsOf(input: RoleInput): readonly Statement[] {
  const { handler, names, allow, resultQueueIds, kmsKeyArn } = input;
  return [
    logStatement(names.logGroup),
    statement('Requests', RECEIVING, [arnOf(names.queueId)]),
    statement('Results', ['sqs:SendMessage'], resultQueueIds.map(arnOf)),
    ...keyStatements(kmsKeyArn),
    ...handler.permissions
      // What only a dangerous option needs is granted only where the configuration allows that option.
      .filter(({ resources }) => resources(allow).length > 0)
      .map(({ actions, resources, condition }, index) => ({
        ...statement(`Handler${index}`, actions, resources(allow)),
        ...(condition === undefined ? {} : { Condition: condition(allow) }),
      })),
  ];
}

/** What the queues' own key needs of who sends to them and receives from them: through SQS, and for nothing else. */
function keyStatements(kmsKeyArn: string | undefined): readonly Statement[] {
  if (kmsKeyArn === undefined) return [];
  const Condition = { StringLike: { 'kms:ViaService': 'sqs.*.amazonaws.com*' } };
  return [{ ...statement('Key', ['kms:GenerateDataKey', 'kms:Decrypt'], [kmsKeyArn]), Condition }];
}

/** Size of the role's policy as IAM counts it, in characters; references count as written. */
export function policySize(statements: readonly Statement[]): number {
  return JSON.stringify(statements).length;
}

function logStatement(logGroup: string): Statement {
  const log = `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:${logGroup}:*`;
  return statement('Log', ['logs:CreateLogStream', 'logs:PutLogEvents'], [{ 'Fn::Sub': log }]);
}

function statement(Sid: string, Action: readonly string[], Resource: readonly Value[]): Statement {
  return { Sid, Effect: 'Allow', Action, Resource };
}
