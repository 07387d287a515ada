/*
 * What the bridge may do for a rule, asked verb by verb: on its kind, and on the labels of namespaces where the rule selects by
 * them; in words for the rule's condition. Called by rule-judge.ts for a rule that is accepted otherwise, and by rule-places.ts
 * before rights from before are given up, whatever was judged.
 */
import { kindName } from './kind-key.ts';
import { type NamespaceState, stateOfNamespace } from './namespace-existence.ts';
import { NAMESPACES } from './namespaces.ts';
import type { Cluster, Kinds, Watched } from './ports.ts';
import type { Rule } from './rule.ts';
import { type Served, watchedOf } from './served.ts';

/** The verbs that the bridge needs on a kind. */
export const VERBS = ['get', 'list', 'watch', 'patch'] as const;

/** The verbs that it needs on namespaces, for a rule that selects by their labels. */
const LABEL_VERBS = ['list', 'watch'] as const;

/** What asking needs. */
export interface RightsOptions {
  readonly kinds: Pick<Kinds, 'lacking'>;
  readonly cluster: Pick<Cluster, 'get'>;
  readonly served: Served;
}

/** What is lacking in all that is served. */
async function lackingFor(
  { kinds, served }: Pick<RightsOptions, 'kinds' | 'served'>,
  rule: Pick<Rule, 'match' | 'matchesNamespace'>,
) {
  const labels: readonly Watched[] = served.namespaces?.map((name) => ({ ...NAMESPACES, name })) ?? [NAMESPACES];
  const onKind = await lackingOn(kinds, watchedOf(served, rule.match), VERBS);
  // Without the labels of namespaces, what a rule with a namespaceSelector wants of an object is never known (P7).
  const onLabels = rule.matchesNamespace === undefined ? [] : await lackingOn(kinds, labels, LABEL_VERBS);
  return { onKind, onLabels };
}

/**
 * Whether the bridge may do all that it has to for a rule in all that is served, asked apart from any judgement: a rule that was
 * refused was not asked about. Throws ApiError.
 */
export async function mayAll(
  options: Pick<RightsOptions, 'kinds' | 'served'>,
  rule: Pick<Rule, 'match' | 'matchesNamespace'>,
): Promise<boolean> {
  const { onKind, onLabels } = await lackingFor(options, rule);
  return onKind.length + onLabels.length === 0;
}

/** What the bridge may do for a rule that is accepted otherwise, and where. Throws ApiError. */
export async function rightsFor(options: RightsOptions, rule: Rule, isNamespaced: boolean) {
  const { served, cluster } = options;
  const { namespaces } = served;
  if (namespaces !== undefined && !isNamespaced) return { isBeyond: true };
  const { onKind, onLabels } = await lackingFor(options, rule);
  const states = new Map<string, NamespaceState>();
  for (const { watched } of onKind) {
    if (watched.namespace !== undefined)
      states.set(watched.namespace, await stateOfNamespace(cluster, watched.namespace));
  }
  const going = (state: NamespaceState) => [...states].flatMap(([name, its]) => (its === state ? name : []));
  const [absent, ending] = [going('missing'), going('ending')];
  const present = onKind.filter(({ watched }) => (states.get(watched.namespace ?? '') ?? 'there') === 'there');
  const lacking = [...present, ...onLabels].map(({ watched }) => watched.namespace ?? watched.name);
  const there = namespaces?.filter((name) => (states.get(name) ?? 'there') === 'there');
  return {
    lacking: [...onKindWords(present), ...onLabelsWords(onLabels)],
    mayNowhere: lacking.length > 0 && (there ?? [undefined]).every((name) => lacking.includes(name)),
    ...{ absent, ending },
  };
}

interface Lacking {
  readonly watched: Watched;
  readonly verbs: string;
}

async function lackingOn(
  kinds: RightsOptions['kinds'],
  all: readonly Watched[],
  verbs: readonly string[],
): Promise<readonly Lacking[]> {
  const found: Lacking[] = [];
  for (const watched of all) {
    const lacking = await kinds.lacking(watched, verbs);
    if (lacking.length > 0) found.push({ watched, verbs: lacking.join(', ') });
  }
  return found;
}

/** `list, patch buckets.example.com`, or that `in namespace a, b`: what is alike is said once. */
function onKindWords(lacking: readonly Lacking[]): readonly string[] {
  return [...Map.groupBy(lacking, ({ verbs }) => verbs)].map(([verbs, of]) => {
    const places = of.flatMap(({ watched }) => watched.namespace ?? []);
    const what = [verbs, ...of.slice(0, 1).map(({ watched }) => kindName(watched))].join(' ');
    return places.length === 0 ? what : `${what} in namespace ${places.join(', ')}`;
  });
}

/** `list, watch namespaces`, or `list, watch namespaces a, b`. */
function onLabelsWords(lacking: readonly Lacking[]): readonly string[] {
  return [...Map.groupBy(lacking, ({ verbs }) => verbs)].map(([verbs, of]) => {
    const names = of.flatMap(({ watched }) => watched.name ?? []).join(', ');
    return `${verbs} namespaces ${names}`.trim();
  });
}
