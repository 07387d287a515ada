/*
 * How one run ends, and what is told of it: of what its teardown returned, of what it threw and when, and what is over with it.
 * When its signal comes, and what its calls may do, is in run.test.ts.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Outcome } from '../../bridge/contract.ts';
import { gone, pending, refused } from '../../functions/handler.ts';
import { pause } from '../../functions/ports.ts';
import { createRunContext, type RunInput, runTeardown } from '../../functions/run.ts';
import {
  ACCOUNT,
  configOf,
  memoryLog,
  NOW,
  REGION,
  requestOf,
  type ThingContext,
  thing,
  virtualClock,
} from './fixtures.ts';

/** What a run of a teardown is given. */
function prepare(teardown: (context: ThingContext) => Promise<Outcome>, changes: Partial<RunInput> = {}) {
  const [clock, log] = [virtualClock(NOW), memoryLog()];
  const handler = thing(teardown, { timeBudgetSeconds: 100 });
  const request = requestOf();
  const prepared = handler.prepare(request.data.target, request.data.options);
  if (!prepared.ok) throw new Error(prepared.message);
  const aws = () => {
    throw new Error('no client is asked for here');
  };
  const input: RunInput = {
    ...{ request, handler, clock, log, aws, account: ACCOUNT, region: REGION, teardown: prepared, random: () => 0 },
    ...{ allow: configOf().allow, invocationEnds: NOW + 300_000, ...changes },
  };
  return { input, clock, log };
}

/** Runs it to its end; `took` in ms. */
async function run(teardown: (context: ThingContext) => Promise<Outcome>, changes: Partial<RunInput> = {}) {
  const { input, clock, log } = prepare(teardown, changes);
  let took = Number.NaN;
  const running = runTeardown(input).then((outcome) => {
    took = clock.now() - NOW;
    return outcome;
  });
  await clock.advance(600_000);
  return { outcome: await running, took, lines: log.lines, timers: clock.pending() };
}

const OUT_OF_TIME = {
  ...{ outcome: 'pending', reason: 'OutOfTime', message: 'the time of this run is used up; the next one goes on' },
};

describe('a run', () => {
  it('is not waited for longer than 20 s after its signal, and is never gone then', async () => {
    const { outcome, took, lines, timers } = await run(() => new Promise(() => {}));
    const message = 'the handler did not stop when its time was used up';
    expect(outcome).toEqual({ outcome: 'pending', reason: 'Overran', message });
    expect([took, timers]).toEqual([120_000, 0]);
    expect(lines).toEqual([
      { level: 'error', message: 'waiting for the teardown: it did not obey the abort signal', fields: {} },
    ]);
  });

  it('is waited for until then: what it says late counts', async () => {
    const { outcome, took } = await run(async ({ clock }) => {
      await pause(clock, 119_999);
      return gone('deleted');
    });
    expect([outcome, took]).toEqual([gone('deleted'), 119_999]);
  });

  it('has no time left to begin with where the signal would come at once, and says so', async () => {
    const begun: string[] = [];
    const teardown = async () => {
      begun.push('begun');
      return gone('deleted');
    };
    for (const invocationEnds of [NOW, NOW + 30_000]) {
      expect((await run(teardown, { invocationEnds })).outcome).toEqual(OUT_OF_TIME);
    }
    expect(begun).toEqual([]);
    expect((await run(teardown, { invocationEnds: NOW + 30_001 })).outcome).toEqual(gone('deleted'));
  });

  it('leaves no timer, and a signal that has come, so that nothing of it goes on (F6)', async () => {
    const signals: AbortSignal[] = [];
    const { timers, took } = await run(async ({ signal }) => {
      signals.push(signal);
      return gone('deleted');
    });
    expect([timers, took]).toEqual([0, 0]);
    expect(signals.map(({ aborted, reason }) => [aborted, String(reason)])).toEqual([
      [true, 'AbortError: The run has ended.'],
    ]);
  });

  it('that ended is not changed by what its teardown throws later', async () => {
    const { outcome } = await run(async ({ clock }) => {
      await pause(clock, 130_000);
      throw new Error('late');
    });
    expect(outcome).toMatchObject({ reason: 'Overran' });
  });
});

describe('what was thrown', () => {
  it.each([
    ['an error', new TypeError('no such thing'), 'TypeError: no such thing'],
    ['what is none', 'boom', 'something that is not an Error was thrown'],
  ])('is told, and is "again": %s', async (_what, error, message) => {
    const { outcome, lines } = await run(() => Promise.reject(error));
    expect(outcome).toEqual({ outcome: 'pending', reason: 'HandlerError', message });
    const told = 'running the teardown: it threw; it is tried again';
    expect(lines).toEqual([{ level: 'error', message: told, fields: { error } }]);
  });

  it('keeps the progress that was noted before', async () => {
    const { outcome } = await run(async ({ progress }) => {
      progress('half');
      throw new Error('boom');
    });
    expect(outcome).toMatchObject({ reason: 'HandlerError', progress: 'half' });
  });

  it('is told as the call that failed, where it was one', async () => {
    const cause = Object.assign(new Error('no'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } });
    const { outcome, lines } = await run(async ({ calls, progress }) => {
      progress('half');
      await calls.look('thing:Get', () => Promise.reject(cause));
      return gone('deleted');
    });
    const message = 'calling thing:Get: AccessDenied (HTTP 403)';
    expect(outcome).toEqual({ outcome: 'pending', reason: 'AccessDenied', message, progress: 'half' });
    expect(lines.filter(({ level }) => level === 'warn')).toEqual([
      {
        level: 'warn',
        message: 'calling a service failed; it is tried again',
        fields: { call: 'thing:Get', code: 'AccessDenied', status: 403, error: expect.objectContaining({ message }) },
      },
    ]);
    const without = await run(async ({ calls }) => {
      await calls.look('thing:Get', () => Promise.reject(cause));
      return gone('deleted');
    });
    expect(without.outcome).toEqual({ outcome: 'pending', reason: 'AccessDenied', message });
  });

  it('for want of time goes on a second later where there was progress, else after a back-off', async () => {
    const teardown = (text?: string) => async (context: ThingContext) => {
      if (text !== undefined) context.progress(text);
      await pause(context.clock, 100_000, context.signal);
      await context.calls.look('thing:Get', async () => {});
      return gone('deleted');
    };
    const retryAt = new Date(NOW + 101_000).toISOString();
    expect((await run(teardown('half'))).outcome).toEqual({ ...OUT_OF_TIME, progress: 'half', retryAt });
    expect((await run(teardown())).outcome).toEqual(OUT_OF_TIME);
  });
});

describe('what was returned', () => {
  it('is told where it is no outcome', async () => {
    const { outcome, lines } = await run(async () => JSON.parse('{"outcome":"deleted"}'));
    const message = 'the handler returned something that is not an outcome';
    expect(outcome).toEqual({ outcome: 'pending', reason: 'InvalidOutcome', message });
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'reading the outcome of the teardown: it is none',
        fields: { outcome: { outcome: 'deleted' } },
      },
    ]);
  });

  it.each<readonly [string, Outcome, Outcome]>([
    ['its own progress', pending({ reason: 'Slow', progress: 'own' }), pending({ reason: 'Slow', progress: 'own' })],
    ['the noted one', pending({ reason: 'Slow' }), pending({ reason: 'Slow', progress: 'noted' })],
    ['none when it is gone', gone('deleted'), gone('deleted')],
    [
      'none when it is refused',
      refused({ reason: 'NotOwned', message: 'no' }),
      refused({ reason: 'NotOwned', message: 'no' }),
    ],
  ])('says %s', async (_what, returned, expected) => {
    const { outcome } = await run(async ({ progress }) => {
      progress('noted');
      return returned;
    });
    expect(outcome).toEqual(expected);
  });
});

describe('what a teardown is given', () => {
  it('is the facts of its request, its settings as a schema reads them, and a time so many seconds ahead', () => {
    const { input } = prepare(async () => gone('deleted'), { settings: { gentle: true } });
    const { signal } = new AbortController();
    const context = createRunContext(input, signal, () => {});
    const { data, id, traceparent } = input.request;
    const { cluster, rule, attempt, targetDigest, ruleDigest, expires, object, ownership } = data;
    expect(context.request).toEqual({
      ...{ id, traceparent, cluster, rule, attempt, targetDigest, ruleDigest, expires, object },
    });
    expect(context).toMatchObject({ ownership, account: ACCOUNT, region: REGION, allow: input.allow });
    expect(context.signal).toBe(signal);
    expect(context.inSeconds(90)).toBe(new Date(NOW + 90_000).toISOString());
    const schema = z.strictObject({ gentle: z.optional(z.boolean()) });
    expect(context.settings(schema)).toEqual({ gentle: true });
    const plain = createRunContext(prepare(async () => gone('deleted')).input, signal, () => {});
    expect(plain.settings(schema)).toEqual({});
    expect(() => context.settings(z.strictObject({}))).toThrow();
  });
});
