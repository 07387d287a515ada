/*
 * What the stack says after it is deployed: all that the bridge's chart has to be told.
 * Called by service. The bridge publishes to the request queues, reads the result queue of its cluster, and compares the
 * SenderId of each result with the unique id of the handler's role (a role's name or ARN never is in a message).
 */
import { deadLetterNames, type HandlerNames, resultQueueNames } from './names.ts';
import { arnOf, type Value } from './queues.ts';
import type { Values } from './values.ts';

/** An output of the stack. */
export interface Output {
  readonly Description: string;
  readonly Value: Value;
}

/** Outputs per handler and per cluster, named after the resources they speak of. */
export function outputsOf(
  units: readonly { readonly handler: { readonly name: string }; readonly names: HandlerNames }[],
  values: Values,
): Readonly<Record<string, Output>> {
  const outputs: Record<string, Output> = {};
  const add = (id: string, what: string, Value: Value) => {
    outputs[id] = { Description: what, Value };
  };
  for (const { handler, names } of units) {
    add(`${names.queueId}Url`, `Request queue of ${handler.name}: URL`, { Ref: names.queueId });
    add(`${names.queueId}Arn`, `Request queue of ${handler.name}: ARN`, arnOf(names.queueId));
    add(`${names.deadLettersId}Url`, `Dead-letter queue of ${handler.name}: URL`, { Ref: names.deadLettersId });
    add(`${names.roleId}Id`, `Role of ${handler.name}: unique id, in the SenderId of its results`, {
      'Fn::GetAtt': [names.roleId, 'RoleId'],
    });
  }
  for (const { uid, name = uid } of values.clusters) {
    const names = resultQueueNames(values, uid);
    add(`${names.queueId}Url`, `Result queue of cluster ${name}: URL`, { Ref: names.queueId });
    add(`${names.queueId}Arn`, `Result queue of cluster ${name}: ARN`, arnOf(names.queueId));
    add(`${names.deadLettersId}Url`, `Dead-letter queue of the results of cluster ${name}: URL`, {
      Ref: names.deadLettersId,
    });
  }
  const { archiveId, roleId } = deadLetterNames(values);
  add(`${archiveId}Url`, 'Queue that keeps dead letters for 14 days: URL', { Ref: archiveId });
  add(`${roleId}Id`, 'Role of the dead-letter function: unique id, in the SenderId of what it reports', {
    'Fn::GetAtt': [roleId, 'RoleId'],
  });
  return outputs;
}
