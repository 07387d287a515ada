/*
 * The deployed stack: what it says of itself, asked through the framework (functions/outputs-plugin.cjs), and whether there
 * are AWS credentials to ask with. Called by deploy.ts, remove.ts, bridge-values.ts and bridge-policy.ts.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SQSClient } from '@aws-sdk/client-sqs';
import { registry } from '../functions/registry.ts';
import { explain } from './explain.ts';
import { runFramework } from './framework.ts';
import { loadService } from './functions/service.ts';
import { readOutputs, type StackOutputs } from './functions/stack-outputs.ts';
import { readValues, type Values } from './functions/values.ts';
import { type Deployed, frameworkArgs } from './stack-options.ts';

/** Which stack, and from where it is asked for. */
export interface StackPlace {
  readonly deployed: Deployed;
  /** Folder with serverless.yml. */
  readonly serviceDir: string;
  /** The framework's environment; ours unless told. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The values of a stack that is deployed or to be deployed, never the example's own. Throws ValuesError. */
export function valuesOf({ deployed, serviceDir }: StackPlace, { deploys = false } = {}): Values {
  const where = { file: deployed.values, folder: serviceDir, exampleAllowed: false };
  // Composed for its faults: those of the values, of the stage, and of what would be made of both.
  loadService({ ...where, handlers: registry, asked: { stage: deployed.stage }, deploys });
  return readValues(
    where,
    registry.map(({ name }) => name),
  ).values;
}

/**
 * Asks CloudFormation for the outputs.
 * @throws Error with what the framework says: no credentials, no such stack
 */
export async function fetchOutputs({ deployed, serviceDir, env }: StackPlace): Promise<StackOutputs> {
  const file = join(serviceDir, '.serverless/outputs.json');
  await rm(file, { force: true });
  const place = { cwd: serviceDir, ...(env === undefined ? {} : { env }) };
  const { code, output } = await runFramework(['outputs', ...frameworkArgs(deployed)], place);
  if (code !== 0) throw new Error(`asking for the outputs of the stack:\n${output}`);
  return readOutputs(file);
}

/**
 * Looks whether the SDK finds credentials, before minutes are spent on a build or the framework is asked.
 * @throws Error that says how to give some
 */
export async function requireCredentials(client: SQSClient): Promise<void> {
  await client.config.credentials().catch((cause: unknown) => {
    const how = 'set AWS_PROFILE, or sign in with `aws sso login`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
    throw new Error(`looking for AWS credentials: none were found (${explain(cause)}); ${how}`, { cause });
  });
}

/** A client for the queues of a stack. Where the environment names another endpoint (AWS_ENDPOINT_URL_SQS), that is meant. */
export function queuesClient(region: string): SQSClient {
  return new SQSClient({ region, useQueueUrlAsEndpoint: false });
}
