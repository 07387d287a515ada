/*
 * The whole bridge over an object in whose annotations anything may stand that anybody can write there: records, true ones and
 * garbled ones, words, reasons. None of it frees the object but a release of this very deletion, and none harms a neighbour.
 */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { recordKey } from '../../bridge/record.ts';
import { APPROVE_PREFIX, REASON_PREFIX, RELEASE_PREFIX, RETRY_PREFIX } from '../../bridge/words.ts';
import { ENTRY, RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';

const UID = 'uid-logs';
const HOUR = 3_600_000;

const digest = fc.constantFrom('a'.repeat(64), 'b'.repeat(64));
const time = fc.constantFrom(
  '2026-03-02T09:00:00.000Z',
  '2026-03-02T10:00:00.000Z',
  '1970-01-01T00:00:00Z',
  'soon',
  '',
);
const reason = fc.constantFrom('Requested', 'NotOwned', 'TargetChanged', 'Gone', 'no reason');
const near = fc.oneof(fc.constantFrom(0, 1, -1, 1e9, 0.5), fc.string({ maxLength: 3 }));
const told = fc.record(
  {
    uid: fc.constantFrom(UID, UID, UID, 'another'),
    ruleUid: fc.constantFrom(ruleOf().uid, ruleOf().uid, ruleOf().uid, 'another'),
    phase: fc.constantFrom('Pending', 'Held', 'Gone'),
    ...{ reason, message: fc.string({ maxLength: 10 }), since: time, firstPublished: time, next: time },
    ...{ retry: fc.constantFrom('1', 'x', ''), retries: near },
    targets: fc.array(fc.record({ target: digest, rule: digest, requested: fc.boolean(), started: fc.boolean() }), {
      maxLength: 2,
    }),
    refused: fc.record({
      target: digest,
      rule: digest,
      attempt: near,
      retry: near,
      reason,
      message: reason,
      due: time,
    }),
    heard: fc.array(fc.string({ maxLength: 17 }), { maxLength: 5 }),
  },
  { requiredKeys: ['uid', 'ruleUid', 'phase', 'reason', 'message', 'since', 'targets'] },
);
const record = fc.oneof(
  told.map((value) => JSON.stringify(value)),
  told.map((value) => JSON.stringify(value).slice(0, -1)),
  fc.json(),
);
const word = fc.oneof(
  fc.constantFrom(UID, `${UID}/now`),
  fc.constantFrom(UID, `${UID}/now`, `${UID}/1`, `${UID}/`, 'another', 'another/now', ` ${UID}`, `${UID}/NOW`, ''),
  fc.string({ maxLength: 8 }),
);
const annotations = fc.dictionary(
  fc.constantFrom(...[RELEASE_PREFIX, RETRY_PREFIX, APPROVE_PREFIX, REASON_PREFIX].map((prefix) => prefix + RULE)),
  word,
);
const written = fc.tuple(annotations, fc.option(record, { nil: undefined })).map(([words, about]) => ({
  ...{ [`${RELEASE_PREFIX}other`]: UID, ...words },
  ...(about === undefined ? {} : { [recordKey(RULE)]: about }),
}));

/** `released`, or what else became of the object within two hours in which nobody answered. */
async function fateOf(said: Readonly<Record<string, string>>): Promise<'released' | 'held'> {
  const scene = await Scene.start();
  await scene.deleted({ name: 'logs', uid: UID, annotations: said });
  await scene.deleted({ name: 'plain' });
  const neighbour = scene.requests.find(({ data }) => data.object.name === 'plain');
  await scene.answer({ outcome: 'gone', evidence: 'deleted' }, neighbour);
  expect(scene.finalizers('plain')).toEqual([]);
  await scene.clock.advance(2 * HOUR);
  return scene.finalizers('logs').includes(ENTRY) ? 'held' : 'released';
}

it('frees an object by a release of this deletion alone, whatever else is written on it (P1, P10, V14)', async () => {
  const fates = new Set<string>();
  await fc.assert(
    fc.asyncProperty(written, async (said: Readonly<Record<string, string>>) => {
      const release = said[RELEASE_PREFIX + RULE];
      const fate = await fateOf(said);
      fates.add(fate);
      expect(fate).toBe(release === UID || release === `${UID}/now` ? 'released' : 'held');
    }),
    { numRuns: 120 },
  );
  expect([...fates].sort()).toEqual(['held', 'released']);
}, 300_000);
