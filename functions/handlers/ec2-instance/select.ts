/*
 * Which instances a target means: the one that it names, or those that carry its tags. Called by ec2-instance.ts at the
 * beginning of a run. Tags only choose; what is chosen still has to prove its owner, each for itself.
 */
import type { Outcome } from '../../../bridge/contract.ts';
import { isOutcome } from '../../ec2.ts';
import { refused } from '../../handler.ts';
import { notFoundYet } from '../../not-found-yet.ts';
import { type Context, type Found, idsWithTags, type Known, look, splitTag } from './instance.ts';

/** An object that has more instances than this has some that are not its own. */
const INSTANCES_MAX = 20;

/** The instances that are known, in any state; an outcome if they cannot be told. */
export async function select(context: Context): Promise<readonly Known[] | Outcome> {
  const { instanceId, tags = [] } = context.target;
  if (instanceId !== undefined) return knownOf(await look(context, instanceId));
  if ('none' in context.ownership) {
    const message =
      'a choice by tags needs tags as the proof of ownership, otherwise it takes down whatever carries them';
    return refused({ reason: 'OwnershipNeeded', message });
  }
  const ids = await idsWithTags(context, tags);
  if (!isList(ids)) return ids;
  if (ids.length > INSTANCES_MAX) {
    const message = `the tags select more than ${INSTANCES_MAX} instances; make them name those of the object only`;
    return refused({ reason: 'TooManyInstances', message });
  }
  const chosen: Known[] = [];
  for (const id of ids) {
    const found = knownOf(await look(context, id));
    if (!isList(found)) return found;
    // What EC2's index found may have other tags by now.
    chosen.push(...found.filter((one) => tags.every((tag) => carries(one, tag))));
  }
  return chosen;
}

/**
 * Whether tags select an instance beside those that were found, which EC2's index shows a while late: a terminated one, which it
 * shows for an hour, must not hide the one that was launched in its place just before the deletion (C15).
 */
export async function selectsMore(context: Context, found: readonly Known[]): Promise<boolean | Outcome> {
  const { tags } = context.target;
  if (tags === undefined) return false;
  const early = notFoundYet(context, `another instance with the tags ${tags.join(', ')}`);
  if (early !== undefined) return early;
  const again = await select(context);
  if (!isList(again)) return again;
  const known = new Set(found.map(({ id }) => id));
  return again.some(({ id }) => !known.has(id));
}

function carries({ tags }: Known, tag: string): boolean {
  const [key, value] = splitTag(tag);
  return tags.get(key) === value;
}

function knownOf(found: Found): readonly Known[] | Outcome {
  if (isOutcome(found)) return found;
  return found === undefined ? [] : [found];
}

function isList<T>(value: readonly T[] | Outcome): value is readonly T[] {
  return Array.isArray(value);
}
