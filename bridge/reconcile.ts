/*
 * One run over one pending deletion: read the object (once), decide, act. Called by the work queue; every run starts from
 * the object as it is, so a run can be repeated, cut short by a crash, or raced by another leader without harm.
 * Acting on a decision is split over removal.ts, publishing.ts and standing.ts.
 */
import { hearWords } from './audit.ts';
import { type Decision, decide } from './decide.ts';
import { entryOf, hasEntry } from './finalizer.ts';
import { factsOf, observe, recall } from './observe.ts';
import { advance, type Facts, type Pending, type Settle } from './pending.ts';
import { ApiError, type KubeObject } from './ports.ts';
import { publish } from './publishing.ts';
import { finish, remove } from './removal.ts';
import type { Rule } from './rule.ts';
import { nameOf, pathOf, type Reach, type Run, ruleSeen, type Step } from './run.ts';
import { stand } from './standing.ts';
import { trimmed } from './wire.ts';

const ROUNDS_MAX = 6;
const UNKNOWN_AGAIN_MS = 1_000;
const TROUBLE_AGAIN_MS = 10_000;
/**
 * Usually something tells when the version is served again: its watch, or its rule, which is judged anew. Nothing does where that
 * was so for a moment, as while one of several API servers knew no better: so the first looks come sooner, each twice as late.
 */
const OTHER_VERSION_AGAIN = { least: 30_000, most: 10 * 60_000 };

/**
 * Runs over one pending deletion.
 * @returns when to look again, in ms since the epoch.
 * @throws ApiError and others: to be tried again with back-off; results in hand stay in their queue.
 */
export async function reconcile(reach: Reach, key: string): Promise<number | undefined> {
  const pending = reach.pendings.get(key);
  if (pending === undefined) return undefined;
  // Only results that this run has seen before deciding may be acknowledged by it.
  const taken: Settle[] = [];
  try {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const step = await runOnce(reach, pending, taken);
      if (step.kind === 'again') continue;
      for (const settle of taken) settle(true);
      return step.wakeAt;
    }
    throw new Error(`settling ${nameOf(pending)}: it keeps changing under ${ROUNDS_MAX} looks`);
  } catch (error) {
    for (const settle of taken) settle(false);
    throw error;
  }
}

async function runOnce(reach: Reach, pending: Pending, taken: Settle[]): Promise<Step> {
  const rule = reach.ruleOf(pending.rule, pending.kind);
  // While the rules are still being read, one that has not been seen is not one that is not there.
  const isUnknown = rule === undefined && !reach.areRulesKnown();
  const trouble = isUnknown ? reach.rulesTrouble() : undefined;
  if (isUnknown && trouble === undefined) return { kind: 'done', wakeAt: reach.clock.now() + UNKNOWN_AGAIN_MS };
  const facts = currentFacts(pending, rule) ?? (await read(reach, pending, rule));
  if (facts === undefined) return { kind: 'done' };
  const seen = ruleSeen(pending, rule);
  // The watch was faster than the GET: what was read is not what is there.
  if (currentFacts(pending, seen) === undefined) return { kind: 'again' };
  recall(pending, seen, reach.clock.now());
  // What is written without the rule does not name what a result was about: that stays in its queue (trap V10).
  for (const settle of pending.settles.splice(0)) seen === undefined ? settle(false) : taken.push(settle);
  const run: Run = { reach, pending, facts, rule: seen, hasResults: taken.length > 0 };
  hearWords(run);
  const unseen = seen === rule ? undefined : whyUnseen(rule);
  const neverAccepted = trouble ?? unseen ?? reach.whyNotAccepted(pending.rule, pending.kind);
  const decision = decide(observe(pending, facts, { rule: seen, neverAccepted }), reach.clock.now());
  const step = await act(run, decision);
  if (step.kind === 'again') return step;
  // Nothing tells when the rules can be read again, or a version be served.
  if (trouble !== undefined) return { kind: 'done', wakeAt: reach.clock.now() + TROUBLE_AGAIN_MS };
  if (unseen === undefined) return step;
  const now = reach.clock.now();
  const { least, most } = OTHER_VERSION_AGAIN;
  const again = now + Math.min(most, Math.max(least, now - (pending.standing?.since ?? now)));
  return { kind: 'done', wakeAt: Math.min(step.wakeAt ?? again, again) };
}

function whyUnseen(rule: Rule | undefined): string | undefined {
  if (rule === undefined) return undefined;
  const { group, version, resource } = rule.match;
  const name = [resource, version, group].filter((part) => part !== '').join('.');
  return `${name} is not served, and the rule's expressions are for that version: serve it again, or release the entry`;
}

async function act(run: Run, decision: Decision): Promise<Step> {
  if (decision.act !== 'remove') run.pending.removing = undefined;
  switch (decision.act) {
    case 'remove':
      return await remove(run, decision);
    case 'publish':
      return await publish(run, decision);
    case 'hold':
    case 'wait':
      return await stand(run, decision);
    default:
      return decision satisfies never;
  }
}

/** The facts, if they still describe the object, as far as the watch has told, under the rule as it is now. */
function currentFacts({ facts, doubted, meta }: Pending, rule: Rule | undefined): Facts | undefined {
  if (facts === undefined || doubted || facts.rule !== rule) return undefined;
  return facts.object.metadata.resourceVersion === meta.resourceVersion ? facts : undefined;
}

/** Reads the object; undefined when the deletion is over because the object or the entry is gone. */
async function read(reach: Reach, pending: Pending, rule: Rule | undefined): Promise<Facts | undefined> {
  const readAt = reach.clock.monotonic();
  const object = await getOf(reach, pending, rule);
  if (object === undefined || object.metadata.uid !== pending.meta.uid) {
    finish(reach, pending, 'object');
    return undefined;
  }
  advance(pending, trimmed(object.metadata));
  const under = { name: pending.rule, rule: ruleSeen(pending, rule), clusterUid: reach.clusterId.uid };
  pending.facts = factsOf({ object, ...under, readAt });
  if (!hasEntry(object.metadata, entryOf(pending.rule))) {
    finish(reach, pending, 'entry');
    return undefined;
  }
  // Whatever was told of an end: it is not over.
  pending.wasOver = false;
  return pending.facts;
}

/**
 * Reads in the version that the rule names, whichever watch has shown the object; where that is not served, in one that did.
 * A doubt that comes while the GET is under way stands, and one that the GET could not settle comes back.
 */
async function getOf(reach: Reach, pending: Pending, rule: Rule | undefined): Promise<KubeObject | undefined> {
  pending.doubted = false;
  const version = rule?.match.version ?? pending.kind.version;
  try {
    return await getIn(reach, pending, { version, others: pending.shownIn.filter((one) => one !== version) });
  } catch (error) {
    pending.doubted = true;
    throw error;
  }
}

/** Reads in the first of these versions that is served: of those in which it was shown, some may not be any more. */
async function getIn(
  reach: Reach,
  pending: Pending,
  { version, others: [next, ...others] }: { readonly version: string; readonly others: readonly string[] },
): Promise<KubeObject | undefined> {
  pending.kind = { ...pending.kind, version };
  try {
    return await reach.cluster.get(pathOf(pending));
  } catch (error) {
    if (next === undefined || !isUnserved(error)) throw error;
    return await getIn(reach, pending, { version: next, others });
  }
}

/** An object that is not there is no error. */
function isUnserved(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 405);
}
