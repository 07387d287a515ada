/*
 * What the models of the simulation promise by themselves: without it a run that keeps every promise would say little.
 * The facts about the API server and the queue are those that were established on the real ones.
 */
import { describe, expect, it } from 'vitest';
import type { PatchOperation, WatchFrame } from '../../bridge/ports.ts';
import { ApiServer } from './api-server.ts';
import { seededRandom, VirtualTime } from './clock.ts';
import { createClusterPort } from './cluster-port.ts';
import { KIND, pathOf } from './installation.ts';
import { applyPatch } from './json-patch.ts';
import { type Kind, SimulatedProcess, STALL_MS, type Surroundings } from './process.ts';
import { SimulatedQueue } from './queue.ts';

const path = pathOf('a');
const SECOND = 1_000;

function serverWith(finalizers: readonly string[]) {
  const time = new VirtualTime();
  const server = new ApiServer(time);
  server.create({ path, apiVersion: 'example.com/v1', kind: 'Machine', finalizers, fields: {} }, 'test');
  return { time, server };
}

const remove = (index: number): readonly PatchOperation[] => [{ op: 'remove', path: `/metadata/finalizers/${index}` }];

/** A process alone, with a fault at its first call. `seen`: when its calls are handed over and made. */
function processWith(time: VirtualTime, fault?: Kind, seen: string[] = []): SimulatedProcess {
  const began = time.now();
  const see = (what: string) => seen.push(`${what} at ${time.now() - began}`);
  let calls = 0;
  const world: Surroundings = {
    ...{ time, random: seededRandom(1), onWire() {}, endOthers() {}, onFault() {} },
    onHandedOver: (_process, point) => void see(`${point} is handed over`),
    passFaultPoint: (_process, point) => {
      see(`${point} is made`);
      calls += 1;
      return calls === 1 ? fault : undefined;
    },
  };
  return new SimulatedProcess(world, { role: 'bridge', name: 'bridge-1', sender: 'AROA:1', skew: 0 });
}

describe('virtual time', () => {
  it('runs tasks in the order of their time, and those of one time in the order they came in', async () => {
    const time = new VirtualTime();
    const ran: string[] = [];
    for (const [name, ms] of Object.entries({ d: 30, a: 10, b: 10, c: 20 })) time.after(ms, () => ran.push(name));
    time.after(15, () => time.after(2, () => ran.push('between')));
    time.after(12, () => ran.push('cancelled'))();
    await time.run(time.now() + 100, () => false);
    expect(ran).toEqual(['a', 'b', 'between', 'c', 'd']);
  });

  it('keeps that order over hours, wherever in them a task is put', async () => {
    const [time, random] = [new VirtualTime(), seededRandom(1)];
    const wanted: { readonly at: number; readonly order: number }[] = [];
    const ran: typeof wanted = [];
    const put = () => {
      const ms = Math.floor(random() * 8) * 100_000;
      const entry = { at: time.now() + ms, order: wanted.length };
      const isCancelled = random() < 0.3;
      const cancel = time.after(ms, () => {
        ran.push(entry);
        if (wanted.length < 500) put();
      });
      if (isCancelled) cancel();
      else wanted.push(entry);
    };
    for (let count = 0; count < 100; count += 1) put();
    expect(await time.run(time.now() + 86_400_000, () => false)).toBe(false);
    expect(ran.length).toBeGreaterThan(100);
    expect(ran).toEqual(wanted.toSorted((one, other) => one.at - other.at || one.order - other.order));
  });

  it('lets every promise run on before time moves', async () => {
    const time = new VirtualTime();
    const began = time.now();
    const seen: number[] = [];
    const deep = async () => {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      seen.push(time.now() - began);
    };
    time.after(10, () => void deep());
    time.after(11, () => {});
    await time.run(began + 20, () => false);
    expect(seen).toEqual([10]);
  });
});

describe('a simulated process', () => {
  const call = (process: SimulatedProcess, done: string[]) =>
    process.call({ point: 'a', effect: () => done.push('effect'), lost: () => new Error('lost') }).then(
      () => done.push('answer'),
      () => done.push('error'),
    );
  it.each([
    { fault: undefined, expected: ['effect', 'answer', 'timer'] },
    { fault: { kind: 'crash', side: 'before' }, expected: [] },
    { fault: { kind: 'crash', side: 'after' }, expected: ['effect'] },
    { fault: { kind: 'crash', side: 'late' }, expected: ['effect'] },
    { fault: { kind: 'error', side: 'before' }, expected: ['error', 'timer'] },
    { fault: { kind: 'error', side: 'after' }, expected: ['effect', 'error', 'timer'] },
    { fault: { kind: 'stall', side: 'after' }, expected: ['effect', 'timer', 'answer'] },
  ] as const)('under $fault sees $expected', async ({ fault, expected }) => {
    const time = new VirtualTime();
    const process = processWith(time, fault);
    const done: string[] = [];
    void call(process, done);
    process.clock().after(60 * SECOND, () => done.push('timer'));
    await time.run(time.now() + 3_600 * SECOND, () => false);
    expect(done.toSorted()).toEqual(expected.toSorted());
  });

  it('hands a call over as it stops, which is made when it goes on, and is asked about before', async () => {
    const time = new VirtualTime();
    const seen: string[] = [];
    const process = processWith(time, { kind: 'stall', side: 'before' }, seen);
    const of = (point: string) => process.call({ point, effect: () => {}, lost: () => new Error('lost') });
    void of('first');
    void of('second');
    process.clock().after(SECOND, () => void of('third'));
    await time.run(time.now() + 2 * STALL_MS, () => false);
    expect(seen).toEqual([
      ...['first is handed over at 0', 'first is made at 0', 'second is handed over at 0'],
      `second is made at ${STALL_MS}`,
      ...[`third is handed over at ${STALL_MS}`, `third is made at ${STALL_MS}`],
    ]);
  });

  it('makes no call once it is dead, and hands none over', async () => {
    const time = new VirtualTime();
    const seen: string[] = [];
    const process = processWith(time, undefined, seen);
    process.kill();
    void call(process, seen);
    await time.run(time.now() + SECOND, () => false);
    expect(seen).toEqual([]);
  });
});

describe('the model of the API server', () => {
  it('marks an object with finalizers, refuses new ones, and removes it with the last', () => {
    const { server } = serverWith(['example.com/a', 'example.com/b']);
    server.delete(path, 'test');
    const marked = server.get(path);
    expect(marked?.metadata.deletionTimestamp).toMatch(/:\d\dZ$/);
    const add: PatchOperation = { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/c' };
    expect(() => server.patch(path, [add], 'test')).toThrow('HTTP 422');
    expect(server.patch(path, remove(0), 'test')?.metadata.finalizers).toEqual(['example.com/b']);
    server.patch(path, remove(0), 'test');
    expect(server.get(path)).toBeUndefined();
    expect(server.patch(path, remove(0), 'test')).toBeUndefined();
  });

  it('answers a failed test and a removal past the end alike, and changes nothing (A8)', () => {
    const { server } = serverWith(['example.com/a']);
    const before = server.get(path);
    const test: PatchOperation = { op: 'test', path: '/metadata/uid', value: 'another' };
    expect(() => server.patch(path, [...remove(0), test], 'test')).toThrow('HTTP 422');
    expect(() => server.patch(path, remove(1), 'test')).toThrow('HTTP 422');
    expect(server.get(path)).toEqual(before);
  });

  it('gives every write a higher resourceVersion, and no write none', () => {
    const { server } = serverWith([]);
    const first = server.get(path)?.metadata.resourceVersion;
    server.update(path, 'test', (object) => ({ ...object }));
    expect(server.get(path)?.metadata.resourceVersion).toBe(first);
    server.update(path, 'test', (object) => ({ ...object, spec: 1 }));
    expect(Number(server.get(path)?.metadata.resourceVersion)).toBeGreaterThan(Number(first));
  });

  it('streams what there is up to a bookmark, then what happens, and answers 410 for what it has forgotten', async () => {
    const { time, server } = serverWith([]);
    const process = processWith(time);
    const random = seededRandom(1);
    const port = createClusterPort({ server, process, random, watchLag: () => 0, onEvent() {} });
    const frames: WatchFrame[] = [];
    const follow = async (version: string | undefined) => {
      for await (const frame of port.watch(KIND, version, new AbortController().signal)) frames.push(frame);
    };
    const first = follow(undefined);
    await time.run(time.now() + SECOND, () => false);
    server.delete(path, 'test');
    await time.run(time.now() + 600 * SECOND, () => false);
    await first;
    const told = frames.map((frame) => (frame.type === 'bookmark' && frame.synced ? 'synced' : frame.type));
    expect(told.filter((type) => type !== 'bookmark' && type !== 'opened')).toEqual(['present', 'synced', 'deleted']);
    server.compact();
    const late = expect(follow('1')).rejects.toThrow('HTTP 410');
    await time.run(time.now() + SECOND, () => false);
    await late;
  });
});

describe('the model of the queue', () => {
  const settings = { visibilityMs: 30 * SECOND, maxReceiveCount: 2, copies: 0, delayMs: 0, shuffled: false };

  it('hides what was received, gives it out again, and buries it when it was received too often', async () => {
    const time = new VirtualTime();
    const queue = new SimulatedQueue({ time, random: seededRandom(1) }, 'q', settings);
    queue.send('body', 'AROA:1');
    expect(queue.receive(10)).toMatchObject([{ body: 'body', sender: 'AROA:1', receiveCount: 1 }]);
    expect(queue.receive(10)).toEqual([]);
    await time.run(time.now() + 30 * SECOND, () => false);
    expect(queue.receive(10)).toMatchObject([{ receiveCount: 2 }]);
    await time.run(time.now() + 30 * SECOND, () => false);
    expect(queue.receive(10)).toEqual([]);
    expect(queue.deadLetters).toMatchObject([{ body: 'body' }]);
  });

  it('deletes by the latest receipt only', async () => {
    const time = new VirtualTime();
    const queue = new SimulatedQueue({ time, random: seededRandom(1) }, 'q', settings);
    queue.send('body', 'AROA:1');
    const [first] = queue.receive(1);
    await time.run(time.now() + 30 * SECOND, () => false);
    const [second] = queue.receive(1);
    queue.delete(first?.receiptHandle ?? '', 'test');
    expect(queue.size).toBe(1);
    queue.delete(second?.receiptHandle ?? '', 'test');
    expect(queue.size).toBe(0);
  });
});

describe('the model of JSON patches', () => {
  const list = { a: ['x', 'y', 'z'], 'k/e~y': 1 };
  it.each<{ operations: readonly PatchOperation[]; expected: unknown }>([
    { operations: [{ op: 'remove', path: '/a/1' }], expected: { ...list, a: ['x', 'z'] } },
    { operations: [{ op: 'add', path: '/a/0', value: 'w' }], expected: { ...list, a: ['w', 'x', 'y', 'z'] } },
    { operations: [{ op: 'add', path: '/a/-', value: 'w' }], expected: { ...list, a: ['x', 'y', 'z', 'w'] } },
    { operations: [{ op: 'replace', path: '/k~1e~0y', value: 2 }], expected: { ...list, 'k/e~y': 2 } },
  ])('applies $operations', ({ operations, expected }) => {
    expect(applyPatch(list, operations)).toEqual(expected);
  });

  it.each<PatchOperation>([
    { op: 'remove', path: '/a/3' },
    { op: 'remove', path: '/a/-4' },
    { op: 'remove', path: '/a/-' },
    { op: 'add', path: '/a/4', value: 1 },
    { op: 'replace', path: '/a/3', value: 1 },
    { op: 'remove', path: '/b' },
    { op: 'test', path: '/b', value: 1 },
    { op: 'add', path: '/b/c', value: 1 },
  ])('refuses $op $path', (operation) => {
    expect(() => applyPatch(list, [operation])).toThrow(operation.path);
  });
});
