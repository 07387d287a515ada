/*
 * Deletes a DNS record from a PowerDNS server, by its HTTP API. The record says whom it belongs to in its comments, one
 * `<key>=<value>` each: the rule's ownership tags have to be among them, and `finalizer-bridge.dev/keep=` keeps it.
 *
 * Safe to call any number of times: a record that is not there is gone. Ownership is read directly before the delete.
 * A zone that is not there is refused, not gone: it more likely is the wrong server than a zone that somebody deleted.
 */
import { defineHandler, gone, refused, ServiceError } from 'finalizer-bridge/functions';
import * as z from 'zod/mini';

/** An absolute domain name in lower case, with the dot at its end, as the API has them. */
const domain = z.string().check(z.regex(/^([a-z0-9_*]([-a-z0-9_]*[a-z0-9_])?\.)+$/, 'is not an absolute domain name'));

/** Said by the function's configuration, out of reach of everyone in a cluster. */
const settingsSchema = z.strictObject({ url: z.url(), secret: z.string().check(z.minLength(1)) });

const zoneSchema = z.object({
  rrsets: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      comments: z._default(z.array(z.object({ content: z.string() })), []),
    }),
  ),
});

interface Server {
  readonly url: string;
  readonly secret: string;
}

async function send(server: Server, path: string, request: RequestInit): Promise<Response> {
  const headers = { 'x-api-key': server.secret, 'content-type': 'application/json' };
  // A redirect would carry the key elsewhere.
  const answer = await fetch(new URL(path, server.url), { ...request, headers, redirect: 'error' });
  if (answer.ok) return answer;
  const code = answer.status === 404 ? 'NotFound' : `Http${answer.status}`;
  throw new ServiceError({ code, status: answer.status, message: (await answer.text()).slice(0, 500) });
}

function pathOf(zone: string): string {
  return `/api/v1/servers/localhost/zones/${encodeURIComponent(zone)}`;
}

/** `<key>=<value>` of each comment that is one. */
function tagsOf(comments: readonly { readonly content: string }[]): ReadonlyMap<string, string> {
  return new Map(
    comments.flatMap(({ content }) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(content) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value] as const];
    }),
  );
}

export const dnsRecord = defineHandler({
  name: 'dns-record',
  version: '0.1.0',
  target: z
    .strictObject({ zone: domain, name: domain, type: z.enum(['A', 'AAAA', 'CNAME', 'TXT']) })
    .check(z.refine(({ zone, name }) => name === zone || name.endsWith(`.${zone}`), 'name: is not in the zone')),
  options: z.strictObject({}),
  settings: settingsSchema,
  // An API outside AWS needs no right of the role.
  permissions: [],
  errors: {
    'dns:GetZone': { NotFound: { means: 'refused', reason: 'NoSuchZone' } },
    'dns:PatchZone': { NotFound: { means: 'refused', reason: 'NoSuchZone' } },
  },
  identity: ({ name }) => ({ names: [name], place: 'outside' }),
  service: 'dns',
  // On a local system the endpoint stands for the server; deployed there is none, and the settings say where it is.
  connect: ({ endpoint }) => ({ endpoint }),
  async teardown({ target: { zone, name, type }, calls, client, region, settings }) {
    const { url, secret } = settings(settingsSchema);
    const server = { url: client(region).endpoint ?? url, secret };
    const found = await calls.look('dns:GetZone', async ({ abortSignal: signal }) => {
      const query = new URLSearchParams({ rrset_name: name, rrset_type: type });
      return zoneSchema.parse(await (await send(server, `${pathOf(zone)}?${query}`, { signal })).json());
    });
    if (found.means !== 'done') return refused({ reason: found.reason, message: `looking for ${name}: ${found.code}` });
    const record = found.value.rrsets.find((one) => one.name === name && one.type === type);
    if (record === undefined) return gone('absent');
    const proof = calls.prove(tagsOf(record.comments));
    if (!proof.owned) return refused({ reason: proof.reason, message: `${name}: ${proof.message}` });
    const deleted = await calls.destroy('dns:PatchZone', ({ abortSignal: signal }) => {
      const body = JSON.stringify({ rrsets: [{ name, type, changetype: 'DELETE' }] });
      return send(server, pathOf(zone), { method: 'PATCH', body, signal });
    });
    if (deleted.means === 'done') return gone('deleted');
    return refused({ reason: deleted.reason, message: `deleting ${name}: ${deleted.code}` });
  },
});
