/*
 * Starts a function host as a process of its own with the environment that Lambda would give it. Used by demo and e2e tests.
 * Of this process's own variables only PATH, HOME and Node's own cache reach the function; host and functions end with this process.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Environment } from './environment.ts';
import type { HostConfiguration } from './function-host.ts';
import { startSupervised } from './supervised.ts';

export interface FunctionProcessOptions {
  readonly functionName: string;
  /** The module that Lambda would load. */
  readonly entry: string;
  /** The queues that feed it, each by an event source of its own. */
  readonly queues: readonly { readonly url: string; readonly arn: string }[];
  readonly batchSize: number;
  readonly functionTimeoutMs: number;
  readonly concurrency: number;
  /** Decides the SenderId of what the function sends. */
  readonly accessKeyId: string;
  readonly region: string;
  /** Of SQS, and of whatever other service the function calls; without that it reaches none. */
  readonly endpoints: { readonly sqs: string; readonly others?: string };
  /** The function's own configuration and whatever else it reads from its environment. */
  readonly environment: Environment;
  readonly logFile?: string;
  /** Only the function itself logs: what tells of each invocation is no part of it on Lambda, and costs CPU. */
  readonly isQuiet?: boolean;
  /** Arguments of Node.js. */
  readonly nodeArgs?: readonly string[];
  /** Where its private folder is made; the system's temporary folder unless told. */
  readonly folder?: string;
}

export interface FunctionProcess {
  readonly pid: number;
  /** Its log: one JSON line per invocation beside what the function itself logs. */
  readonly logFile: string;
  /** The exit code; 128 + n after signal n. */
  readonly exited: Promise<number>;
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM; what is in work may finish within 4 s. */
  stop(): Promise<void>;
}

/** Beside this file as it runs, a source or what was compiled of it. */
const HOST = join(import.meta.dirname, `function-host${extname(import.meta.filename)}`);

/** Resolves when the host is polling. Throws, with the end of its log, when it ends before that. */
export async function startFunctionProcess(options: FunctionProcessOptions): Promise<FunctionProcess> {
  const { functionName, entry, queues, batchSize, functionTimeoutMs, concurrency, endpoints, nodeArgs = [] } = options;
  const folder = await mkdtemp(join(options.folder ?? tmpdir(), 'finalizer-bridge-function-'));
  const logFile = options.logFile ?? join(folder, 'function.log');
  const common = { functionName, entry, endpoint: endpoints.sqs, batchSize, functionTimeoutMs, concurrency };
  const functions = queues.map(({ url, arn }) => ({ ...common, queueUrl: url, queueArn: arn }));
  const configuration: HostConfiguration = { functions, isQuiet: options.isQuiet };
  const file = join(folder, 'host.json');
  await writeFile(file, JSON.stringify(configuration), { mode: 0o600 });
  const host = await startSupervised({
    name: functionName,
    command: process.execPath,
    args: [...nodeArgs, HOST, file],
    env: lambdaEnvironment(options),
    logFile,
    announces: true,
  });
  const stop = async () => {
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await host.firstLine;
  } catch (cause) {
    const said = await host.logTail(20);
    await stop();
    throw new Error(`starting function ${functionName}:\n${said}`, { cause });
  }
  return { pid: host.pid, logFile, exited: host.exited, signal: host.signal, stop };
}

/** Only what Lambda sets, so that a function cannot lean on the variables of whoever started it. */
function lambdaEnvironment(options: FunctionProcessOptions): Environment {
  const { functionName, accessKeyId, region, endpoints, environment } = options;
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    TZ: ':UTC',
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_LAMBDA_FUNCTION_NAME: functionName,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
    // Read by the AWS SDK itself; the functions need no setting for local endpoints.
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    ...(endpoints.others === undefined ? {} : { AWS_ENDPOINT_URL: endpoints.others }),
    ...environment,
  };
}
