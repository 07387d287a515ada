/*
 * What draining asks of the API server, over HTTP.
 * Made by connect.ts, with the caller's own rights; api.ts says what each call is for.
 */
import { type Call, type Http, refusal } from '../../cluster-http.ts';
import type { ObjectPath } from '../../ports.ts';
import { apiPath } from '../../wire.ts';
import { discover } from '../catalogue.ts';
import type { DrainApi } from './api.ts';

/** The object is not there any more, or another one is, or it is being changed: the next look tells. */
const SETTLED: ReadonlySet<number> = new Set([200, 202, 404, 409]);

/** Creates the port. */
export function createDrainApi(http: Http): DrainApi {
  return {
    discover: () => discover(http),
    remove: (path, uid) => remove(http, path, uid),
    serverTime: () => serverTime(http),
  };
}

async function remove(http: Http, path: ObjectPath, uid: string): Promise<void> {
  const call: Call = {
    method: 'DELETE',
    path: apiPath(path),
    contentType: 'application/json',
    body: JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } }),
    doing: `deleting ${path.resource}/${path.name}`,
  };
  const answer = await http.ask(call);
  if (!SETTLED.has(answer.status)) throw refusal(call, answer);
}

async function serverTime(http: Http): Promise<number> {
  const call: Call = { method: 'GET', path: '/version', doing: "asking for the API server's time" };
  const answer = await http.ask(call);
  const time = Date.parse(String(answer.headers.date ?? ''));
  if (Number.isNaN(time)) throw refusal(call, answer);
  return time;
}
