/*
 * The whole service as the framework takes it: registry + values -> functions, queues, policies, roles, outputs.
 * Called through ../functions.cjs for serverless.yml, and by ../package.ts for what has to be zipped.
 * A handler without values has no allow-list, so it is not deployed at all, and that is said.
 */
import type { CONFIG_VARIABLE } from '../../functions/config.ts';
import type { Handler } from '../../functions/handler.ts';
import { RESERVE_SECONDS } from '../../functions/handler.ts';
import { deadLetterFunction, deadLetterResources, nameTaken } from './dead-letters.ts';
import { type Environment, makeEnvironment } from './environment.ts';
import {
  DEAD_LETTERS,
  deadLetterNames,
  type HandlerNames,
  handlerNames,
  overlongNames,
  resultQueueNames,
} from './names.ts';
import { outputsOf } from './outputs.ts';
import {
  arnOf,
  queueResources,
  RESULT_VISIBILITY_SECONDS,
  type Resources,
  type Value,
  VISIBILITY_PER_TIMEOUT,
} from './queues.ts';
import { policySize, ROLE_POLICY_MAX, roleResource, statementsOf } from './roles.ts';
import {
  EXAMPLE_FILE,
  EXAMPLE_ROLE_ID,
  type HandlerValues,
  notListed,
  readValues,
  VALUES_FILE,
  type Values,
  ValuesError,
  type ValuesSource,
} from './values.ts';

/** Where a handler's zip lies, relative to the folder of serverless.yml. */
export const ARTIFACTS = 'build/artifacts';

/** A function as the framework takes it. */
export interface FunctionEntry {
  readonly name: string;
  readonly description: string;
  readonly handler: string;
  readonly role: string;
  readonly memorySize: number;
  readonly timeout: number;
  readonly environment: Readonly<Record<typeof CONFIG_VARIABLE, Value>>;
  readonly package: { readonly artifact: string };
  readonly events: readonly unknown[];
}

/** The parts of serverless.yml that are derived. */
export interface Service {
  readonly service: string;
  readonly provider: Readonly<Record<string, unknown>>;
  readonly functions: Readonly<Record<string, FunctionEntry>>;
  readonly resources: { readonly Description: string; readonly Resources: Resources; readonly Outputs: unknown };
}

/** Where values come from, and the handlers that they may name. */
export interface ServiceSource extends ValuesSource {
  readonly handlers: readonly Handler[];
  /** What the framework's command line says of the place; the values say it, so another word is a fault. */
  readonly asked?: { readonly [place in 'stage' | 'region']?: string | null | undefined };
  /** Whether this is put into an account, where an example's cluster would only fail half way. */
  readonly deploys?: boolean;
}

/**
 * Reads the values and composes the service.
 * @param say told when the example stands in for missing values, and which handlers are left out.
 * @throws ValuesError with every fault and its path.
 */
export function loadService(where: ServiceSource, say: (notice: string) => void = () => {}): Service {
  const { handlers, asked = {}, deploys = false } = where;
  const { values, source } = readValues(
    where,
    handlers.map(({ name }) => name),
  );
  const faults = [...misplaced(values, asked), ...(deploys ? exampleClusters(values) : [])];
  if (faults.length > 0) throw new ValuesError(source, faults);
  if (source === EXAMPLE_FILE) say(`There is no ${VALUES_FILE}: packaging the values of the example.`);
  const service = composeService(values, handlers, source);
  const left = notListed(values, handlers, source);
  if (left !== undefined) say(left);
  return service;
}

/** All names are made from the values, so another word of the framework's would reach only some of them. */
function misplaced(values: Values, asked: NonNullable<ServiceSource['asked']>): readonly string[] {
  return (['stage', 'region'] as const).flatMap((place) => {
    const word = asked[place];
    if (word === undefined || word === null || word === values[place]) return [];
    const another = 'name another file by --param values=<file> (for npm run: --values FILE)';
    return [`${place}: is ${values[place]}, and --${place} says ${word}; ${another}`];
  });
}

function exampleClusters({ clusters }: Values): readonly string[] {
  return clusters.flatMap(({ bridgeRoleId }, index) =>
    bridgeRoleId.startsWith(EXAMPLE_ROLE_ID)
      ? [`clusters.${index}.bridgeRoleId: is that of the example; put in your own cluster and the role of its bridge`]
      : [],
  );
}

/** One handler that is deployed. */
interface Unit {
  readonly handler: Handler;
  readonly names: HandlerNames;
  readonly settings: HandlerValues;
  readonly environment: Environment;
}

/**
 * Composes the service from checked values.
 * @param source the values file's name, for messages.
 * @throws ValuesError for what only shows when values and registry meet.
 */
export function composeService(values: Values, handlers: readonly Handler[], source: string): Service {
  const units = unitsOf(values, handlers, source);
  const results = values.clusters.map(({ uid }) => resultQueueNames(values, uid));
  const resultQueueIds = results.map(({ queueId }) => queueId);
  const queues = [...units.map(({ names }) => names), ...results];
  const deadLetters = { values, units, queues, resultQueueIds, artifact: artifactOf(DEAD_LETTERS) };
  return {
    service: values.service,
    provider: {
      name: 'aws',
      stage: values.stage,
      region: values.region,
      runtime: 'nodejs24.x',
      architecture: 'arm64',
      logRetentionInDays: values.logRetentionDays,
      // A new version per deployment would only be kept for ever: nobody calls a function by version here.
      versionFunctions: false,
    },
    functions: {
      ...Object.fromEntries(units.map((unit) => [unit.handler.name, functionEntry(unit)])),
      [DEAD_LETTERS]: deadLetterFunction(deadLetters),
    },
    resources: {
      Description: `Finalizer Bridge: teardown functions and their queues (${values.service}, ${values.stage})`,
      Resources: Object.assign(
        {},
        ...units.map((unit) => requestResources(unit, values, resultQueueIds)),
        ...values.clusters.map((cluster) => resultResources(cluster, values, units)),
        deadLetterResources(deadLetters),
      ),
      Outputs: outputsOf(units, values),
    },
  };
}

function unitsOf(values: Values, handlers: readonly Handler[], source: string): readonly Unit[] {
  const faults = [
    ...nameTaken(handlers.map(({ name }) => name)),
    ...overlongNames(
      values,
      Object.keys(values.handlers),
      values.clusters.map(({ uid }) => uid),
    ),
  ];
  const resultQueueIds = values.clusters.map(({ uid }) => resultQueueNames(values, uid).queueId);
  const units: Unit[] = [];
  for (const handler of handlers) {
    const settings = values.handlers[handler.name];
    if (settings === undefined) continue;
    const made = makeEnvironment(handler, settings, values);
    if (!made.ok) {
      faults.push(...made.faults);
      continue;
    }
    const unit = { handler, names: handlerNames(values, handler.name), settings, environment: made.environment };
    const { kmsKeyArn } = values;
    const size = policySize(statementsOf({ ...unit, allow: made.environment.config.allow, resultQueueIds, kmsKeyArn }));
    if (size > ROLE_POLICY_MAX) {
      faults.push(
        `handlers.${handler.name}.allow: the role's policy has ${size} characters, IAM takes ${ROLE_POLICY_MAX}; use wider patterns`,
      );
    }
    units.push(unit);
  }
  if (faults.length > 0) throw new ValuesError(source, faults);
  return units;
}

function artifactOf(name: string): string {
  return `${ARTIFACTS}/${name}.zip`;
}

/** Seconds until Lambda stops the function: its time budget and what it needs to answer. */
function timeoutOf({ limits }: Handler): number {
  return limits.timeBudgetSeconds + RESERVE_SECONDS;
}

function functionEntry({ handler, names, settings, environment }: Unit): FunctionEntry {
  return {
    name: names.function,
    description: `Takes down what requests for ${handler.name} name (version ${handler.version})`,
    handler: 'index.handler',
    role: names.roleId,
    memorySize: handler.limits.memoryMb,
    timeout: timeoutOf(handler),
    environment: environment.variables,
    package: { artifact: artifactOf(handler.name) },
    events: [
      {
        sqs: {
          arn: arnOf(names.queueId),
          batchSize: handler.limits.batchSize,
          maximumConcurrency: settings.maximumConcurrency ?? handler.limits.maximumConcurrency,
          functionResponseType: 'ReportBatchItemFailures',
        },
      },
    ],
  };
}

function requestResources(unit: Unit, values: Values, resultQueueIds: readonly string[]): Resources {
  const { handler, names, environment } = unit;
  const { kmsKeyArn } = values;
  const { allow } = environment.config;
  return {
    ...queueResources({
      names,
      visibilitySeconds: timeoutOf(handler) * VISIBILITY_PER_TIMEOUT,
      senders: values.clusters.map(({ bridgeRoleArn }) => bridgeRoleArn),
      receivers: [],
      kmsKeyArn,
    }),
    [names.roleId]: roleResource({ handler, names, allow, resultQueueIds, kmsKeyArn }),
  };
}

function resultResources(cluster: Values['clusters'][number], values: Values, units: readonly Unit[]): Resources {
  return queueResources({
    names: resultQueueNames(values, cluster.uid),
    visibilitySeconds: RESULT_VISIBILITY_SECONDS,
    senders: [...units.map(({ names }) => names.roleId), deadLetterNames(values).roleId].map(arnOf),
    receivers: [cluster.bridgeRoleArn],
    kmsKeyArn: values.kmsKeyArn,
  });
}
