/*
 * The real Kinds port: discovery and SelfSubjectAccessReview. Plugged in by main.ts, asked by the rule keeper, so that a
 * missing kind or a missing right is seen when a rule is written and not when an object is deleted (K19).
 */
import * as z from 'zod/mini';
import { type Call, decoded, type Http, refusal } from './cluster-http.ts';
import { Schemas } from './cluster-schemas.ts';
import type { KindFacts, KindRef, Kinds, ListedKind, Watched } from './ports.ts';
import { kindPath } from './wire.ts';

const resourceList = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});
const groupVersion = z.object({ version: z.string() });
const apiGroup = z.object({ versions: z.array(groupVersion), preferredVersion: z.optional(groupVersion) });
const review = z.object({ status: z.object({ allowed: z.boolean() }) });
const REVIEWS = { group: 'authorization.k8s.io', version: 'v1', resource: 'selfsubjectaccessreviews' };

/** Creates the port. */
export function createKinds(http: Http): Kinds {
  const schemas = new Schemas(http);
  return {
    schemaOf: (ref, kind, isFresh = false) => schemas.of(ref, kind, isFresh),
    describe: (kind) => describeKind(http, kind),
    find: (kind) => findKind(http, kind),
    isServed: (kind) => isServed(http, kind),
    async lacking(watched, verbs) {
      const allowed = await Promise.all(verbs.map((verb) => isAllowed(http, watched, verb)));
      return verbs.filter((_, index) => !allowed[index]);
    },
  };
}

/** Whether a kind is served in any version: while it is not, no object of it can be there. */
export async function isServed(http: Http, { group, resource }: Pick<KindRef, 'group' | 'resource'>): Promise<boolean> {
  const kinds = (await versionsOf(http, group)).map((version) => describeKind(http, { group, version, resource }));
  return (await Promise.all(kinds)).some((kind) => kind !== undefined);
}

async function findKind(http: Http, { group, resource, version }: ListedKind): Promise<KindRef | undefined> {
  const versions = version === undefined ? await versionsOf(http, group) : [version];
  for (const one of versions) {
    const kind = { group, version: one, resource };
    if ((await describeKind(http, kind)) !== undefined) return kind;
  }
  return undefined;
}

/** The versions of a group that are served, the preferred one first; none when the group is not. */
async function versionsOf(http: Http, group: string): Promise<readonly string[]> {
  if (group === '') return ['v1'];
  const call: Call = { method: 'GET', path: `/apis/${group}`, doing: `discovering ${group}` };
  const answer = await http.ask(call);
  if (answer.status === 404) return [];
  if (answer.status !== 200) throw refusal(call, answer);
  const { versions, preferredVersion } = decoded(call, answer, (body) => apiGroup.parse(body));
  const served = versions.map(({ version }) => version);
  return preferredVersion === undefined ? served : [...new Set([preferredVersion.version, ...served])];
}

async function describeKind(http: Http, { group, version, resource }: KindRef): Promise<KindFacts | undefined> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const call: Call = { method: 'GET', path, doing: `discovering ${group}/${version}` };
  const answer = await http.ask(call);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw refusal(call, answer);
  const { resources } = decoded(call, answer, (body) => resourceList.parse(body));
  return resources.find(({ name }) => name === resource);
}

async function isAllowed(http: Http, { group, resource, namespace, name }: Watched, verb: string): Promise<boolean> {
  const spec = { resourceAttributes: { group, resource, namespace, name, verb } };
  const call: Call = {
    method: 'POST',
    path: kindPath(REVIEWS),
    contentType: 'application/json',
    body: JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }),
    doing: `asking whether ${verb} on ${resource} is allowed`,
  };
  const answer = await http.ask(call);
  if (answer.status !== 201) throw refusal(call, answer);
  return decoded(call, answer, (body) => review.parse(body)).status.allowed;
}
