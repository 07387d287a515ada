/*
 * The user's settings for the functions: one YAML file, closed schema, every fault reported at once with its path.
 * Called by service before anything is packaged. What a handler may touch (`handlers.<name>`) is checked by the
 * functions' own configuration schema, in environment; here only the names of the handlers are.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import * as z from 'zod/mini';
import { complaints } from '../../bridge/contract.ts';
import { regionSchema } from '../../functions/places.ts';

/** Where settings are looked for, beside serverless.yml, if no file is named. */
export const VALUES_FILE = 'functions.values.yml';
/** What is packaged, but never deployed, while there is no such file. */
export const EXAMPLE_FILE = join(import.meta.dirname, '../../functions.values.example.yml');

/** What the role ids of the examples begin with; AWS makes none like them. */
export const EXAMPLE_ROLE_ID = 'AROAEXAMPLE';

/** What CloudWatch Logs takes for the retention of a log group, in days. */
const LOG_RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 2192, 2557, 2922];

/** A cluster whose bridge may publish; its results go to a queue of its own. */
const clusterSchema = z.strictObject({
  uid: z
    .string()
    .check(
      z.regex(/^[0-9a-z]([-0-9a-z]{0,34}[0-9a-z])?$/, 'is not the uid of a namespace (that of kube-system is meant)'),
    ),
  name: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
  bridgeRoleArn: z
    .string()
    .check(z.regex(/^arn:aws[-a-z]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, 'is not the ARN of an IAM role')),
  bridgeRoleId: z
    .string()
    .check(z.regex(/^AROA[A-Z0-9]{12,124}$/, 'is not the unique id of an IAM role (aws iam get-role: RoleId)')),
});

/** What packaging itself needs of a handler; all else goes to the function's configuration and its schema. */
const handlerSchema = z.catchall(
  z.object({ maximumConcurrency: z.optional(z.int().check(z.minimum(2), z.maximum(1000))) }),
  z.json(),
);

/** The schema library's English, which its small edition leaves out: given to each parse, no global is set. */
const words = z.locales.en().localeError;

const valuesSchema = z.strictObject({
  service: z._default(z.string().check(z.regex(/^[a-z][-a-z0-9]*$/), z.maxLength(40)), 'finalizer-bridge'),
  stage: z._default(z.string().check(z.regex(/^[a-z0-9][-a-z0-9]*$/), z.maxLength(20)), 'dev'),
  region: z._default(regionSchema, 'us-east-1'),
  logRetentionDays: z._default(
    z.int().check(
      z.refine((days) => LOG_RETENTION_DAYS.includes(days), {
        error: `is not one of ${LOG_RETENTION_DAYS.join(', ')}`,
      }),
    ),
    30,
  ),
  clusters: z.array(clusterSchema).check(
    z.minLength(1, 'names no cluster, so nobody could ask for anything'),
    z.superRefine((clusters, context) => {
      clusters.forEach(({ uid }, index) => {
        if (clusters.findIndex((cluster) => cluster.uid === uid) === index) return;
        context.addIssue({ code: 'custom', message: `names the cluster ${uid} a second time`, path: [index, 'uid'] });
      });
    }),
  ),
  alarms: z.optional(
    z.strictObject({
      topicArn: z
        .string()
        .check(z.regex(/^arn:aws[-a-z]*:sns:[-a-z0-9]+:\d{12}:[-\w]+(\.fifo)?$/, 'is not the ARN of an SNS topic')),
    }),
  ),
  kmsKeyArn: z.optional(
    z.string().check(z.regex(/^arn:aws[-a-z]*:kms:[-a-z0-9]+:\d{12}:key\/[-\w]+$/, 'is not the ARN of a KMS key')),
  ),
  handlers: z
    .record(z.string(), handlerSchema)
    .check(z.refine((handlers) => Object.keys(handlers).length > 0, 'lists no handler, so nothing would be deployed')),
});

/** The user's settings, defaults filled in. */
export type Values = z.output<typeof valuesSchema>;
export type ClusterValues = Values['clusters'][number];
export type HandlerValues = z.output<typeof handlerSchema>;

/** The values file cannot be used. Its message lists every fault with its path; nothing was packaged. */
export class ValuesError extends Error {
  override readonly name = 'ValuesError';
  readonly faults: readonly string[];
  constructor(file: string, faults: readonly string[], options?: ErrorOptions) {
    super(
      `reading ${file}: ${faults.length === 1 ? 'one fault' : `${faults.length} faults`}\n${list(faults)}`,
      options,
    );
    this.faults = faults;
  }
}

/** Where values come from. */
export interface ValuesSource {
  /** The file that was named; without one, VALUES_FILE of the folder. */
  readonly file?: string | undefined;
  /** Folder of serverless.yml. */
  readonly folder: string;
  /** Whether the example may stand in for a missing VALUES_FILE. */
  readonly exampleAllowed: boolean;
  /** What shows people what belongs in the file; EXAMPLE_FILE unless told. */
  readonly example?: string;
}

/**
 * Finds, reads and checks the values.
 * @param handlers names of all registered handlers.
 * @returns the values and the file they come from.
 * @throws ValuesError with every fault.
 */
export function readValues(where: ValuesSource, handlers: readonly string[]): { values: Values; source: string } {
  const source = sourceOf(where);
  const document = parseDocument(readFileSync(source, 'utf8'));
  if (document.errors.length > 0) {
    throw new ValuesError(
      source,
      document.errors.map(({ message }) => message),
    );
  }
  const parsed = valuesSchema.safeParse(document.toJS() ?? {}, { error: words });
  const faults = parsed.success ? [] : [...complaints(parsed.error)];
  const named = parsed.success ? Object.keys(parsed.data.handlers) : [];
  const unknown = named.filter((name) => !handlers.includes(name));
  faults.push(...unknown.map((name) => `handlers.${name}: is not registered; there are ${handlers.join(', ')}`));
  if (!parsed.success || faults.length > 0) throw new ValuesError(source, faults);
  return { values: parsed.data, source };
}

/**
 * Which handlers are left out, in words; undefined where there are none. That may be meant, or be a handler that was only
 * registered: its rules would wait for a function that nobody deploys.
 */
export function notListed(
  { handlers }: Values,
  registered: readonly { readonly name: string }[],
  source: string,
): string | undefined {
  const names = registered.map(({ name }) => name).filter((name) => handlers[name] === undefined);
  if (names.length === 0) return undefined;
  const which = `${names.join(', ')}: registered, but not deployed, since ${source} does not list ${names.length > 1 ? 'them' : 'it'}`;
  return `${which}. To deploy one, say under handlers.<name>.allow what it may touch.`;
}

function sourceOf({ file, folder, exampleAllowed, example = EXAMPLE_FILE }: ValuesSource): string {
  const wanted = file === undefined ? join(folder, VALUES_FILE) : resolve(file);
  if (existsSync(wanted)) return wanted;
  if (file === undefined && exampleAllowed) return EXAMPLE_FILE;
  throw new ValuesError(wanted, [`the file does not exist; ${example} shows what belongs in it`]);
}

function list(faults: readonly string[]): string {
  return faults.map((fault) => `  - ${fault}`).join('\n');
}
