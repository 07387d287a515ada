/*
 * Patches of metadata.finalizers, applied to lists as an API server would: by a JSON patch of the test's own, to the list
 * that was read and to lists that others have changed meanwhile.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addEntry, entryOf, guards, hasEntry, removeEntry, rulesHolding } from '../../bridge/finalizer.ts';
import type { ObjectMeta, PatchOperation } from '../../bridge/ports.ts';
import { applyPatch, PatchFailed } from '../simulation/json-patch.ts';
import { metaOf } from '../support/bridge-builders.ts';
import { START, stamp } from '../support/manual-clock.ts';
import { holds } from '../support/property.ts';

const OURS = entryOf('team-buckets');
const entry = fc.constantFrom(
  OURS,
  OURS,
  'finalizer-bridge.dev/other-rule',
  'foregroundDeletion',
  'orphan',
  'a/b',
  'c/d',
);
const list = fc.array(entry, { maxLength: 8 });
const foreign = (finalizers: readonly string[]) => finalizers.filter((each) => each !== OURS);

/** The list after a patch; undefined when the API server refuses it. */
function patched(meta: ObjectMeta, operations: readonly PatchOperation[]): readonly string[] | undefined {
  try {
    return applyPatch({ metadata: meta }, operations).metadata.finalizers ?? [];
  } catch (error) {
    if (error instanceof PatchFailed) return undefined;
    throw error;
  }
}

describe('taking an entry off', () => {
  it('takes every copy of ours and nothing else, whatever else is in the list (K30)', () => {
    holds(
      fc.property(list, (finalizers) => {
        const meta = metaOf({ finalizers });
        const operations = removeEntry(meta, OURS);
        if (!finalizers.includes(OURS)) expect(operations).toBeUndefined();
        else expect(patched(meta, operations ?? [])).toEqual(foreign(finalizers));
      }),
    );
  });

  it('fails, or takes only ours, when the list changed since it was read, even unnoticed by its version (K1)', () => {
    let failed = 0;
    let taken = 0;
    holds(
      fc.property(list, list, fc.boolean(), (before, after, sameVersion) => {
        const operations = removeEntry(metaOf({ finalizers: before }), OURS);
        if (operations === undefined) return;
        const version = sameVersion ? {} : { resourceVersion: '8' };
        const result = patched(metaOf({ finalizers: after, ...version }), operations);
        if (result === undefined) failed += 1;
        else {
          taken += 1;
          expect(sameVersion).toBe(true);
          expect(foreign(result)).toEqual(foreign(after));
          expect(result.length).toBe(after.length - before.filter((each) => each === OURS).length);
        }
      }),
      { numRuns: 3_000 },
    );
    expect(failed).toBeGreaterThan(0);
    expect(taken).toBeGreaterThan(0);
  });

  it('never hits a neighbour after one entry before ours was added or removed (K1)', () => {
    const operations = removeEntry(metaOf({ finalizers: ['a/b', OURS, 'c/d'] }), OURS) ?? [];
    expect(patched(metaOf({ finalizers: [OURS, 'c/d'] }), operations)).toBeUndefined();
    expect(patched(metaOf({ finalizers: ['x/y', 'a/b', OURS, 'c/d'] }), operations)).toBeUndefined();
    expect(patched(metaOf({ finalizers: ['a/b'] }), operations)).toBeUndefined();
  });

  it('fails on another object of the same name and version (K3)', () => {
    const operations = removeEntry(metaOf(), OURS) ?? [];
    expect(patched(metaOf({ uid: 'uid-2' }), operations)).toBeUndefined();
    expect(patched(metaOf(), operations)).toEqual([]);
  });

  it('never writes the list: only tests and removals of single places, the highest first (K2)', () => {
    holds(
      fc.property(list, (finalizers) => {
        const operations = removeEntry(metaOf({ finalizers }), OURS) ?? [];
        const removed = operations
          .filter(({ op }) => op === 'remove')
          .map(({ path }) => Number(path.split('/').at(-1)));
        expect(removed).toEqual([...removed].sort((left, right) => right - left));
        for (const { op, path } of operations) {
          expect(['test', 'remove']).toContain(op);
          if (op === 'remove') expect(path).toMatch(/^\/metadata\/finalizers\/\d+$/);
        }
      }),
    );
  });
});

describe('putting an entry on', () => {
  it('appends it and leaves the others alone, or adds a list where there is none', () => {
    holds(
      fc.property(fc.option(list, { nil: undefined }), (finalizers) => {
        const meta = metaOf({ finalizers });
        const operations = addEntry(meta, OURS);
        if (finalizers?.includes(OURS)) expect(operations).toBeUndefined();
        else expect(patched(meta, operations ?? [])).toEqual([...(finalizers ?? []), OURS]);
      }),
    );
  });

  it('overwrites no list that somebody made meanwhile (K2)', () => {
    const operations = addEntry(metaOf({ finalizers: undefined }), OURS) ?? [];
    expect(patched(metaOf({ finalizers: ['a/b'], resourceVersion: '8' }), operations)).toBeUndefined();
  });

  it('is never asked for on an object that is being deleted', () => {
    expect(addEntry(metaOf({ finalizers: [], deletionTimestamp: stamp(START) }), OURS)).toBeUndefined();
  });
});

describe('looking at a list', () => {
  it('names the rules that hold an object, each once, and nobody else', () => {
    const finalizers = ['a/b', OURS, 'finalizer-bridge.dev/other-rule', OURS, 'sub.finalizer-bridge.dev/x', 'orphan'];
    expect(rulesHolding(metaOf({ finalizers }))).toEqual(['team-buckets', 'other-rule']);
    expect(rulesHolding(metaOf({ finalizers: undefined }))).toEqual([]);
  });

  it('knows an entry by its whole name', () => {
    expect(hasEntry(metaOf(), OURS)).toBe(true);
    expect(hasEntry(metaOf({ finalizers: [`${OURS}-2`] }), OURS)).toBe(false);
    expect(hasEntry(metaOf({ finalizers: undefined }), OURS)).toBe(false);
  });

  it('binds every patch to the uid and the version that were read', () => {
    expect(guards(metaOf())).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'uid-logs' },
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    ]);
    for (const operations of [removeEntry(metaOf(), OURS), addEntry(metaOf({ finalizers: [] }), OURS)]) {
      expect(operations?.slice(0, 2)).toEqual(guards(metaOf()));
    }
  });
});
