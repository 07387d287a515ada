/*
 * Rules that wait for each other's entries: who waits for whom, and whether that goes in a circle, in which no deletion
 * would ever begin. Asked by rule-judge.ts over the rules as the API server has them, and by rules.ts over a file.
 * Of every circle the youngest rule is refused: told by the rules alone, so a restart or a second bridge says the same.
 */
import * as z from 'zod/mini';
import { rulesHolding } from './finalizer.ts';
import type { KindRef, KubeObject } from './ports.ts';

/** What of a rule decides whether it waits in a circle. */
export interface Waiter {
  readonly name: string;
  readonly uid: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** Only entries of rules for one kind can stand on one object, in whatever version it is read. */
  readonly kind: Pick<KindRef, 'group' | 'resource'>;
  /** Names of the rules whose entries it waits for. */
  readonly waitsFor: readonly string[];
}

/** How a rule waits for others. */
export interface Waits {
  /** The rules of a circle in which the rule is the youngest, each waiting for the next; begins and ends with the rule. */
  readonly circle: readonly string[] | undefined;
  /** Younger rules that stand in a circle with it: it is theirs to be refused. */
  readonly younger: readonly string[];
  /** What it waits for that is no rule for this kind: nothing is waited for in its place. */
  readonly strangers: readonly string[];
}

const written = z.looseObject({
  spec: z.looseObject({
    match: z.object({ group: z.string(), resource: z.string() }),
    waitFor: z.optional(z.looseObject({ finalizers: z.array(z.string()) })),
  }),
});

/** The waiter that a rule is, also one that is not accepted; undefined when it cannot be read. */
export function waiterOf(object: KubeObject): Waiter | undefined {
  const parsed = written.safeParse(object);
  if (!parsed.success) return undefined;
  const { name, uid, creationTimestamp } = object.metadata;
  const { match, waitFor } = parsed.data.spec;
  const waitsFor = rulesHolding({ finalizers: waitFor?.finalizers });
  return { name, uid, createdAt: Date.parse(creationTimestamp), kind: match, waitsFor };
}

/** The rules that a rule waits for, and what these wait for in turn; each is read once. Rejects as `read` does. */
export async function rulesReached(
  start: Waiter,
  read: (name: string) => Promise<Waiter | undefined>,
): Promise<readonly Waiter[]> {
  const met = new Map<string, Waiter | undefined>([[start.name, start]]);
  const open = [...start.waitsFor];
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    if (met.has(name)) continue;
    const waiter = await read(name);
    met.set(name, waiter);
    if (waiter !== undefined && isSameKind(waiter, start)) for (const next of waiter.waitsFor) open.push(next);
  }
  return [...met.values()].filter((waiter) => waiter !== undefined);
}

/** How a rule waits for others among some rules, itself included. */
export function waitsAmong(rules: readonly Waiter[], start: Waiter): Waits {
  const others = rules.filter((other) => other.name !== start.name && isSameKind(other, start));
  const older = others.filter((other) => isOlder(other, start));
  const younger = others.filter((other) => isOlder(start, other));
  const isCircular = circleIn([start, ...others], start) !== undefined;
  return {
    circle: circleIn([start, ...older], start),
    younger: isCircular ? younger.map(({ name }) => name) : [],
    strangers: start.waitsFor.filter((name) => name !== start.name && !others.some((other) => other.name === name)),
  };
}

/** The shortest way from a rule to itself; undefined when there is none. */
function circleIn(rules: readonly Waiter[], start: Waiter): readonly string[] | undefined {
  const byName = new Map(rules.map((rule) => [rule.name, rule]));
  const reached = new Set<string>();
  const ways: (readonly [way: readonly string[], at: Waiter])[] = [[[start.name], start]];
  for (let next = ways.shift(); next !== undefined; next = ways.shift()) {
    const [way, { waitsFor }] = next;
    for (const name of waitsFor) {
      const waiter = byName.get(name);
      if (waiter === undefined || reached.has(name)) continue;
      if (waiter === start) return [...way, name];
      reached.add(name);
      ways.push([[...way, name], waiter]);
    }
  }
  return undefined;
}

function isOlder(left: Waiter, right: Waiter): boolean {
  return left.createdAt === right.createdAt ? left.uid < right.uid : left.createdAt < right.createdAt;
}

function isSameKind({ kind: left }: Waiter, { kind: right }: Waiter): boolean {
  return left.group === right.group && left.resource === right.resource;
}
