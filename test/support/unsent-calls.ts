/*
 * A process of its own that makes writes as the bridge does and gives them up. Started by bridge/unsent-bodies.slow.test.ts:
 * what is tested took all memory of the process that it happened to. It is told what to do by messages, one at a time, and
 * answers each with what came of it.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { KubeConfig } from '@kubernetes/client-node';
import { realClock } from '../../bridge/clock.ts';
import { createCredentials } from '../../bridge/cluster-credentials.ts';
import { type Call, createHttp } from '../../bridge/cluster-http.ts';

/** Published by undici when the headers of a call are handed to the connection; its body follows in the same turn. */
const SENT = 'undici:client:sendHeaders';
const CALLS = 40;
/** All together more than a server takes of bodies that it does not read: 64 KB over one connection. */
const BODY_BYTES = 4_096;
/** A third of what Node.js bears of a connection with some calls. */
const LARGE_BODY_BYTES = 100_000;

const [server = ''] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: 'stalling', server, skipTLSVerify: true }],
  users: [{ name: 'bridge' }],
  contexts: [{ name: 'stalling', cluster: 'stalling', user: 'bridge' }],
  currentContext: 'stalling',
});
const credentials = createCredentials(() => config, realClock);
const http = createHttp({ credentials, metrics: { apiCalls: { inc() {} } }, clock: realClock, timeout: 0 });

const write = (bytes: number): Call => {
  return { method: 'PATCH', path: '/', body: 'z'.repeat(bytes), doing: `writing ${bytes} bytes` };
};

/** Makes calls, and gives each up as it is told once they are under way; says how many ended without an answer. */
async function giveUp(calls: number, bytes: number, when: (all: AbortController) => void): Promise<number> {
  const all = new AbortController();
  let sent = 0;
  const onSent = () => {
    sent += 1;
    if (sent === calls) when(all);
  };
  subscribe(SENT, onSent);
  const ends = await Promise.allSettled(Array.from({ length: calls }, () => http.ask(write(bytes), all.signal)));
  unsubscribe(SENT, onSent);
  return ends.filter(({ status }) => status === 'rejected').length;
}

const orders: Readonly<Record<string, () => Promise<number>>> = {
  write: () =>
    http.ask(write(10)).then(
      ({ status }) => status,
      () => 0,
    ),
  'give up later': () => giveUp(CALLS, BODY_BYTES, (all) => setImmediate(() => all.abort())),
  'give up much': () => giveUp(CALLS, LARGE_BODY_BYTES, (all) => setImmediate(() => all.abort())),
  'give up at once': () => giveUp(1, BODY_BYTES, (all) => queueMicrotask(() => all.abort())),
};

process.on('message', (order) => {
  void orders[String(order)]?.().then((came) => process.send?.(came));
});
