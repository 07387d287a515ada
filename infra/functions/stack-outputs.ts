/*
 * What a deployed stack says of itself, read back: from what CloudFormation's DescribeStacks answers, as the AWS command line
 * and outputs-plugin.cjs write it, or from a plain object of names and values. Called by ../stack.ts and ../kit/; outputs.ts names
 * them.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { explain } from '../explain.ts';
import { deadLetterNames, handlerNames, resultQueueNames } from './names.ts';
import type { ClusterValues, Values } from './values.ts';

const described = z.object({
  Stacks: z.array(
    z.object({ Outputs: z._default(z.array(z.object({ OutputKey: z.string(), OutputValue: z.string() })), []) }),
  ),
});
const plain = z.record(z.string(), z.string());

/** The outputs of a stack by name. */
export type StackOutputs = Readonly<Record<string, string>>;

/** What the bridge of one cluster has to know of the functions. */
export interface BridgeSide {
  readonly results: { readonly url: string; readonly arn: string };
  readonly handlers: Readonly<Record<string, { readonly url: string; readonly arn: string; readonly roleId: string }>>;
  readonly deadLetterRoleId: string;
}

/**
 * Reads outputs from a file.
 * @throws Error naming the file when it holds neither form
 */
export function readOutputs(file: string): StackOutputs {
  try {
    return outputsIn(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new Error(`reading the outputs of a stack from ${file}: ${explain(cause)}`, { cause });
  }
}

/**
 * Takes outputs out of what CloudFormation answers, or of a plain object.
 * @throws when it is neither, or describes another number of stacks than one
 */
export function outputsIn(read: unknown): StackOutputs {
  const answer = described.safeParse(read);
  if (!answer.success) return plain.parse(read);
  const [stack, ...others] = answer.data.Stacks;
  if (stack === undefined || others.length > 0) throw new Error(`it describes ${answer.data.Stacks.length} stacks`);
  return Object.fromEntries(stack.Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
}

/** A queue of a deployed stack. */
export interface DeployedQueue {
  /** In SQS. */
  readonly name: string;
  readonly url: string;
  /** Whether an object waits for what lies there: requests and results, and no dead letters. */
  readonly awaited: boolean;
}

/** All queues of a stack, of whatever handlers and clusters it was deployed with. */
export function queuesIn(outputs: StackOutputs): readonly DeployedQueue[] {
  return Object.entries(outputs)
    .filter(([key]) => key.endsWith('QueueUrl'))
    .map(([key, url]) => ({
      ...{ name: url.slice(url.lastIndexOf('/') + 1), url },
      awaited: !/(DeadLetter|Archive)QueueUrl$/.test(key),
    }));
}

/**
 * Picks a cluster of the values by name or uid; the only one when none is named.
 * @param option what names one on the command line
 * @throws Error with the clusters that there are
 */
export function clusterOf({ clusters }: Values, wanted: string | undefined, option = '--cluster'): ClusterValues {
  const found = clusters.filter(({ uid, name }) => wanted === undefined || uid === wanted || name === wanted);
  const [cluster] = found;
  if (cluster !== undefined && found.length === 1) return cluster;
  const known = clusters.map(({ uid, name }) => name ?? uid).join(', ');
  throw new Error(`choosing a cluster: name one with ${option}; there are ${known}`);
}

/**
 * Picks what one cluster's bridge has to know.
 * @throws Error naming every output that is missing: the stack is older than the values
 */
export function bridgeSide(outputs: StackOutputs, values: Values, { uid }: ClusterValues): BridgeSide {
  const missing: string[] = [];
  const get = (name: string) => {
    const value = outputs[name];
    if (value === undefined) missing.push(name);
    return value ?? '';
  };
  const queue = (id: string) => ({ url: get(`${id}Url`), arn: get(`${id}Arn`) });
  const side = {
    results: queue(resultQueueNames(values, uid).queueId),
    handlers: Object.fromEntries(
      Object.keys(values.handlers).map((name) => {
        const { queueId, roleId } = handlerNames(values, name);
        return [name, { ...queue(queueId), roleId: get(`${roleId}Id`) }];
      }),
    ),
    deadLetterRoleId: get(`${deadLetterNames(values).roleId}Id`),
  };
  if (missing.length === 0) return side;
  const stack = `${values.service}-${values.stage}`;
  throw new Error(
    `looking at the outputs of ${stack}: ${missing.join(', ')} missing; deploy it with these values first`,
  );
}
