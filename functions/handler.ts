/*
 * What a handler is. Whoever writes one exports one defineHandler(...) value and adds one line to the registry.
 *
 * The contract, in words:
 * - teardown is safe to call any number of times, also at the same time; absent means gone;
 * - a slow deletion that has been started is pending, and the next call only looks;
 * - what ownership does not prove is refused, and so is what carries the keep tag;
 * - after the abort signal no destructive call begins: answer pending (what the next call goes on with needs no memory);
 * - ownership is read again before each irreversible step (in a long run of deletes at least every 5 s);
 * - only a real not-found is gone. Whatever is thrown means "again" and never releases anything.
 * Guards have run before teardown does: sender, cluster, expiry, allow-list, account, region. See guards.ts.
 */
import * as z from 'zod/mini';
import type { ObjectRef, Options, Outcome, Ownership, Target } from '../bridge/contract.ts';
import { complaints, handlerName } from '../bridge/contract.ts';
import type { ErrorTable } from './aws-errors.ts';
import type { Calls } from './calls.ts';
import type { Allow } from './config.ts';
import { faultOf } from './config.ts';
import type { Clock, Log, Random } from './ports.ts';
import type { Schema } from './schema.ts';

export { gone, pending, refused } from './outcomes.ts';

/** Conditions of an IAM statement: operator, then key, then value or values. */
export type Conditions = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** One statement of the least-privilege role of the function, scoped by its allow-list. */
export interface Permission {
  /** IAM actions, such as `s3:DeleteBucket`. */
  readonly actions: readonly string[];
  /** ARNs, with `*` where the allow-list has it. None: the statement is left out of the role. */
  readonly resources: (allow: Allow) => readonly string[];
  readonly condition?: (allow: Allow) => Conditions;
}

/** What a run may take. */
export interface Limits {
  /** Seconds that a run may take before its signal aborts; the function's time-out is 30 s more. At most 270. */
  readonly timeBudgetSeconds: number;
  /** Messages per invocation, 1 to 10; they run side by side. 1 for slow handlers. */
  readonly batchSize: number;
  readonly memoryMb: number;
  /** Most invocations at the same time, 2 to 1,000. */
  readonly maximumConcurrency: number;
}

const DEFAULT_LIMITS: Limits = { timeBudgetSeconds: 270, batchSize: 1, memoryMb: 256, maximumConcurrency: 10 };
/** Seconds between the abort signal and the function's time-out. */
export const RESERVE_SECONDS = 30;

/** What of a target the guards compare with the allow-list. */
export interface Identity {
  /** Each has to match a pattern of the allow-list. */
  readonly names: readonly string[];
  /** Where a target in AWS lives; `outside` for targets elsewhere. */
  readonly place: { readonly account: string; readonly region: string } | 'outside';
}

/** Inputs of an AWS SDK client. One attempt only: `calls` repeats looks itself, and a delete is never repeated blindly. */
export interface AwsClientInput {
  readonly region: string;
  readonly endpoint?: string;
  readonly maxAttempts: number;
  readonly requestHandler: {
    readonly connectionTimeout: number;
    readonly requestTimeout: number;
    readonly throwOnRequestTimeout: true;
  };
}

/** The facts of the request that a teardown may need. */
export interface RequestFacts {
  readonly id: string;
  readonly cluster: { readonly uid: string; readonly name?: string | undefined };
  readonly rule: { readonly name: string; readonly uid: string };
  readonly attempt: number;
  /** SHA-256, in hex: of the target, and of cluster, rule uid, handler, options and ownership. */
  readonly targetDigest: string;
  readonly ruleDigest: string;
  /** RFC 3339, UTC. */
  readonly expires: string;
  /** W3C trace context of this run, for whoever is asked for something. */
  readonly traceparent: string;
  /** The object: namespace, name, uid, creationTimestamp, deletionTimestamp and kind; never its content. */
  readonly object: ObjectRef;
}

/** What every run is given, whatever its handler. */
export interface RunContext {
  readonly request: RequestFacts;
  readonly ownership: Ownership;
  /** Account that has to own the target: checked against the allow-list, and the function's own for targets outside. */
  readonly account: string;
  readonly region: string;
  readonly allow: Allow;
  /** What the function's configuration says for this handler alone, read by the schema that it declares. */
  readonly settings: <S>(schema: Schema<S>) => S;
  /** Aborts at the end of the time budget, or a minute before the request expires. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The only way to the outside: checks the signal and the proof of ownership, bounds and classifies each call. */
  readonly calls: Calls;
  readonly aws: (service: string, region: string) => AwsClientInput;
  /** Says how far this run is; goes into whatever result it ends with. */
  readonly progress: (text: string) => void;
  /** RFC 3339 time so many seconds from now, for `retryAt`. */
  readonly inSeconds: (seconds: number) => string;
}

/** A run of one handler: target and options as its schemas read them, and its client. */
export interface TeardownContext<T, O, C> extends RunContext {
  readonly target: T;
  readonly options: O;
  /** The handler's client for a region, made once and kept while the function is warm. */
  readonly client: (region: string) => C;
}

/** A handler as its author writes it. */
export interface HandlerDefinition<T, O, C> {
  /** RFC 1123 label of at most 40 characters; names the queue, the role and the function. */
  readonly name: string;
  readonly version: string;
  readonly target: Schema<T>;
  /** A closed schema (`z.strictObject`): an unknown option is refused, not ignored. */
  readonly options: Schema<O>;
  /** A closed schema of what this handler alone needs in the function's configuration; without it nothing may be there. */
  readonly settings?: Schema;
  readonly permissions: readonly Permission[];
  readonly limits?: Partial<Limits>;
  /** Options that, once set, need the word of the function's own configuration (`allow.options`) as well. */
  readonly dangerous?: readonly (keyof O & string)[];
  /** The handler's own codes by call, `service:Operation`. */
  readonly errors?: ErrorTable;
  /** True if a target in another, allowed account can be told from an absent one. */
  readonly crossAccount?: boolean;
  /** `refused` where a target that is not there means that nothing was done, as for who tells people. Usually `gone`. */
  readonly absence?: Absence;
  readonly identity: (target: T) => Identity;
  /** Service that it speaks to, as AWS's clients are named; its endpoint may be replaced on a local system. */
  readonly service: string;
  readonly connect: (input: AwsClientInput) => C;
  readonly teardown: (context: TeardownContext<T, O, C>) => Promise<Outcome>;
}

/** What a handler says when its target is not there. */
export type Absence = 'gone' | 'refused';

/** What the guards get of a target and options that the handler's schemas took. */
export interface PreparedTeardown {
  readonly ok: true;
  readonly identity: Identity;
  /** Dangerous options that the request sets. */
  readonly dangers: readonly string[];
  readonly run: (context: RunContext) => Promise<Outcome>;
}

/** A target or options that the handler cannot work with. */
export interface Unprepared {
  readonly ok: false;
  readonly reason: 'InvalidTarget' | 'InvalidOptions';
  readonly message: string;
}

/** A handler as the registry, the dispatch and the packaging see it: its types are closed over. */
export interface Handler {
  readonly name: string;
  readonly version: string;
  readonly permissions: readonly Permission[];
  readonly limits: Limits;
  readonly errors: ErrorTable;
  readonly crossAccount: boolean;
  readonly absence: Absence;
  /** Service that its client speaks to. */
  readonly service: string;
  /** Options that need the word of the function's configuration, too. */
  readonly dangerous: readonly string[];
  readonly schemas: { readonly [part in 'target' | 'options' | 'settings']: Schema };
  readonly prepare: (target: Target, options: Options) => PreparedTeardown | Unprepared;
}

/**
 * Defines a handler.
 * @throws Error at load if the definition cannot be deployed: name, limits.
 */
export function defineHandler<T, O, C>(definition: HandlerDefinition<T, O, C>): Handler {
  const limits = { ...DEFAULT_LIMITS, ...definition.limits };
  assertDeployable(definition.name, limits);
  const clients = new Map<string, C>();
  const client = (context: RunContext, region: string): C => {
    const input = context.aws(definition.service, region);
    const key = `${input.region} ${input.endpoint ?? ''}`;
    const known = clients.get(key) ?? definition.connect(input);
    clients.set(key, known);
    return known;
  };
  const { name, version, service, permissions, errors = {}, dangerous = [] } = definition;
  const { crossAccount = false, absence = 'gone', settings = z.strictObject({}) } = definition;
  const schemas = { target: definition.target, options: definition.options, settings };
  return {
    ...{ name, version, service, permissions, limits, errors, dangerous, crossAccount, absence, schemas },
    prepare(rawTarget, rawOptions) {
      const target = z.safeParse(definition.target, rawTarget, { error: faultOf });
      if (!target.success) return unprepared('InvalidTarget', complaints(target.error, 'target'));
      const options = z.safeParse(definition.options, rawOptions, { error: faultOf });
      if (!options.success) return unprepared('InvalidOptions', complaints(options.error, 'options'));
      const run = (context: RunContext) =>
        definition.teardown({
          ...context,
          target: target.data,
          options: options.data,
          client: (region) => client(context, region),
        });
      const { data } = options;
      const dangers = dangerous.filter((key) => data[key] !== undefined && data[key] !== false);
      return { ok: true, identity: definition.identity(target.data), dangers, run };
    },
  };
}

function unprepared(reason: Unprepared['reason'], said: readonly string[]): Unprepared {
  return { ok: false, reason, message: said.join('; ') };
}

function assertDeployable(name: string, limits: Limits): void {
  const { timeBudgetSeconds, batchSize, maximumConcurrency } = limits;
  const faults = [
    handlerName.safeParse(name).success ? '' : 'its name is not a label of at most 40 characters',
    timeBudgetSeconds >= 1 && timeBudgetSeconds <= 270 ? '' : `timeBudgetSeconds is ${timeBudgetSeconds}, not 1 to 270`,
    batchSize >= 1 && batchSize <= 10 ? '' : `batchSize is ${batchSize}, not 1 to 10`,
    maximumConcurrency >= 2 && maximumConcurrency <= 1000
      ? ''
      : `maximumConcurrency is ${maximumConcurrency}, not 2 to 1000`,
  ].filter((fault) => fault !== '');
  if (faults.length > 0) throw new Error(`defining handler "${name}": ${faults.join('; ')}`);
}

/**
 * Checks a list of handlers: one name, one queue, one function.
 * @throws Error at load naming every handler that is registered twice.
 */
export function defineRegistry(handlers: readonly Handler[]): readonly Handler[] {
  const names = handlers.map(({ name }) => name);
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  if (twice.length > 0) throw new Error(`registering handlers: registered twice: ${twice.join(', ')}`);
  return handlers;
}
