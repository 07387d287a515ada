/*
 * The TeardownRules as draining sees them: read whole, deleted, let go. A rule kind that is gone has no rules; one that is
 * going (CRD first, K26) still has those that hold themselves, and they are let go as any other. Called by run.ts.
 */
import { removeEntry } from '../../finalizer.ts';
import { listAll } from '../../listing.ts';
import type { KindRef, KubeObject, PatchOutcome } from '../../ports.ts';
import { ApiError } from '../../ports.ts';
import type { Rule } from '../../rule.ts';
import { ruleFromObject } from '../../rules.ts';
import { matchOf, rulePath, statusOf, TEARDOWN_RULES, WITHDRAWAL_FINALIZER } from '../../teardown-rules.ts';
import type { DrainWorld } from './api.ts';

/** A rule as it is now. */
export interface RuleSight {
  readonly name: string;
  readonly uid: string;
  readonly object: KubeObject;
  readonly isDeleting: boolean;
  /** What it selects; undefined when not even that can be read. */
  readonly match: KindRef | undefined;
  /** The whole rule, where its spec can be read. */
  readonly rule: Rule | undefined;
  /** What the bridge says about the withdrawal. */
  readonly blocked: { readonly reason: string; readonly message: string } | undefined;
}

/** All rules by name. Throws ApiError; also where they may not be listed, since then nothing is known. */
export async function readRules({ cluster, kinds }: DrainWorld): Promise<ReadonlyMap<string, RuleSight>> {
  const names: string[] = [];
  const listed = await listAll(cluster, TEARDOWN_RULES, ({ name }) => void names.push(name));
  if (listed === 'forbidden') throw new ApiError('listing teardownrules', 403);
  if (listed === 'unserved' && (await kinds.isServed(TEARDOWN_RULES))) {
    throw new ApiError('listing teardownrules: they are served in another version only', 404);
  }
  const objects = await Promise.all(names.map((name) => cluster.get(rulePath(name))));
  return new Map(objects.flatMap((object) => (object === undefined ? [] : [[object.metadata.name, sightOf(object)]])));
}

function sightOf(object: KubeObject): RuleSight {
  const { name, uid, deletionTimestamp } = object.metadata;
  const parsed = ruleFromObject(object);
  const blocked = statusOf(object).conditions?.find(({ type }) => type === 'WithdrawalBlocked');
  return {
    ...{ name, uid, object, isDeleting: deletionTimestamp !== undefined },
    match: readMatch(object),
    rule: parsed.ok ? parsed.rule : undefined,
    blocked: blocked === undefined ? undefined : { reason: blocked.reason, message: blocked.message },
  };
}

function readMatch(object: KubeObject): KindRef | undefined {
  try {
    return matchOf(object);
  } catch {
    return undefined;
  }
}

/** Deletes a live rule: injection stops at once, since the policy leaves out what is being deleted. */
export async function deleteRule({ remove }: DrainWorld, { name, uid }: RuleSight): Promise<void> {
  await remove(rulePath(name), uid);
}

/** Takes our own finalizer off a rule that is being deleted, on the object as it is now. */
export async function letGo({ cluster }: DrainWorld, { name, uid }: RuleSight): Promise<PatchOutcome['kind']> {
  const object = await cluster.get(rulePath(name));
  if (object === undefined || object.metadata.uid !== uid) return 'missing';
  const operations = removeEntry(object.metadata, WITHDRAWAL_FINALIZER);
  return operations === undefined ? 'conflict' : (await cluster.patch(rulePath(name), operations)).kind;
}
