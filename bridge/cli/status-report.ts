/*
 * Gathers what `status` prints: the rules, and for each of their kinds the objects that carry entries, as far as the caller
 * may list them. Called by status.ts. Metadata only, page by page; nothing is kept of objects without an entry of ours.
 */

import { kindName } from '../kind-key.ts';
import { stateOfNamespace } from '../namespace-existence.ts';
import type { KindRef } from '../ports.ts';
import { isRefusedKind } from '../rule-facts.ts';
import { TEARDOWN_RULES } from '../teardown-rules.ts';
import { type Carried, type Carriers, carriersOf } from './carriers.ts';
import type { ServedKind } from './catalogue.ts';
import { type Context, Failure } from './command.ts';
import { type LeaderSeen, leaderSeen } from './leader-sight.ts';
import { type Counted, countedFrom, countedStatus } from './rule-counts.ts';
import { isFor, matchSeen, type RuleSeen, readRules } from './rule-sight.ts';
import { timeOf } from './times.ts';

/** What of a condition is told. */
export interface Said {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** One rule of a report. Times are RFC 3339, UTC. */
export interface RuleReport extends Counted {
  readonly name: string;
  readonly kind?: string | undefined;
  readonly handler?: string | undefined;
  readonly deleting: boolean;
  readonly ready: Pick<Said, 'status' | 'reason' | 'message'>;
  readonly conditions: readonly Said[];
}

/** What `status -o json` prints. */
export interface StatusReport {
  readonly asOf: string;
  /** Who leads; left out where that cannot be seen. */
  readonly bridge?: LeaderSeen;
  readonly rules: readonly RuleReport[];
  readonly noRule: readonly NoRuleEntry[];
  readonly notes: readonly string[];
}

/** An object that carries an entry whose rule is not there, or is for another kind. */
export interface NoRuleEntry {
  readonly rule: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly deleting: boolean;
}

/** What is asked for. */
export interface Asked {
  readonly names: readonly string[];
  readonly allKinds: boolean;
}

/** Makes the report. Throws a Failure for a rule, or a namespace, that is not there. */
export async function reportOn(context: Context, { names, allKinds }: Asked): Promise<StatusReport> {
  const all = await readRules(context);
  const known = new Map(all.map((rule) => [rule.object.metadata.name, matchSeen(rule)]));
  for (const name of names) if (!known.has(name)) throw new Failure(`there is no TeardownRule ${name}`);
  const chosen = names.length === 0 ? all : all.filter(({ object }) => names.includes(object.metadata.name));
  const carriers = await carriersOf(context, kindsOf(chosen));
  await checkNamespace(context, carriers);
  const others = allKinds ? await carriersOf(context, await otherKinds(context, carriers)) : [];
  const now = context.clock.now();
  const rules = chosen.map((rule) => reportOf(rule, carriers, now));
  const bridge = await leaderSeen(context);
  return {
    asOf: timeOf(now),
    ...(bridge === undefined ? {} : { bridge }),
    rules,
    noRule: [...carriers, ...others].flatMap(({ carried }) => withoutRule(carried, known)),
    notes: [
      ...rules.flatMap(notesOn),
      ...others.flatMap(({ scope, kind }) => (scope.kind === 'unseen' ? [`${kindName(kind)}: ${scope.why}`] : [])),
    ],
  };
}

/** A name that was misspelt has nothing pending either. */
async function checkNamespace(
  { cluster, namespace, isNamespaceGiven }: Context,
  found: readonly Carriers[],
): Promise<void> {
  if (!isNamespaceGiven || found.some(({ carried }) => carried.some(({ meta }) => meta.namespace === namespace)))
    return;
  if ((await stateOfNamespace(cluster, namespace)) === 'missing')
    throw new Failure(`there is no namespace ${namespace}`);
}

/** Whether there is nothing that a person has to see to. */
export function isClean({ bridge, rules, noRule }: StatusReport): boolean {
  if (bridge !== undefined && bridge.leader === undefined && rules.length > 0) return false;
  return noRule.length === 0 && rules.every(({ ready, held, silent }) => ready.status === 'True' && !held && !silent);
}

function kindsOf(rules: readonly RuleSeen[]) {
  return rules.flatMap((rule) => matchSeen(rule) ?? []);
}

async function otherKinds({ catalogue }: Context, seen: readonly Carriers[]): Promise<readonly ServedKind[]> {
  const names = new Set([TEARDOWN_RULES, ...seen.map(({ kind }) => kind)].map(kindName));
  const kinds = await catalogue.kinds();
  return kinds.filter((kind) => kind.holdable && !isRefusedKind(kind) && !names.has(kindName(kind)));
}

function reportOf(seen: RuleSeen, carriers: readonly Carriers[], now: number): RuleReport {
  const { object, rule, conditions, faults } = seen;
  const { name, deletionTimestamp } = object.metadata;
  const match = matchSeen(seen);
  const kind = match === undefined ? undefined : kindName(match);
  const of = carriers.find((candidate) => kindName(candidate.kind) === kind);
  const ready = conditions.find(({ type }) => type === 'Ready');
  return {
    ...{ name, kind, handler: rule?.handler, deleting: deletionTimestamp !== undefined },
    ready:
      ready === undefined
        ? { status: 'Unknown', reason: 'NotJudged', message: faults[0] ?? 'the bridge has not judged this rule yet' }
        : { status: ready.status, reason: ready.reason, message: ready.message },
    conditions: conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message })),
    ...(of === undefined || of.scope.kind === 'unseen'
      ? countedStatus(object, of?.scope.kind === 'unseen' ? of.scope.why : 'its kind cannot be read from the rule')
      : countedFrom(of, object, now)),
  };
}

/** `known`: what each rule selects, by its name. */
function withoutRule(
  carried: readonly Carried[],
  known: ReadonlyMap<string, KindRef | undefined>,
): readonly NoRuleEntry[] {
  return carried.flatMap(({ kind, meta, rules }) =>
    rules
      .filter((rule) => !(known.has(rule) && isFor(known.get(rule), kind)))
      .map((rule) => ({
        ...{ rule, kind: kindName(kind), namespace: meta.namespace, name: meta.name, uid: meta.uid },
        deleting: meta.deletionTimestamp !== undefined,
      })),
  );
}

function notesOn({ name, ready, counted, silent, deleting, conditions }: RuleReport): readonly string[] {
  const blocked = deleting ? conditions.find(({ type }) => type === 'WithdrawalBlocked') : undefined;
  return [
    ready.status === 'True' ? '' : `${name} is not ready: ${ready.reason}: ${ready.message}`,
    blocked === undefined ? '' : `${name} is being withdrawn: ${blocked.reason}: ${blocked.message}`,
    counted.from === 'status'
      ? `${name}: counts are the bridge's own as of ${counted.asOf ?? 'an unknown time'}; ${counted.why}`
      : '',
    counted.from === 'objects' && counted.namespace !== undefined
      ? `${name}: counted in namespace ${counted.namespace} only`
      : '',
    silent > 0 ? `${name}: the bridge has said nothing about ${silent} pending objects; does it run?` : '',
  ].filter((note) => note !== '');
}
