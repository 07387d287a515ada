/*
 * Names of everything that is deployed: queues, functions and CloudFormation logical ids, and AWS's limits on them.
 * Called by queues, roles, environment and service. Names are fixed, not generated, because a dead-letter queue must
 * name its source before that exists, and because people look for queues by name.
 */

/** AWS's limit on the name of a queue, in characters. */
const QUEUE_NAME_MAX = 80;
/** AWS's limit on the name of a Lambda function, in characters. */
const FUNCTION_NAME_MAX = 64;

/** What all names of one deployment begin with. */
export interface Deployment {
  readonly service: string;
  readonly stage: string;
}

/** A queue and its dead-letter queue: their names in SQS and their logical ids in the template. */
export interface QueueNames {
  readonly queue: string;
  readonly queueId: string;
  readonly policyId: string;
  readonly deadLetters: string;
  readonly deadLettersId: string;
  readonly deadLettersPolicyId: string;
}

/** Names of one handler's resources. */
export interface HandlerNames extends QueueNames {
  readonly function: string;
  readonly roleId: string;
  readonly logGroup: string;
}

/** Names of a handler's function, queues and role. */
export function handlerNames({ service, stage }: Deployment, handler: string): HandlerNames {
  const id = idPart(handler);
  const name = `${service}-${stage}-${handler}`;
  return {
    ...queueNames(`${name}-requests`, `${id}Request`),
    function: name,
    roleId: `${id}Role`,
    logGroup: `/aws/lambda/${name}`,
  };
}

/** Names of a cluster's result queue and its dead-letter queue; by uid, since a display name may change. */
export function resultQueueNames({ service, stage }: Deployment, clusterUid: string): QueueNames {
  return queueNames(`${service}-${stage}-results-${clusterUid}`, `Result${idPart(clusterUid)}`);
}

/** The name of the dead-letter function; no handler may be called that. */
export const DEAD_LETTERS = 'dead-letters';

/** Names of the dead-letter function's resources. */
export interface DeadLetterNames {
  readonly function: string;
  readonly roleId: string;
  readonly logGroup: string;
  /** The queue that keeps the bodies. */
  readonly archive: string;
  readonly archiveId: string;
  readonly archivePolicyId: string;
}

/** Names of the function that dead letters go to. */
export function deadLetterNames({ service, stage }: Deployment): DeadLetterNames {
  const name = `${service}-${stage}-${DEAD_LETTERS}`;
  const id = idPart(DEAD_LETTERS);
  return {
    function: name,
    roleId: `${id}Role`,
    logGroup: `/aws/lambda/${name}`,
    archive: `${name}-archive`,
    archiveId: `${id}ArchiveQueue`,
    archivePolicyId: `${id}ArchiveQueuePolicy`,
  };
}

/** Says which names AWS would refuse for their length; empty when all fit. */
export function overlongNames(deployment: Deployment, handlers: readonly string[], clusters: readonly string[]) {
  const named = handlers.map((handler) => handlerNames(deployment, handler));
  const results = clusters.map((uid) => resultQueueNames(deployment, uid));
  const letters = deadLetterNames(deployment);
  return [
    ...[...named, letters]
      .filter((names) => names.function.length > FUNCTION_NAME_MAX)
      .map((names) => overlong('function', names.function, FUNCTION_NAME_MAX)),
    ...[...[...named, ...results].map(({ deadLetters }) => deadLetters), letters.archive]
      .filter((name) => name.length > QUEUE_NAME_MAX)
      .map((name) => overlong('queue', name, QUEUE_NAME_MAX)),
  ];
}

function queueNames(queue: string, id: string): QueueNames {
  return {
    queue,
    queueId: `${id}Queue`,
    policyId: `${id}QueuePolicy`,
    deadLetters: `${queue}-dead`,
    deadLettersId: `${id}DeadLetterQueue`,
    deadLettersPolicyId: `${id}DeadLetterQueuePolicy`,
  };
}

function overlong(what: string, name: string, limit: number): string {
  return `the ${what} name ${name} has ${name.length} characters, AWS takes ${limit}`;
}

/** Logical ids are alphanumeric; a dash is spelled out, as the framework does, so that a-1 and a1 stay apart. */
function idPart(name: string): string {
  return (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('-', 'Dash');
}
