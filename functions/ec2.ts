/*
 * What the handlers for instances and volumes share of EC2: the context that they run in, the mark, the permissions.
 * Used by handlers/ec2-instance.ts and handlers/ebs-volume.ts and the files beside them; volumes have ec2-volumes.ts.
 */
import {
  type $Command,
  CreateTagsCommand,
  type EC2Client,
  type EC2ClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-ec2';
import type { Outcome } from '../bridge/contract.ts';
import type { Answer } from './calls.ts';
import type { Allow } from './config.ts';
import { isNameAllowed } from './guards.ts';
import { type Permission, refused, type TeardownContext } from './handler.ts';
import { createMarks } from './marks.ts';
import { MARK_TAG, markOf, notKept, type OwnershipVerdict } from './ownership.ts';
import { arnPartition } from './places.ts';

/** A run of any handler of something in EC2. */
export type Ec2Context = TeardownContext<{ readonly region: string }, unknown, EC2Client>;

/** A command of EC2's client. */
type Command<I extends ServiceInputTypes, O extends ServiceOutputTypes> = $Command<
  I,
  O,
  EC2ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>;

/** Makes a call that changes nothing, in the target's region. */
export function ask<I extends ServiceInputTypes, O extends ServiceOutputTypes>(
  { calls, client, target }: Ec2Context,
  call: string,
  command: Command<I, O>,
): Promise<Answer<O>> {
  return calls.look(call, (options) => client(target.region).send(command, options));
}

/** More than any look of ours needs, though pages may be empty: filters are for what was looked through. */
const PAGES_MAX = 200;

/** Asks for page after page: their answers, or the one that failed. @throws Error when they come to no end */
export async function askAll<
  I extends ServiceInputTypes,
  O extends ServiceOutputTypes & { NextToken?: string | undefined },
>(
  context: Ec2Context,
  call: string,
  page: (from: { readonly NextToken?: string }) => Command<I, O>,
): Promise<Answer<readonly O[]>> {
  const value: O[] = [];
  const mark = createMarks(`calling ${call}`);
  let from: { readonly NextToken?: string } = {};
  // Without an end pages would fill the memory of the function until its time is used up.
  while (value.length < PAGES_MAX) {
    const answer = await ask(context, call, page(from));
    if (answer.means !== 'done') return answer;
    value.push(answer.value);
    const { NextToken = '' } = answer.value;
    if (NextToken === '') return { means: 'done', value };
    mark(NextToken);
    from = { NextToken };
  }
  throw new Error(`calling ${call}: there is no end to it after ${PAGES_MAX} pages`);
}

/** Makes a call that changes something, in the target's region; ownership was proven just before. */
export function change<I extends ServiceInputTypes, O extends ServiceOutputTypes>(
  { calls, client, target }: Ec2Context,
  call: string,
  command: Command<I, O>,
): Promise<Answer<O>> {
  return calls.destroy(call, (options) => client(target.region).send(command, options));
}

/** Kinds of things in EC2, as ARNs name them. */
export type Ec2Kind = 'instance' | 'volume' | 'elastic-ip' | 'spot-instances-request';

/** ARNs of the things of a kind that the allow-list names. */
export function ec2Arns({ accounts, regions, names }: Allow, kind: Ec2Kind): readonly string[] {
  return accounts.flatMap((account) =>
    regions.flatMap((region) =>
      names.map((name) => `arn:${arnPartition(region)}:ec2:${region}:${account}:${kind}/${name}`),
    ),
  );
}

/** The permission for one action on what the allow-list names, unless it carries the keep tag. */
export function permit(action: string, kind: Ec2Kind): Permission {
  return { actions: [`ec2:${action}`], resources: (allow) => ec2Arns(allow, kind), condition: notKept };
}

/** A permission that only a dangerous option needs: granted where the configuration allows that option. */
export function onlyFor(option: string, { resources, ...permission }: Permission): Permission {
  return { ...permission, resources: (allow) => (allow.options?.includes(option) ? resources(allow) : []) };
}

/** The permission to mark things of a kind: that one tag, and no other. */
export function markPermission(kind: Ec2Kind, tag = MARK_TAG): Permission {
  const condition = () => ({ ...notKept(), 'ForAllValues:StringEquals': { 'aws:TagKeys': [tag] } });
  return { ...permit('CreateTags', kind), condition };
}

/** Describe calls know no resources in IAM. */
export function lookPermission(...actions: readonly string[]): Permission {
  return {
    actions,
    resources: () => ['*'],
    condition: ({ regions }) => ({ StringEquals: { 'aws:RequestedRegion': regions } }),
  };
}

/** Puts this deletion's mark on a thing whose ownership was just proven. Undefined: marked, or gone meanwhile. */
export async function mark(context: Ec2Context, id: string): Promise<Outcome | undefined> {
  const Tags = [{ Key: MARK_TAG, Value: markOf(context.request) }];
  const answer = await change(context, 'ec2:CreateTags', new CreateTagsCommand({ Resources: [id], Tags }));
  return answer.means === 'done' || answer.means === 'gone' ? undefined : failed(`marking ${id}`, answer);
}

/** Whether a step ends the run, instead of giving what the next one needs. */
export function isOutcome(step: object | undefined): step is Outcome {
  return step !== undefined && 'outcome' in step;
}

/** The refusal that says which call was refused. */
export function failed(doing: string, { reason, code }: Exclude<Answer<unknown>, { means: 'done' }>): Outcome {
  return refused({ reason, message: `${doing}: ${code}` });
}

/** The refusal of what ownership does not prove. */
export function notOwned(id: string, { reason, message }: Extract<OwnershipVerdict, { owned: false }>): Outcome {
  return refused({ reason, message: `${id}: ${message}` });
}

/** The refusal of what came after the deletion began, where the proof would fit a successor's as well (V12). */
export function youngerThanDeletion(id: string): Outcome {
  const message = `${id} was created after the deletion began, and its ownership proof does not name the object's uid`;
  return refused({ reason: 'YoungerThanDeletion', message });
}

/** The refusal of an id that was found by a look, unless the allow-list has it. */
export function refuseName({ allow, request }: Ec2Context, id: string): Outcome | undefined {
  if (isNameAllowed(id, allow, request.object.namespace ?? '')) return undefined;
  return refused({ reason: 'NameNotAllowed', message: `${id} matches no name that this function may touch` });
}
