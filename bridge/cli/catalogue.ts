/*
 * Which kinds the API server serves, and which of them a person means by a word, as kubectl takes it: plural, singular,
 * short name or Kind, with or without version and group. Discovery in one call where the server has it aggregated.
 */
import * as z from 'zod/mini';
import { type Call, decoded, type Http, refusal } from '../cluster-http.ts';
import { ApiError, type KindRef } from '../ports.ts';

/** A kind as it is served, in its preferred version. */
export interface ServedKind extends KindRef {
  readonly kind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** Its objects can be found and written to, so they may carry entries: it serves `list` and `patch`. */
  readonly holdable: boolean;
}

/** All that is served, and the groups whose own server does not answer: nobody can tell what is in them. */
export interface Discovery {
  readonly kinds: readonly ServedKind[];
  readonly unreachable: readonly string[];
}

/** What is served. Throws ApiError. */
export interface Catalogue {
  kinds(): Promise<readonly ServedKind[]>;
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const resourceEntry = z.object({
  resource: z.string(),
  responseKind: z.optional(z.object({ kind: z.optional(z.string()) })),
  scope: z.string(),
  singularResource: z.optional(z.string()),
  shortNames: z.optional(z.array(z.string())),
  verbs: z.optional(z.array(z.string())),
});
const aggregated = z.object({
  kind: z.literal('APIGroupDiscoveryList'),
  items: z.array(
    z.object({
      metadata: z.object({ name: z.optional(z.string()) }),
      versions: z.array(
        z.object({
          version: z.string(),
          resources: z.optional(z.array(resourceEntry)),
          freshness: z.optional(z.string()),
        }),
      ),
    }),
  ),
});
const groupList = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      versions: z.array(z.object({ version: z.string() })),
      preferredVersion: z.optional(z.object({ version: z.string() })),
    }),
  ),
});
const resourceList = z.object({
  resources: z.array(
    z.object({
      name: z.string(),
      kind: z.string(),
      namespaced: z.boolean(),
      singularName: z.optional(z.string()),
      shortNames: z.optional(z.array(z.string())),
      verbs: z.optional(z.array(z.string())),
    }),
  ),
});

/** The catalogue of an API server, asked for once. */
export function createCatalogue(http: Http): Catalogue {
  let asked: Promise<readonly ServedKind[]> | undefined;
  return { kinds: () => (asked ??= discover(http).then(({ kinds }) => kinds)) };
}

/** Asks anew. Throws ApiError. */
export async function discover(http: Http): Promise<Discovery> {
  const [core, groups] = await Promise.all([ask(http, '/api'), ask(http, '/apis')]);
  const [coreKinds, groupKinds] = await Promise.all([
    aggregatedKinds(core) ?? legacyGroup(http, '', ['v1']),
    aggregatedKinds(groups) ?? legacyGroups(http, groups),
  ]);
  return joined([coreKinds, groupKinds]);
}

async function ask(http: Http, path: string): Promise<unknown> {
  const call: Call = { method: 'GET', path, accept: `${AGGREGATED},application/json`, doing: `discovering ${path}` };
  const answer = await http.ask(call);
  if (answer.status !== 200) throw refusal(call, answer);
  return decoded(call, answer, (body) => body);
}

function joined(parts: readonly Discovery[]): Discovery {
  return {
    kinds: parts.flatMap(({ kinds }) => kinds),
    unreachable: parts.flatMap(({ unreachable }) => unreachable),
  };
}

function aggregatedKinds(body: unknown): Discovery | undefined {
  const parsed = aggregated.safeParse(body);
  if (!parsed.success) return undefined;
  const groups = parsed.data.items.map(({ metadata: { name: group = '' }, versions }): Discovery => {
    const kinds = versions.flatMap(({ version, resources = [] }) =>
      resources.map(({ resource, responseKind, scope, singularResource, shortNames = [], verbs = [] }): ServedKind => {
        const names = { kind: responseKind?.kind ?? '', singular: singularResource ?? '', shortNames };
        const holdable = isHoldable(verbs);
        return { group, version, resource, ...names, namespaced: scope === 'Namespaced', holdable };
      }),
    );
    const isAway = versions.some(({ freshness, resources = [] }) => freshness === 'Stale' && resources.length === 0);
    return { kinds: firstOfEach(kinds), unreachable: isAway ? [group] : [] };
  });
  return joined(groups);
}

function isHoldable(verbs: readonly string[]): boolean {
  return verbs.includes('list') && verbs.includes('patch');
}

/** Versions come in the order of preference; a resource counts in the first that has it. */
function firstOfEach(kinds: readonly ServedKind[]): readonly ServedKind[] {
  const seen = new Set<string>();
  return kinds.filter(({ resource }) => !seen.has(resource) && seen.add(resource));
}

async function legacyGroups(http: Http, body: unknown): Promise<Discovery> {
  const parsed = groupList.safeParse(body);
  if (!parsed.success)
    throw new ApiError('discovering /apis', 200, { cause: parsed.error, body: JSON.stringify(body) });
  const { groups } = parsed.data;
  const asked = groups.map(({ name, versions, preferredVersion }) => {
    const all = versions.map(({ version }) => version);
    return legacyGroup(http, name, [...new Set([preferredVersion?.version ?? all[0] ?? '', ...all])]);
  });
  return joined(await Promise.all(asked));
}

async function legacyGroup(http: Http, group: string, versions: readonly string[]): Promise<Discovery> {
  const answers = await Promise.all(versions.map((version) => legacyKinds(http, { group, version })));
  return {
    kinds: firstOfEach(answers.flatMap((kinds) => kinds ?? [])),
    unreachable: answers.includes(undefined) ? [group] : [],
  };
}

/** undefined: the group's own server is away; the others can be named. */
async function legacyKinds(
  http: Http,
  { group, version }: Omit<KindRef, 'resource'>,
): Promise<readonly ServedKind[] | undefined> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const call: Call = { method: 'GET', path, doing: `discovering ${path}` };
  const answer = await http.ask(call);
  if (answer.status === 404) return [];
  if (answer.status === 503) return undefined;
  if (answer.status !== 200) throw refusal(call, answer);
  const { resources } = decoded(call, answer, (text) => resourceList.parse(text));
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, singularName = '', shortNames = [], verbs = [] }) => ({
      ...{ group, version, resource: name, kind, namespaced, shortNames },
      ...{ singular: singularName, holdable: isHoldable(verbs) },
    }));
}

/** The kind that a word means; undefined when none is served. Of several groups the first counts, as for kubectl. */
export function kindNamed(kinds: readonly ServedKind[], word: string): ServedKind | undefined {
  const [name = '', ...rest] = word.toLowerCase().split('.');
  if (name === '') return undefined;
  const suffix = rest.join('.');
  const candidates = kinds.filter((kind) => isOfSuffix(kind, suffix));
  const readings: readonly ((kind: ServedKind) => readonly string[])[] = [
    ({ resource }) => [resource],
    ({ singular }) => [singular],
    ({ shortNames }) => shortNames,
    ({ kind }) => [kind.toLowerCase()],
  ];
  for (const reading of readings) {
    const found = candidates.find((kind) => reading(kind).includes(name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `group`, `version.group`, or nothing. As kubectl, a group may be cut short at a dot. */
function isOfSuffix({ group, version }: ServedKind, suffix: string): boolean {
  const isGroup = (text: string) => text === group || group.startsWith(`${text}.`);
  if (suffix === '' || isGroup(suffix)) return true;
  return suffix === version || (suffix.startsWith(`${version}.`) && isGroup(suffix.slice(version.length + 1)));
}
