/*
 * The function's own configuration: the wall that nobody in a cluster can move. Nothing is allowed unless said.
 * Read once at cold start by the entry from FINALIZER_BRIDGE_CONFIG (JSON), the only place with process.env here.
 * The schema is closed: an unknown field, which may be a misspelt limit, stops the function with all faults at once.
 */
import * as z from 'zod/mini';
import { complaints, handlerName, identifier, keyed } from '../bridge/contract.ts';
import type { SigningCredentials } from '../bridge/sqs-signature.ts';
import { accountSchema as account, regionSchema as region } from './places.ts';

/** Environment variable that holds the configuration as JSON. */
export const CONFIG_VARIABLE = 'FINALIZER_BRIDGE_CONFIG';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const url = z
  .string()
  .check(
    z.refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'Invalid URL: http or https is expected'),
  );
/** Literal text in which `*` stands for any text; an empty pattern would be a mistake. */
const pattern = z.string().check(z.minLength(1), z.maxLength(256));
/** A Kubernetes namespace, or the empty string for objects that have none. */
const namespace = z.string().check(z.regex(/^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$/), z.maxLength(63));

const allowSchema = z.strictObject({
  accounts: z.array(account).check(z.minLength(1)),
  regions: z.array(region).check(z.minLength(1)),
  names: z.array(pattern).check(z.minLength(1)),
  namespaces: z.optional(keyed(namespace, z.strictObject({ names: z.array(pattern).check(z.minLength(1)) }))),
  options: z.optional(z.array(z.string())),
});

const clusterSchema = z.strictObject({
  uid: identifier,
  sender: z.string().check(z.minLength(1)),
  resultQueueUrl: url,
});

const clustersSchema = z.array(clusterSchema).check(
  z.minLength(1),
  z.refine((clusters) => new Set(clusters.map(({ uid }) => uid)).size === clusters.length, 'a cluster is named twice'),
);

/** An AWS service as its clients are named: `sqs`, `s3`, `ec2`. */
const service = z.string().check(z.regex(/^[a-z][-a-z0-9]*$/));

/** What both sorts of functions are told. */
const common = {
  region: z.optional(region),
  clusters: clustersSchema,
  endpoints: z.optional(keyed(service, url)),
  logLevel: z.optional(z.literal(LOG_LEVELS)),
};

// Made only where they are read: a function's bundle has one of the two.
const configSchema = () =>
  z.strictObject({
    ...common,
    handler: handlerName,
    account: z.optional(account),
    requestQueueUrl: z.optional(url),
    allow: allowSchema,
    ownershipNone: z.optional(z.boolean()),
    settings: z.optional(z.looseObject({})),
  });

const deadLetterSchema = () => z.strictObject({ ...common, archiveQueueUrl: url });

/** What of `T` is there once it was read, whether it was left out or not. */
type Filled<T, K extends keyof T> = Readonly<Omit<T, K> & { [key in K]-?: NonNullable<T[key]> }>;
type Common = 'region' | 'endpoints' | 'logLevel';
type OwnConfig = z.output<ReturnType<typeof configSchema>>;
type OwnDeadLetterConfig = z.output<ReturnType<typeof deadLetterSchema>>;

/** The configuration of the dead-letter function: where bodies are kept, and which cluster is told over which queue. */
export type DeadLetterConfig = Filled<OwnDeadLetterConfig, Common>;

/**
 * What the function may touch. `names` binds always; `namespaces`, if given, binds each source namespace further.
 * `options` are the handler's dangerous options that rules may set.
 */
export type Allow = Readonly<z.output<typeof allowSchema>>;
/** A cluster that may send requests here, who its sender is, and where its results go. */
export type ClusterConfig = Readonly<z.output<typeof clusterSchema>>;
/**
 * The whole configuration. `region` defaults to AWS_REGION, `account` to the account of the function's ARN,
 * `requestQueueUrl` to the queue of the event's ARN. `endpoints`, by service, replaces AWS's own on a local system.
 * `settings` is what the handler alone needs; its own schema has checked it.
 */
export type Config = Filled<OwnConfig, Common | 'ownershipNone' | 'settings'>;

/** Environment variables, as an argument. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Id of the X-Ray trace that Lambda runs the invocation in, where it says one: it sets the variable anew for each. */
export function xrayTraceId(environment: Environment = process.env): string | undefined {
  return /Root=([^;]+)/.exec(environment._X_AMZN_TRACE_ID ?? '')?.[1];
}

/** The keys that Lambda gives a function, as they are now; empty is not set. @throws Error naming the variable that is not set */
export function awsKeys(environment: Environment = process.env): SigningCredentials {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (!accessKeyId || !secretAccessKey) {
    throw new Error('getting keys for SQS: AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set');
  }
  return { accessKeyId, secretAccessKey, sessionToken: environment.AWS_SESSION_TOKEN || undefined };
}

/** The endpoint that the environment names for SQS, or for all of AWS. */
export function sqsEndpoint(environment: Environment = process.env): string | undefined {
  return environment.AWS_ENDPOINT_URL_SQS || environment.AWS_ENDPOINT_URL || undefined;
}

/** By this a message belongs to the X-Ray trace of the invocation, and Lambda finds loops. What no header can hold is left out. */
export function traceHeaders(environment: Environment = process.env): Readonly<Record<string, string>> {
  const { _X_AMZN_TRACE_ID: trace } = environment;
  return trace !== undefined && /^[\x20-\x7e]+$/.test(trace) ? { 'x-amzn-trace-id': trace } : {};
}

/** A configuration that cannot be used. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** Private, so that a function that does not start prints them once, in its message. */
  readonly #faults: readonly string[];
  constructor(faults: readonly string[], options?: ErrorOptions) {
    super(`reading ${CONFIG_VARIABLE}: ${faults.join('; ')}`, options);
    this.#faults = faults;
  }

  /** Every fault with its path, as the message lists them. */
  get faults(): readonly string[] {
    return this.#faults;
  }
}

/** Whose configuration is read. */
export interface Configured {
  readonly name: string;
  /** Options of the handler that the configuration may allow. */
  readonly dangerous: readonly string[];
  readonly schemas: { readonly settings: z.core.$ZodType };
}

/**
 * Reads the configuration for a handler.
 * @throws ConfigError with all faults, each with its path.
 */
export function readConfig({ name, dangerous, schemas }: Configured, environment: Environment = process.env): Config {
  const config = read(configSchema(), environment, ({ handler, allow, settings = {} }) => {
    if (handler !== name) return [`handler: this function is ${name}, the configuration is for ${handler}`];
    const known = dangerous.length === 0 ? 'none' : dangerous.join(', ');
    const options = (allow.options ?? []).flatMap((option, index) =>
      dangerous.includes(option) ? [] : [`allow.options.${index}: ${handler} has no such option, only ${known}`],
    );
    const own = z.safeParse(schemas.settings, settings, { error: faultOf });
    return own.success ? options : [...options, ...complaints(own.error, 'settings')];
  });
  return { ...config, ownershipNone: config.ownershipNone ?? false, settings: config.settings ?? {} };
}

/**
 * Reads the configuration of the dead-letter function.
 * @throws ConfigError with all faults, each with its path.
 */
export function readDeadLetterConfig(environment: Environment = process.env): DeadLetterConfig {
  return read(deadLetterSchema(), environment, () => []);
}

/** What is wrong with a value, also of a request: the schema library's own English would cost as much as all of the dispatch. */
export function faultOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `Invalid input: expected ${issue.expected}`;
    case 'unrecognized_keys':
      return `Unrecognized key: ${issue.keys.map((key) => `"${key}"`).join(', ')}`;
    case 'invalid_value':
      return `Invalid option: expected one of ${issue.values.join(', ')}`;
    case 'too_small':
      return `Too small: expected at least ${issue.minimum}`;
    case 'too_big':
      return `Too big: expected at most ${issue.maximum}`;
    default:
      return undefined;
  }
}

function read<T extends Pick<OwnConfig, Common>>(
  schema: z.ZodMiniType<T>,
  environment: Environment,
  faultsOf: (config: T) => readonly string[],
): T & Filled<Pick<OwnConfig, Common>, Common> {
  const text = environment[CONFIG_VARIABLE];
  if (text === undefined || text === '') throw new ConfigError(['the variable is not set']);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // No cause: what JSON.parse says quotes the text, and that may be a secret.
    throw new ConfigError(['the value is not JSON']);
  }
  const parsed = schema.safeParse(json, { error: faultOf });
  if (!parsed.success) throw new ConfigError(complaints(parsed.error));
  const { data } = parsed;
  const faults = faultsOf(data);
  const place = data.region ?? environment.AWS_REGION;
  if (place === undefined) throw new ConfigError([...faults, 'region: neither given here nor by AWS_REGION']);
  if (faults.length > 0) throw new ConfigError(faults);
  return { ...data, region: place, endpoints: data.endpoints ?? {}, logLevel: data.logLevel ?? 'info' };
}
