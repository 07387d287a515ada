/*
 * One run under virtual time: when its signal comes, what calls may do, and what becomes of whatever is thrown.
 * The teardown is a script of the test; nothing real is called.
 */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../bridge/contract.ts';
import { gone } from '../../functions/handler.ts';
import { pause } from '../../functions/ports.ts';
import { runTeardown } from '../../functions/run.ts';
import {
  ACCOUNT,
  configOf,
  DELETED_AT,
  HOUR,
  memoryLog,
  NOW,
  OWNER_TAG,
  REGION,
  requestOf,
  type ThingContext,
  thing,
  UID,
  virtualClock,
} from './fixtures.ts';

const owned = new Map([[OWNER_TAG, UID]]);

/** Runs a teardown to its end, in at most ten minutes of virtual time. */
async function run(
  teardown: (context: ThingContext) => Promise<Outcome>,
  { now = NOW, invocation = 300_000, timeBudgetSeconds = 270 } = {},
) {
  const clock = virtualClock(now);
  const handler = thing(teardown, { timeBudgetSeconds });
  const request = requestOf();
  const prepared = handler.prepare(request.data.target, request.data.options);
  if (!prepared.ok) throw new Error(prepared.message);
  const running = runTeardown({
    ...{ request, handler, clock, account: ACCOUNT, region: REGION, teardown: prepared },
    allow: configOf().allow,
    invocationEnds: now + invocation,
    aws: (_service, region) => ({
      region,
      maxAttempts: 1,
      requestHandler: { connectionTimeout: 1, requestTimeout: 1, throwOnRequestTimeout: true },
    }),
    random: () => 0,
    log: memoryLog(),
  });
  await clock.advance(600_000);
  const outcome = await running;
  return { outcome, clock };
}

/** Ms from the start until the signal of a run came. */
async function abortedAfter(options: Parameters<typeof run>[1]): Promise<number> {
  let after = Number.NaN;
  await run(async ({ signal, clock }) => {
    const began = clock.now();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    after = clock.now() - began;
    return gone('deleted');
  }, options);
  return after;
}

describe('the abort signal', () => {
  it('comes at the end of the time budget', async () => {
    expect(await abortedAfter({ timeBudgetSeconds: 100 })).toBe(100_000);
  });

  it('comes 30 s before the invocation ends', async () => {
    expect(await abortedAfter({ invocation: 90_000 })).toBe(60_000);
  });

  it('comes a minute before the request expires (F6)', async () => {
    expect(await abortedAfter({ now: DELETED_AT + 2 * HOUR - 100_000 })).toBe(40_000);
  });

  it('means that a run is not started if it would come at once', async () => {
    let hasRun = false;
    const { outcome } = await run(
      async () => {
        hasRun = true;
        return gone('deleted');
      },
      { invocation: 30_000 },
    );
    expect(hasRun).toBe(false);
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'OutOfTime' });
  });
});

describe('calls', () => {
  it('begin none after the signal, neither looks nor deletes (F6)', async () => {
    const begun: string[] = [];
    const { outcome } = await run(async ({ calls, progress, clock, signal }) => {
      calls.prove(owned);
      await calls.destroy('thing:Delete', async () => {
        begun.push('first');
      });
      progress('one deleted');
      await pause(clock, 275_000);
      expect(signal.aborted).toBe(true);
      calls.prove(owned);
      await calls.look('thing:Get', async () => begun.push('look')).catch(() => {});
      await calls.destroy('thing:Delete', async () => begun.push('second'));
      return gone('deleted');
    });
    expect(begun).toEqual(['first']);
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'OutOfTime', progress: 'one deleted' });
  });

  it('are aborted when the signal comes while they are under way, and bring the run to its end', async () => {
    const { outcome } = await run(
      async ({ calls }) => {
        await calls.look('thing:Get', ({ abortSignal }) => rejectOn(abortSignal));
        await calls.look('thing:Get', ({ abortSignal }) => rejectOn(abortSignal));
        return gone('deleted');
      },
      { timeBudgetSeconds: 20 },
    );
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'OutOfTime' });
  });

  it('take at most 30 s each', async () => {
    let took = 0;
    const { outcome } = await run(async ({ calls, clock }) => {
      const began = clock.now();
      calls.prove(owned);
      try {
        await calls.destroy('thing:Delete', ({ abortSignal }) => rejectOn(abortSignal));
      } finally {
        took = clock.now() - began;
      }
      return gone('deleted');
    });
    expect(took).toBe(30_000);
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'Unreachable' });
  });

  it('repeat looks on trouble that passes, with waits, and give up after three', async () => {
    const at: number[] = [];
    const busy = Object.assign(new Error('busy'), { name: 'SlowDown', $metadata: { httpStatusCode: 503 } });
    const { outcome } = await run(async ({ calls, clock }) => {
      await calls.look('thing:Get', async () => {
        at.push(clock.now() - NOW);
        throw busy;
      });
      return gone('deleted');
    });
    expect(at).toEqual([0, 200, 600]);
    expect(outcome).toMatchObject({
      outcome: 'pending',
      reason: 'Throttled',
      message: 'calling thing:Get: SlowDown (HTTP 503)',
    });
  });

  it('make a delete once only, whatever it answers', async () => {
    let made = 0;
    await run(async ({ calls }) => {
      calls.prove(owned);
      await calls.destroy('thing:Delete', async () => {
        made += 1;
        throw Object.assign(new Error('busy'), { name: 'SlowDown' });
      });
      return gone('deleted');
    });
    expect(made).toBe(1);
  });

  it.each([
    ['never proven', async () => {}],
    ['refuted', async ({ calls }: ThingContext): Promise<void> => void calls.prove(new Map())],
    [
      'proven and then refuted',
      async ({ calls }: ThingContext) => {
        calls.prove(owned);
        calls.prove(new Map([...owned, ['finalizer-bridge.dev/keep', '']]));
      },
    ],
    [
      'proven more than 5 s ago',
      async ({ calls, clock }: ThingContext) => {
        calls.prove(owned);
        await pause(clock, 5001);
      },
    ],
  ] as const)('make no delete when ownership is %s (V13)', async (_what, before) => {
    let made = 0;
    const { outcome } = await run(async (context) => {
      await before(context);
      await context.calls.destroy('thing:Delete', async () => {
        made += 1;
      });
      return gone('deleted');
    });
    expect(made).toBe(0);
    expect(outcome).toMatchObject({ outcome: 'pending', reason: 'HandlerError' });
  });
});

describe('what a teardown answers', () => {
  it('is checked, since it may be plain JavaScript', async () => {
    const answers: readonly unknown[] = [
      undefined,
      null,
      true,
      'gone',
      {},
      { outcome: 'gone' },
      { outcome: 'deleted' },
    ];
    for (const answer of answers) {
      const { outcome } = await run(async () => JSON.parse(JSON.stringify({ answer })).answer);
      expect(outcome, JSON.stringify(answer)).toMatchObject({ outcome: 'pending', reason: 'InvalidOutcome' });
    }
  });

  it('gets the progress that was noted, if it is pending', async () => {
    const { outcome } = await run(async ({ progress }) => {
      progress('half');
      return { outcome: 'pending', reason: 'Slow' };
    });
    expect(outcome).toEqual({ outcome: 'pending', reason: 'Slow', progress: 'half' });
  });
});

it('gives a handler the same client for the same region, and another for another', async () => {
  const clients: string[] = [];
  await run(async ({ client }) => {
    clients.push(client('eu-west-1'), client('eu-west-1'), client('us-east-1'));
    return gone('deleted');
  });
  expect(clients).toEqual(['client in eu-west-1', 'client in eu-west-1', 'client in us-east-1']);
});

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = () => reject(Object.assign(new Error('aborted'), { name: 'AbortError' }));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  });
}
