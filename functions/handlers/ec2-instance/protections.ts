/*
 * Why EC2 refused to terminate an instance: termination protection, or stop protection, which forbids terminating, too.
 * Called by ec2-instance.ts after a refusal, and by scaling-group.ts before a call that does not ask for them; lifts them only
 * where the rule asks for it and the function's configuration allows it.
 */
import { DescribeInstanceAttributeCommand, ModifyInstanceAttributeCommand } from '@aws-sdk/client-ec2';
import type { Outcome } from '../../../bridge/contract.ts';
import { ask, change, failed, isOutcome, notOwned } from '../../ec2.ts';
import { refused } from '../../handler.ts';
import { type Context, look } from './instance.ts';

const PROTECTIONS = {
  disableApiTermination: { name: 'termination protection', off: { DisableApiTermination: { Value: false } } },
  disableApiStop: { name: 'stop protection', off: { DisableApiStop: { Value: false } } },
} as const;
type Protection = keyof typeof PROTECTIONS;

/** Lifts what protects an instance, or says what does; undefined if something was lifted, so that it is worth another try. */
export async function liftProtections(context: Context, id: string, refusal: Outcome): Promise<Outcome | undefined> {
  const on = await protectionsOf(context, id);
  if (!Array.isArray(on)) return on;
  if (on.length === 0) return refusal;
  if (context.options.liftProtections !== true) return protectedBy(id, namesOf(on));
  for (const protection of on) {
    const stop = await lift(context, id, protection);
    if (stop !== undefined) return stop;
  }
  return undefined;
}

/**
 * Refuses an instance with protections that would not be asked for, and with those named besides; undefined if there are
 * none, or the rule lifts them.
 */
export async function refuseProtected(
  context: Context,
  id: string,
  besides: readonly string[],
): Promise<Outcome | undefined> {
  if (context.options.liftProtections === true) return undefined;
  const on = await protectionsOf(context, id);
  if (!Array.isArray(on)) return on;
  const names = [...namesOf(on), ...besides];
  return names.length === 0 ? undefined : protectedBy(id, names);
}

function namesOf(on: readonly Protection[]): readonly string[] {
  return on.map((protection) => PROTECTIONS[protection].name);
}

function protectedBy(id: string, names: readonly string[]): Outcome {
  return refused({ reason: 'ProtectionEnabled', message: `${names.join(' and ')} of ${id} is on` });
}

async function protectionsOf(context: Context, InstanceId: string): Promise<Protection[] | Outcome> {
  const on: Protection[] = [];
  for (const Attribute of ['disableApiTermination', 'disableApiStop'] as const) {
    const answer = await ask(
      context,
      'ec2:DescribeInstanceAttribute',
      new DescribeInstanceAttributeCommand({ InstanceId, Attribute }),
    );
    if (answer.means !== 'done') return failed(`reading ${Attribute} of ${InstanceId}`, answer);
    const { DisableApiTermination, DisableApiStop } = answer.value;
    const { Value } = (Attribute === 'disableApiStop' ? DisableApiStop : DisableApiTermination) ?? {};
    if (Value === true) on.push(Attribute);
  }
  return on;
}

async function lift(context: Context, id: string, protection: Protection): Promise<Outcome | undefined> {
  const found = await look(context, id);
  if (found === undefined || isOutcome(found)) return found;
  const verdict = context.calls.prove(found.tags);
  if (!verdict.owned) return notOwned(id, verdict);
  const { name, off } = PROTECTIONS[protection];
  const answer = await change(
    context,
    'ec2:ModifyInstanceAttribute',
    new ModifyInstanceAttributeCommand({ InstanceId: id, ...off }),
  );
  return answer.means === 'done' || answer.means === 'gone'
    ? undefined
    : failed(`lifting the ${name} of ${id}`, answer);
}
