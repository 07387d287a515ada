/*
 * Asks CloudFormation for the outputs of a project's stack, with the client that the project's own framework deploys with and
 * the credentials that the AWS SDK finds: environment, profile, SSO. Called by bridge-values.ts where no file is named.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod/mini';
import { explain } from '../explain.ts';
import { outputsIn, type StackOutputs } from '../functions/stack-outputs.ts';
import type { Values } from '../functions/values.ts';
import { KitError } from './error.ts';

interface Client {
  send(command: object): Promise<unknown>;
  destroy(): void;
}
type Constructor<Argument, Made> = new (argument: Argument) => Made;

const isFunction = (value: unknown) => typeof value === 'function';
const sdkShape = z.object({
  CloudFormationClient: z.custom<Constructor<{ readonly region: string }, Client>>(isFunction),
  DescribeStacksCommand: z.custom<Constructor<{ readonly StackName: string }, object>>(isFunction),
});

/**
 * The outputs of the stack that the values name.
 * @throws KitError when the framework is not installed, there are no credentials, or there is no such stack
 */
export async function askForOutputs(folder: string, { service, stage, region }: Values): Promise<StackOutputs> {
  const { CloudFormationClient, DescribeStacksCommand } = await loadSdk(folder);
  const stack = `${service}-${stage}`;
  const client = new CloudFormationClient({ region });
  try {
    return outputsIn(await client.send(new DescribeStacksCommand({ StackName: stack })));
  } catch (cause) {
    const how = 'give the AWS SDK credentials, or name a file: --outputs FILE';
    throw new KitError(`asking for the outputs of ${stack} in ${region}: ${explain(cause)}; ${how}`, { cause });
  } finally {
    client.destroy();
  }
}

async function loadSdk(folder: string): Promise<z.output<typeof sdkShape>> {
  const require = createRequire(join(folder, 'package.json'));
  try {
    const framework = createRequire(join(dirname(require.resolve('serverless/package.json')), 'package.json'));
    const sdk: object = await import(pathToFileURL(framework.resolve('@aws-sdk/client-cloudformation')).href);
    return z.parse(sdkShape, sdk);
  } catch (cause) {
    const how = 'npm install --save-dev serverless@npm:osls, or name a file: --outputs FILE';
    throw new KitError(`asking for the outputs of the stack needs the framework, which is not installed here: ${how}`, {
      cause,
    });
  }
}
