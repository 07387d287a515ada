/*
 * How often rights are asked for where some namespaces are served (P8), and that one that comes or goes is noticed all the same
 * (P7, K19).
 */
import { describe, expect, it } from 'vitest';
import { believingRights } from '../../bridge/granted-rights.ts';
import type { Kinds, Watched } from '../../bridge/ports.ts';
import { BUCKETS } from '../support/bridge-builders.ts';
import { ManualClock } from '../support/manual-clock.ts';

const VERBS = ['list', 'patch'];
const IN_A: Watched = { ...BUCKETS, namespace: 'team-a' };

function prepare() {
  const clock = new ManualClock();
  const asked: Watched[] = [];
  const lacks = new Set<string>();
  const answers: Pick<Kinds, 'lacking'> = {
    async lacking(watched, verbs) {
      asked.push(watched);
      return verbs.filter((verb) => lacks.has(verb));
    },
  };
  const unasked = async () => {
    throw new Error('asking for something else');
  };
  const others = { describe: unasked, find: unasked, schemaOf: unasked, isServed: unasked };
  return { clock, asked, lacks, rights: believingRights({ ...others, ...answers }, clock) };
}

describe('rights in one namespace', () => {
  it('are asked for once in a while, for all rules of the kind together (P8)', async () => {
    const { clock, asked, rights } = prepare();
    for (let second = 0; second < 600; second += 10) {
      for (const _rule of ['one', 'two', 'three']) expect(await rights.lacking(IN_A, VERBS)).toEqual([]);
      await clock.advance(10_000);
    }
    expect(asked.length).toBeGreaterThan(9);
    expect(asked.length).toBeLessThan(15);
  });

  it('are told to be missing within a minute, each time that they are asked for, and to be back at once (P7)', async () => {
    const { clock, lacks, rights } = prepare();
    expect(await rights.lacking(IN_A, VERBS)).toEqual([]);
    lacks.add('patch');
    await clock.advance(45_000);
    for (const _time of ['first', 'second']) expect(await rights.lacking(IN_A, VERBS)).toEqual(['patch']);
    lacks.clear();
    expect(await rights.lacking(IN_A, VERBS)).toEqual([]);
  });

  it('say nothing of another namespace, of other verbs, or of one object', async () => {
    const { asked, rights } = prepare();
    await rights.lacking(IN_A, VERBS);
    await rights.lacking({ ...IN_A, namespace: 'team-b' }, VERBS);
    await rights.lacking(IN_A, ['watch']);
    for (const _time of ['first', 'second']) await rights.lacking({ ...BUCKETS, name: 'team-a' }, VERBS);
    expect(asked).toHaveLength(4);
  });
});

it('rights in the whole cluster are asked for each time', async () => {
  const { asked, rights } = prepare();
  await rights.lacking(BUCKETS, VERBS);
  await rights.lacking(BUCKETS, VERBS);
  expect(asked).toHaveLength(2);
});
