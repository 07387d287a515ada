/*
 * Whatever stands in the annotations that a person may write (words and a reason): what counts for this deletion is exactly what
 * names it, and everything else is told to be unread. A failure prints its seed and the smallest annotations that break it.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObjectMeta } from '../../bridge/ports.ts';
import {
  APPROVE_PREFIX,
  hasWord,
  isApproved,
  REASON_MAX,
  REASON_PREFIX,
  RELEASE_PREFIX,
  RETRY_PREFIX,
  reasonGiven,
  releaseWord,
  retryWord,
  spokenWords,
  unreadWords,
  wordsSaid,
} from '../../bridge/words.ts';
import { holds } from '../support/property.ts';

const UID = '6f1c2f0e-5a0a-4a5e-9d2c-1f2e3d4c5b6a';
const RULE = 'team-buckets';

/** Near a uid and not it: another one, a part, another case, something around it. */
const uid = fc.oneof(
  { weight: 6, arbitrary: fc.constant(UID) },
  fc.constantFrom('', UID.slice(1), UID.slice(0, -1), UID.toUpperCase(), ` ${UID}`, `${UID}\n`, `${UID}${UID}`),
  fc.uuid(),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const tail = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', '/', '/now', '/NOW', '/now ', '/1', '//', '/now/now') },
  fc.string({ unit: 'binary', maxLength: 300 }).map((text) => `/${text}`),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const word = fc.oneof(
  fc.constantFrom(UID, `${UID}/now`, `${UID}/1`),
  fc.tuple(uid, tail).map(([of, said]) => of + said),
);
const prefixes = [RELEASE_PREFIX, RETRY_PREFIX, APPROVE_PREFIX, REASON_PREFIX];
const key = fc
  .tuple(fc.constantFrom(...prefixes), fc.constantFrom(RULE, RULE, RULE, 'other', '', `${RULE}-2`))
  .map(([prefix, rule]) => prefix + rule);
const annotations = fc.option(fc.dictionary(key, word, { maxKeys: 6 }), { nil: undefined });

const metaOf = (written: Readonly<Record<string, string>> | undefined): ObjectMeta => ({
  ...{ name: 'logs', namespace: 'team-a', uid: UID, resourceVersion: '1' },
  creationTimestamp: '2026-03-01T08:00:00Z',
  ...(written === undefined ? {} : { annotations: written }),
});

describe('whatever a person has written', () => {
  it('is a release only as the uid, or the uid and now, and only for this rule (P1, V14)', () => {
    const seen = new Set<string>();
    holds(
      fc.property(annotations, (written) => {
        const said = written?.[RELEASE_PREFIX + RULE];
        const release = releaseWord(metaOf(written), RULE);
        seen.add(release);
        expect(release).toBe(said === UID ? 'wait' : said === `${UID}/now` ? 'now' : 'none');
        expect(isApproved(metaOf(written), RULE)).toBe(written?.[APPROVE_PREFIX + RULE] === UID);
      }),
      { numRuns: 600 },
    );
    expect([...seen].sort()).toEqual(['none', 'now', 'wait']);
  });

  it('is a retry only behind this uid, and is kept only when it is short', () => {
    holds(
      fc.property(annotations, (written) => {
        const said = written?.[RETRY_PREFIX + RULE];
        const isMeant = said?.startsWith(`${UID}/`) === true && said.length <= UID.length + 1 + 128;
        expect(retryWord(metaOf(written), RULE)).toBe(isMeant ? said.slice(UID.length + 1) : undefined);
      }),
      { numRuns: 400 },
    );
  });

  it('is either understood or told of as unread, each word on its own', () => {
    holds(
      fc.property(annotations, (written) => {
        const meta = metaOf(written);
        const words = { release: RELEASE_PREFIX, retry: RETRY_PREFIX, approve: APPROVE_PREFIX };
        const spoken = spokenWords(meta, RULE);
        const unread = unreadWords(meta, RULE);
        for (const [name, prefix] of Object.entries(words)) {
          const isSaid = written?.[prefix + RULE] !== undefined;
          const isSpoken = spoken.some((one) => one.word === name && one.key === prefix + RULE);
          const isUnread = unread.some((fault) => fault.startsWith(`${name} is not`));
          expect([isSpoken, isUnread].filter(Boolean).length).toBe(isSaid ? 1 : 0);
        }
        expect(hasWord(meta, RULE)).toBe(spoken.length + unread.length > 0);
        expect(wordsSaid(meta, RULE) !== '').toBe(hasWord(meta, RULE));
      }),
      { numRuns: 400 },
    );
  });

  it('gives a reason of this deletion only, cut to what may be repeated', () => {
    holds(
      fc.property(annotations, (written) => {
        const given = reasonGiven(metaOf(written), RULE);
        const said = written?.[REASON_PREFIX + RULE];
        expect(given === undefined).toBe(said?.startsWith(`${UID}/`) !== true);
        if (given === undefined) return;
        expect(given.length).toBeLessThanOrEqual(REASON_MAX);
        expect(said?.startsWith(`${UID}/${given}`)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
