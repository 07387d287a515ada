/*
 * Who sent a message: the SenderId of the queue against what is configured.
 * Asked by both sides, so both their cases stand here.
 */
import { expect, it } from 'vitest';
import { isSender } from '../../bridge/contract.ts';

it.each([
  ['AROA1', 'AROA1', true],
  ['AROA1:session', 'AROA1', true],
  ['AROA1:session', 'AROA1:session', true],
  ['AROA1:other', 'AROA1:session', false],
  ['AROA1:session:more', 'AROA1:session', false],
  ['AROA12:session', 'AROA1', false],
  ['AROA:session', 'AROA1', false],
  ['x:AROA1', 'AROA1', false],
  ['AROA1', 'AROA1:session', false],
  ['', 'AROA1', false],
  [':AROA1', 'AROA1', false],
  ['000000000000', '000000000000', true],
])('a message of %j is taken for one of the configured %j: %s (Q11)', (senderId, configured, expected) => {
  expect(isSender(senderId, configured)).toBe(expected);
});
