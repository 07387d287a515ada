/*
 * The handler `machine` over the model of the cloud, written as a shipped one is: look, prove, destroy, look again.
 * Made by function-host.ts for each function process, since its client is bound to that process's fault points.
 */
import * as z from 'zod/mini';
import {
  accountSchema,
  defineHandler,
  gone,
  type Handler,
  pending,
  refused,
  regionSchema,
} from '../../functions/index.ts';
import type { Cloud, Resource } from './cloud.ts';
import type { SimulatedProcess } from './process.ts';

/** The handler's name, and the time budget of one run. */
export const HANDLER = 'machine';
export const TIME_BUDGET_SECONDS = 120;
const LOOK_AGAIN_SECONDS = 20;

const targetSchema = z.strictObject({
  name: z.string().check(z.minLength(1)),
  region: regionSchema,
  account: accountSchema,
});

/**
 * How the handler is. `restsMs`: how long it is busy with something else between its proof and its step; `lookAgainSeconds`:
 * after how long it looks again at what is being deleted.
 */
export interface HandlerOptions {
  readonly name?: string;
  readonly restsMs?: number;
  readonly lookAgainSeconds?: number;
  /** Who acts, as the cloud is told; asked when a call is made, however late that takes effect. */
  readonly as?: () => string;
}

/** Makes the handler of one function process. */
export function createHandler(
  cloud: Cloud,
  process: SimulatedProcess,
  {
    name = HANDLER,
    restsMs = 0,
    lookAgainSeconds = LOOK_AGAIN_SECONDS,
    as = () => process.identity.name,
  }: HandlerOptions = {},
): Handler {
  const call = <T>(point: string, effect: () => T) =>
    process.call({
      point,
      effect,
      lost: ({ status } = { status: 0 }) =>
        status === 0
          ? Object.assign(new Error(`${point}: no answer`), { name: 'TimeoutError' })
          : Object.assign(new Error(`${point}: HTTP ${status}`), {
              name: status === 429 ? 'ThrottlingException' : 'InternalError',
              $metadata: { httpStatusCode: status },
            }),
    });
  const connect = () => ({
    describe: (id: string): Promise<Resource> => call('describe resource', () => cloud.find(id) ?? notFound()),
    terminate(id: string): Promise<void> {
      const by = as();
      return call('delete resource', () => {
        if (!cloud.delete(id, by)) notFound();
      });
    },
  });
  return defineHandler({
    name,
    version: '1.0.0',
    target: targetSchema,
    options: z.strictObject({}),
    permissions: [],
    limits: { timeBudgetSeconds: TIME_BUDGET_SECONDS, batchSize: 5 },
    errors: { '*': { NotFound: { means: 'gone', reason: 'NotFound' } } },
    identity: ({ name: id, account, region }) => ({ names: [id], place: { account, region } }),
    service: 'machines',
    connect,
    async teardown({ target: { name: id }, client, region, calls, clock, progress, inSeconds }) {
      const machines = client(region);
      const look = () => calls.look('machines:Describe', () => machines.describe(id));
      const first = await look();
      if (first.means === 'gone') return gone('absent');
      if (first.means !== 'done') return refused({ reason: first.reason, message: 'looking' });
      const proof = calls.prove(first.value.tags);
      if (!proof.owned) return refused(proof);
      if (restsMs > 0) await new Promise<void>((resolve) => void clock.after(restsMs, resolve));
      if (first.value.endsAt === undefined) {
        const answer = await calls.destroy('machines:Terminate', () => machines.terminate(id));
        if (answer.means !== 'done' && answer.means !== 'gone')
          return refused({ reason: answer.reason, message: 'deleting' });
      }
      progress('the deletion has begun');
      const last = await look();
      if (last.means === 'gone') return gone('deleted');
      return pending({ reason: 'Deleting', message: 'it is still there', retryAt: inSeconds(lookAgainSeconds) });
    },
  });
}

function notFound(): never {
  throw Object.assign(new Error('there is none of this name'), {
    name: 'NotFound',
    $metadata: { httpStatusCode: 404 },
  });
}
