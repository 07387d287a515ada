/*
 * A bridge that end-to-end tests have started again where the machine stood still: only where it has lost its lease, and only
 * while the test has told it nothing. Over stand-ins that end as they are told.
 */
import { beforeEach, expect, it, vi } from 'vitest';
import { EXIT } from '../../bridge/stopping.ts';
import { restarted } from '../support/restarted.ts';

interface StandIn {
  readonly number: number;
  readonly exited: Promise<number>;
  readonly end: (code: number) => void;
  readonly told: string[];
  metrics(): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

let started: StandIn[];
let ready: number[];

beforeEach(() => {
  [started, ready] = [[], []];
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});

async function start(): Promise<StandIn> {
  const { promise: exited, resolve } = Promise.withResolvers<number>();
  const told: string[] = [];
  let isOver = false;
  const number = started.length + 1;
  const one: StandIn = {
    ...{ number, exited, told },
    end: (code) => {
      isOver = true;
      resolve(code);
    },
    metrics: async () => {
      if (isOver) throw new Error('nobody listens');
      return `of ${number}`;
    },
    signal: (signal) => void told.push(signal),
    stop: async () => void told.push('stop'),
  };
  started.push(one);
  return one;
}

const bridge = () => restarted(start, async ({ number }) => void ready.push(number));
const last = () => started.at(-1) ?? expect.unreachable('nothing was started');

it('starts another one in the place of one that has lost its lease, and asks that one from then on', async () => {
  const kept = await bridge();
  expect(await kept.metrics()).toBe('of 1');
  last().end(EXIT.lostLease);
  expect(await kept.metrics()).toBe('of 2');
  last().end(EXIT.lostLease);
  await expect.poll(() => ready).toEqual([2, 3]);
  expect(kept.number).toBe(3);
  await kept.stop();
  expect(started.map(({ told }) => told)).toEqual([['stop'], ['stop'], ['stop']]);
});

it.each([EXIT.failed, 137])('leaves one alone that has ended with %i, and tells the code', async (code) => {
  const kept = await bridge();
  last().end(code);
  expect(await kept.exited).toBe(code);
  await expect(kept.metrics()).rejects.toThrow('nobody listens');
  expect(started).toHaveLength(1);
});

it('leaves one alone that was told something, as one that was stopped and goes on', async () => {
  const kept = await bridge();
  kept.signal('SIGSTOP');
  last().end(EXIT.lostLease);
  expect(await kept.exited).toBe(EXIT.lostLease);
  expect(started).toHaveLength(1);
});
