/*
 * The calls of a run by themselves: what a proof of ownership is worth, also when the machine's clock is set meanwhile, what is
 * repeated and what is not, who is told, and asking somebody who proves ownership himself.
 * What they do within a run is in run.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { CALL_TIMEOUT_MS } from '../../bridge/contract.ts';
import { CallFailed, type CallKind, type CallsInput, createCalls, OutOfTime } from '../../functions/calls.ts';
import { memoryLog, NOW, OWNER_TAG, UID, virtualClock } from './fixtures.ts';

const owned = new Map([[OWNER_TAG, UID]]);
const failing = (name: string) => () => Promise.reject(Object.assign(new Error('no'), { name }));

/** Calls under virtual time, with a log that remembers. */
function prepare(changes: Partial<CallsInput> = {}) {
  const [clock, log, run] = [virtualClock(NOW), memoryLog(), new AbortController()];
  const ownership = { tags: { [OWNER_TAG]: UID } };
  const calls = createCalls({ errors: {}, random: () => 0, clock, log, signal: run.signal, ownership, ...changes });
  return { calls, clock, log, run };
}

describe('a proof of ownership', () => {
  it('counts for five seconds, and not a moment longer (V13)', async () => {
    const kinds: CallKind[] = [];
    const { calls, clock } = prepare({ observe: (_call, kind) => kinds.push(kind) });
    calls.prove(owned);
    await clock.advance(5_000);
    expect(calls.proofAge()).toBe(5_000);
    expect(await calls.destroy('thing:Delete', async () => 'deleted')).toEqual({ means: 'done', value: 'deleted' });
    await clock.advance(1);
    await expect(calls.destroy('thing:Delete', async () => {})).rejects.toThrow(
      'calling thing:Delete: ownership was last proven 5001 ms ago, at most 5000 ms count',
    );
    expect(kinds).toEqual(['destroy']);
  });

  it('is none before the first, and none after tags that do not prove it', async () => {
    const { calls } = prepare();
    expect(calls.proofAge()).toBe(Number.POSITIVE_INFINITY);
    expect(calls.prove(owned)).toEqual({ owned: true });
    expect(calls.proofAge()).toBe(0);
    expect(calls.prove(new Map())).toMatchObject({ owned: false, reason: 'NotOwned' });
    expect(calls.proofAge()).toBe(Number.POSITIVE_INFINITY);
  });

  it('is not needed to look, nor to take back what this deletion had put there', async () => {
    const kinds: CallKind[] = [];
    const { calls } = prepare({ observe: (_call, kind) => kinds.push(kind) });
    expect(await calls.look('thing:Get', async () => 'seen')).toEqual({ means: 'done', value: 'seen' });
    expect(await calls.restore('thing:Untag', async () => 'untagged')).toEqual({ means: 'done', value: 'untagged' });
    expect(kinds).toEqual(['look', 'restore']);
  });
});

describe('what a call came to', () => {
  it('is the answer, or a fault that the handler has to know; "again" is thrown, with its cause', async () => {
    const { calls } = prepare({ errors: { 'thing:Get': { NoSuchThing: { means: 'gone', reason: 'NotFound' } } } });
    const gone = { means: 'gone', reason: 'NotFound', call: 'thing:Get', code: 'NoSuchThing' };
    expect(await calls.look('thing:Get', failing('NoSuchThing'))).toMatchObject(gone);
    const cause = Object.assign(new Error('no'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } });
    const thrown: unknown = await calls.look('thing:Get', () => Promise.reject(cause)).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(CallFailed);
    expect(thrown).toMatchObject({ name: 'CallFailed', message: 'calling thing:Get: AccessDenied (HTTP 403)', cause });
    await expect(calls.look('thing:Get', failing('AccessDenied'))).rejects.toThrow(/^calling thing:Get: AccessDenied$/);
  });

  it('is logged, with how long it took', async () => {
    const { calls, clock, log } = prepare({ errors: { '*': { NoSuchThing: { means: 'gone', reason: 'NotFound' } } } });
    await calls.look('thing:Get', async () => await clock.advance(40));
    await calls.look('thing:Get', failing('NoSuchThing'));
    const line = { level: 'debug', message: 'made a call' };
    expect(log.lines).toEqual([
      { ...line, fields: { call: 'thing:Get', kind: 'look', means: 'done', ms: 40 } },
      { ...line, fields: { call: 'thing:Get', kind: 'look', means: 'gone (NoSuchThing)', ms: 0 } },
    ]);
  });

  it('is lost when who is told of the answer throws, and is not made when who is told of its begin does', async () => {
    const made: string[] = [];
    const told = (call: string, kind: CallKind) => {
      throw Object.assign(new Error(`${kind} ${call}`), { name: 'AccessDenied' });
    };
    for (const hooks of [{ observe: told }, { answered: told }]) {
      const { calls } = prepare(hooks);
      const asking = calls.ask('thing:Ask', async () => void made.push(Object.keys(hooks).join()));
      await expect(asking).rejects.toMatchObject({ cause: { message: 'ask thing:Ask' } });
    }
    expect(made).toEqual(['answered']);
  });

  it('leaves no timer behind, whatever it was', async () => {
    const { calls, clock } = prepare();
    await calls.look('thing:Get', async () => {});
    await calls.look('thing:Get', failing('AccessDenied')).catch(() => {});
    expect(clock.pending()).toBe(0);
  });

  it('is nothing when the time of the run is used up meanwhile: no further call is made', async () => {
    const { calls, run } = prepare();
    const cause = Object.assign(new Error('no'), { name: 'AbortError' });
    const cut = calls.look('thing:Get', async () => {
      run.abort();
      throw cause;
    });
    const over = { name: 'OutOfTime', message: 'calling thing:Get: the time of this run is used up' };
    await expect(cut).rejects.toMatchObject({ ...over, cause });
    const made: string[] = [];
    const late: unknown = await calls.look('thing:Get', async () => made.push('late')).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(OutOfTime);
    expect(late).toMatchObject(over);
    expect(made).toEqual([]);
  });

  it('takes at most 30 s, as whoever sends it is told', async () => {
    const { calls, clock } = prepare();
    const signals: AbortSignal[] = [];
    const asking = calls.ask('thing:Ask', ({ abortSignal }) => {
      signals.push(abortSignal);
      return new Promise<void>((resolve) => abortSignal.addEventListener('abort', () => resolve()));
    });
    await clock.advance(CALL_TIMEOUT_MS - 1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await clock.advance(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await asking).toMatchObject({ means: 'done' });
  });
});

describe('a look', () => {
  it('is repeated twice on trouble that passes, each time later, spread out by chance', async () => {
    const at: number[] = [];
    const { calls, clock, log } = prepare({ random: () => 0.5 });
    const looking = calls.look('thing:Get', () => {
      at.push(clock.now() - NOW);
      return failing('SlowDown')();
    });
    const failed = expect(looking).rejects.toThrow('calling thing:Get: SlowDown');
    await clock.advance(10_000);
    await failed;
    expect(at).toEqual([0, 300, 900]);
    const repeated = log.lines.filter(({ message }) => message === 'repeating a look');
    expect(repeated.map(({ fields }) => fields)).toEqual([
      { call: 'thing:Get', code: 'SlowDown', attempt: 1 },
      { call: 'thing:Get', code: 'SlowDown', attempt: 2 },
    ]);
  });

  it('ends at once when the time of the run is used up while it waits to be repeated', async () => {
    const { calls, clock, run } = prepare();
    const looking = calls.look('thing:Get', failing('SlowDown'));
    const failed = expect(looking).rejects.toThrow('the time of this run is used up');
    await clock.advance(100);
    run.abort();
    await failed;
    expect(clock.pending()).toBe(0);
  });

  it.each(['AccessDenied', 'SomethingElse'])('is not repeated on %s, which no moment mends', async (code) => {
    let made = 0;
    const { calls } = prepare();
    const looking = calls.look('thing:Get', () => {
      made += 1;
      return failing(code)();
    });
    await expect(looking).rejects.toThrow(`calling thing:Get: ${code}`);
    expect(made).toBe(1);
  });
});

it('judges the age of a proof by a clock that nobody sets (V13)', async () => {
  const clock = virtualClock(NOW);
  let set = 0;
  const beingSet = { ...clock, now: () => clock.now() + set };
  const calls = createCalls({
    ...{ clock: beingSet, errors: {}, random: () => 0, log: memoryLog() },
    signal: new AbortController().signal,
    ownership: { tags: { [OWNER_TAG]: UID } },
  });
  calls.prove(owned);
  set = -3_600_000;
  await clock.advance(5001);
  await expect(calls.destroy('thing:Delete', async () => {})).rejects.toThrow('5001 ms ago');
  calls.prove(owned);
  set = 3_600_000;
  expect(await calls.destroy('thing:Delete', async () => 'deleted')).toMatchObject({ means: 'done' });
});

it('lets who proves ownership himself be asked without a proof, once, and not after the signal (F6)', async () => {
  const seen: CallKind[] = [];
  const run = new AbortController();
  const calls = createCalls({
    ...{ clock: virtualClock(NOW), errors: {}, random: () => 0, log: memoryLog(), signal: run.signal },
    observe: (_call, kind) => seen.push(kind),
    ownership: { tags: { [OWNER_TAG]: UID } },
  });
  expect(await calls.ask('thing:Ask', async () => 'asked')).toMatchObject({ means: 'done', value: 'asked' });
  const throttled = Object.assign(new Error('no'), { name: 'SlowDown' });
  await expect(calls.ask('thing:Ask', () => Promise.reject(throttled))).rejects.toThrow('calling thing:Ask: SlowDown');
  run.abort();
  await expect(calls.ask('thing:Ask', async () => 'asked')).rejects.toThrow('the time of this run is used up');
  expect(seen).toEqual(['ask', 'ask']);
});
