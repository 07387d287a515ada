/*
 * Which kinds the API server serves, and which of them a person means by a word, as kubectl takes it: plural, singular,
 * short name or Kind, with or without version and group. Discovery in one call where the server has it aggregated.
 */
import * as z from 'zod/mini';
import { type Call, decoded, type Http, refusal } from '../cluster-http.ts';
import type { KindRef } from '../ports.ts';

/** A kind as it is served, in its preferred version. */
export interface ServedKind extends KindRef {
  readonly kind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  readonly listable: boolean;
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
      versions: z.array(z.object({ version: z.string(), resources: z.optional(z.array(resourceEntry)) })),
    }),
  ),
});
const groupList = z.object({
  groups: z.array(z.object({ name: z.string(), preferredVersion: z.optional(z.object({ version: z.string() })) })),
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
  return { kinds: () => (asked ??= discover(http)) };
}

async function discover(http: Http): Promise<readonly ServedKind[]> {
  const [core, groups] = await Promise.all([ask(http, '/api'), ask(http, '/apis')]);
  const [coreKinds, groupKinds] = await Promise.all([
    aggregatedKinds(core) ?? legacyKinds(http, { group: '', version: 'v1' }),
    aggregatedKinds(groups) ?? legacyGroups(http, groups),
  ]);
  return [...coreKinds, ...groupKinds];
}

async function ask(http: Http, path: string): Promise<unknown> {
  const call: Call = { method: 'GET', path, accept: `${AGGREGATED},application/json`, doing: `discovering ${path}` };
  const answer = await http.ask(call);
  if (answer.status !== 200) throw refusal(call, answer);
  return decoded(call, answer, (body) => body);
}

function aggregatedKinds(body: unknown): readonly ServedKind[] | undefined {
  const parsed = aggregated.safeParse(body);
  if (!parsed.success) return undefined;
  return parsed.data.items.flatMap(({ metadata, versions }) => {
    const seen = new Set<string>();
    // Versions come in the order of preference; a resource counts in the first that has it.
    return versions.flatMap(({ version, resources = [] }) =>
      resources.flatMap(
        ({ resource, responseKind, scope, singularResource, shortNames = [], verbs = [] }): ServedKind[] => {
          if (seen.has(resource)) return [];
          seen.add(resource);
          const names = { kind: responseKind?.kind ?? '', singular: singularResource ?? '', shortNames };
          return [
            {
              group: metadata.name ?? '',
              version,
              resource,
              ...names,
              namespaced: scope === 'Namespaced',
              listable: verbs.includes('list'),
            },
          ];
        },
      ),
    );
  });
}

async function legacyGroups(http: Http, body: unknown): Promise<readonly ServedKind[]> {
  const { groups } = groupList.parse(body);
  const preferred = groups.flatMap(({ name, preferredVersion }) =>
    preferredVersion === undefined ? [] : [{ group: name, version: preferredVersion.version }],
  );
  return (await Promise.all(preferred.map((one) => legacyKinds(http, one)))).flat();
}

async function legacyKinds(http: Http, { group, version }: Omit<KindRef, 'resource'>): Promise<readonly ServedKind[]> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const call: Call = { method: 'GET', path, doing: `discovering ${path}` };
  const answer = await http.ask(call);
  // A group whose own server is away is not there to be named; the others are.
  if (answer.status === 404 || answer.status === 503) return [];
  if (answer.status !== 200) throw refusal(call, answer);
  const { resources } = decoded(call, answer, (text) => resourceList.parse(text));
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, singularName = '', shortNames = [], verbs = [] }) => ({
      ...{ group, version, resource: name, kind, namespaced, shortNames },
      ...{ singular: singularName, listable: verbs.includes('list') },
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
