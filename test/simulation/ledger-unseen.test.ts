/*
 * What the ledger takes for beyond everybody's sight (fleet/ledger-unseen.ts): only what no bridge that lives can know, nor the
 * object tell.
 */
import { expect, it } from 'vitest';
import { ANYBODY, isBeyondSight, noteAsked, noteRead, noteWritten } from './fleet/ledger-unseen.ts';

const DIGEST = 'e053c0dc';

function asked(record?: string) {
  const hold = { requested: new Map<string, number>(), unseen: new Map() };
  noteAsked(hold, { name: 'a', digest: DIGEST, by: 'bridge-1', record });
  return hold;
}

const living =
  (...names: readonly string[]) =>
  (name: string) =>
    names.includes(name);

it('P1 V10 is what was asked for by who has died, and not while it lives', () => {
  const hold = asked();
  expect(isBeyondSight(hold, 'a', living('bridge-2'))).toBe(true);
  expect(isBeyondSight(hold, 'a', living('bridge-1'))).toBe(false);
});

it('P1 V10 is no more what somebody who lives has read an answer about', () => {
  const hold = asked();
  noteRead(hold, DIGEST, 'bridge-2');
  expect(isBeyondSight(hold, 'a', living('bridge-2'))).toBe(false);
  expect(isBeyondSight(hold, 'a', living('bridge-3'))).toBe(true);
});

it('P1 V10 is never what an answer was let go about: there had to be something written by then', () => {
  const hold = asked();
  noteRead(hold, DIGEST, ANYBODY);
  expect(isBeyondSight(hold, 'a', living())).toBe(false);
});

it.each([
  ['the record named when it was asked for', () => asked(`{"targets":["${DIGEST}"]}`)],
  [
    'a record has named since',
    () => {
      const hold = asked();
      noteWritten(hold, `{"targets":["${DIGEST}"]}`, 'b');
      return hold;
    },
  ],
  [
    'was followed by an object that names none, which the next bridge can see',
    () => {
      const hold = asked();
      noteWritten(hold, undefined, '');
      return hold;
    },
  ],
])('P1 V10 is never what %s', (_what, holdOf) => {
  expect(isBeyondSight(holdOf(), 'a', living())).toBe(false);
});

it('P1 V10 an answer about another target tells nothing', () => {
  const hold = asked();
  noteRead(hold, '12e6b4b7', 'bridge-2');
  expect(isBeyondSight(hold, 'a', living('bridge-2'))).toBe(true);
});
