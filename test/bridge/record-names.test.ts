/*
 * Whether a record names every target that was requested: an answer is let go by it, and who leads next knows nothing else, so it
 * must not be taken to say more than it does (V10).
 */
import { expect, it } from 'vitest';
import { type KnownTarget, namesRequested, type Record } from '../../bridge/record.ts';

const target = (name: string, requested: boolean): KnownTarget => ({
  ...{ target: name, rule: 'r', requested, started: false },
});
const recordOf = (...targets: KnownTarget[]): Record => ({
  ...{ uid: 'u', ruleUid: 'r', phase: 'Pending', reason: 'Requested', message: '', since: '2026-03-01T08:00:00.000Z' },
  targets,
});
const [ASKED, MET, OTHER] = [target('a', true), target('a', false), target('b', true)];

it.each([
  ['nothing was requested and nothing is written', undefined, [], true],
  ['a target was only met', undefined, [MET], true],
  ['a target was requested and nothing is written', undefined, [ASKED], false],
  ['it is named as requested', recordOf(ASKED), [ASKED], true],
  ['it is named as met', recordOf(MET), [ASKED], false],
  ['another one is named', recordOf(OTHER), [ASKED], false],
  ['one of two is named', recordOf(ASKED), [ASKED, OTHER], false],
  ['both are named, and one more was met', recordOf(OTHER, ASKED), [ASKED, OTHER, target('c', false)], true],
] as const)('V10 is told right where %s', (_when, record, seen, isSo) => {
  expect(namesRequested(record, seen)).toBe(isSo);
});
