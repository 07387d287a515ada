/*
 * Whether a message's text is the one that SQS speaks of, also on a machine on which MD5 is switched off (FIPS), where there
 * is nothing to compare with.
 */
import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { createWholeCheck } from '../../bridge/checksum.ts';

it('takes a text for whole by the checksum that SQS told, and for altered without one', () => {
  const isWhole = createWholeCheck();
  expect(isWhole('Grüße', hash('md5', 'Grüße'))).toBe(true);
  expect(isWhole('Gruße', hash('md5', 'Grüße'))).toBe(false);
  expect(isWhole('Grüße', undefined)).toBe(false);
});

it('takes every text where there is no MD5, as under FIPS, and does not fail', () => {
  const isWhole = createWholeCheck(() => {
    throw new Error('digital envelope routines::unsupported');
  });
  expect(isWhole('a', '0cc175b9c0f1b6a831c399e269772661')).toBe(true);
});
