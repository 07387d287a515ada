/*
 * Writes into a rule's status where its entries may be, before any is put on (P5, P9): the namespaces that are served and there.
 * Called by rule-places.ts, rule-taking.ts and unjudged.ts; what the list means stands in rule-namespaces.ts.
 */
import { atOnce } from './at-once.ts';
import type { Contests } from './contests.ts';
import { stateOfNamespace } from './namespace-existence.ts';
import type { Cluster, KubeObject } from './ports.ts';
import { ANYWHERE, knownNamespaces } from './rule-namespaces.ts';
import type { Served } from './served.ts';
import { overStatus, rulePath, statusOf } from './teardown-rules.ts';

/** How many namespaces are asked for at once: a new rule has up to 256 of them. */
const AT_ONCE = 10;

/** The namespaces that a status may be written with. */
export interface Noting {
  readonly served: Served;
  /** Those that were found empty. */
  readonly emptied: readonly string[];
  /** Those in which nothing new can be made: named while they are not found empty, and not anew. */
  readonly going?: readonly string[];
}

/** The namespaces that the status names, and those that it is to name before an entry is put on. */
async function namespacesOf(
  cluster: Pick<Cluster, 'get'>,
  object: KubeObject,
  { served, emptied, going = [] }: Noting,
): Promise<readonly string[]> {
  const { namespaces = [ANYWHERE] } = served;
  const known = knownNamespaces(object);
  const fresh = namespaces.filter((namespace) => ![...known, ...going, ...emptied].includes(namespace));
  return [...new Set([...known, ...(await standing(cluster, fresh))])].sort();
}

/**
 * Those in which something new can be made, asked for themselves before each is named: rights are believed for a while, and a rule
 * is judged every few seconds only, so one that was just found empty and went would be named anew, for good once it is not served
 * any more (P4).
 */
async function standing(cluster: Pick<Cluster, 'get'>, namespaces: readonly string[]): Promise<readonly string[]> {
  const there: string[] = [];
  await atOnce(AT_ONCE, namespaces, async (name) => {
    if (name === ANYWHERE || (await stateOfNamespace(cluster, name)) === 'there') there.push(name);
  });
  return there;
}

/** What noting needs. */
export interface NotingOptions {
  readonly cluster: Pick<Cluster, 'get' | 'patch'>;
  /** By rule, how often another process has named again what was found empty. */
  readonly contests: Contests;
}

/**
 * Writes the namespaces that are served now and there, and none that were found empty; the rule as it is then. Where the whole
 * cluster is served only over a list that says otherwise, since having none says the same. Throws when it has changed.
 *
 * Two that both lead and serve other namespaces, or judge the kind's scope differently, see each other's writes. What one of them
 * needs is named at once, as nothing gets its entry before (P5); what the other needs no more goes ever less often.
 */
export async function noteNamespaces(
  { cluster, contests }: NotingOptions,
  object: KubeObject,
  noting: Noting,
): Promise<KubeObject> {
  const status = statusOf(object);
  if (noting.served.namespaces === undefined && status.namespaces === undefined) return object;
  const { name, uid } = object.metadata;
  const all = await namespacesOf(cluster, object, noting);
  const fewer = all.filter((namespace) => !noting.emptied.includes(namespace));
  const contest = { key: `${uid} namespaces`, change: JSON.stringify(fewer) };
  const isLeft = fewer.length < all.length && contests.waitFor(contest.key, contest.change) === 0;
  const wanted = isLeft ? fewer : all;
  if (JSON.stringify(status.namespaces) === JSON.stringify(wanted)) return object;
  const value = { ...status, namespaces: wanted };
  const outcome = await cluster.patch(rulePath(name), overStatus(object.metadata, value), 'status');
  if (outcome.kind === 'conflict') throw new Error(`noting the namespaces of rule ${name}: it has changed`);
  if (outcome.kind === 'missing') return object;
  if (isLeft) contests.wrote(contest.key, contest.change);
  return { ...object, metadata: { ...object.metadata, ...outcome.meta }, status: value };
}
