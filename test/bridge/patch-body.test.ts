/*
 * How patches are spelt (bridge/patch-body.ts). What the API server makes of it is shown on the real one, in
 * test/e2e/record-texts.test.ts.
 */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { patchBody } from '../../bridge/patch-body.ts';
import { holds } from '../support/property.ts';

it('means what the operations mean, whatever their texts hold (P3)', () => {
  holds(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
      const operations = texts.map((value) => ({ op: 'test' as const, path: '/metadata/uid', value }));
      expect(JSON.parse(patchBody(operations))).toEqual(operations);
    }),
  );
});

it('writes what Go escapes as Go does, and nothing else otherwise than JSON.stringify', () => {
  const value = 'a <- b & c > d \u2028 \u2029 "é" \\ / \n \u0001';
  expect(patchBody([{ op: 'test', path: '/metadata/uid', value }])).toBe(
    '[{"op":"test","path":"/metadata/uid","value":"a \\u003c- b \\u0026 c \\u003e d \\u2028 \\u2029 \\"é\\" \\\\ / \\n \\u0001"}]',
  );
});
