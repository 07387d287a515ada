/*
 * Draws short scripts of the API server: three names, two finalizers, whatever order. Run against the model and a real one by
 * test/e2e/agreement-api.test.ts, which must agree at every step.
 */
import * as fc from 'fast-check';
import type { PatchOperation } from '../../../bridge/ports.ts';
import type { ApiScript, ApiStep } from './api-script.ts';

const FINALIZERS = ['finalizer-bridge.dev/one', 'example.com/other'] as const;

const name = fc.constantFrom('a', 'b', 'c');
const finalizer = fc.constantFrom(...FINALIZERS);
const finalizers = fc.array(finalizer, { maxLength: 3 });
const index = fc.constantFrom('0', '1', '2', '-1');
const word = fc.constantFrom('x', 'y', '<&>');
const LIST = '/metadata/finalizers';

/** What a patch tests first, if anything. */
function guardsOf(of: string): fc.Arbitrary<readonly PatchOperation[]> {
  const uid = { op: 'test', path: '/metadata/uid', value: `{uid of ${of}}` } as const;
  const version = (which: string) =>
    ({ op: 'test', path: '/metadata/resourceVersion', value: `{${which} of ${of}}` }) as const;
  return fc.constantFrom<readonly PatchOperation[]>([], [uid], [uid, version('version')], [version('first version')]);
}

const edits: fc.Arbitrary<readonly PatchOperation[]> = fc.oneof(
  finalizer.map((value) => [{ op: 'add', path: `${LIST}/-`, value }] as const),
  finalizers.map((value) => [{ op: 'add', path: LIST, value }] as const),
  index.map((at) => [{ op: 'remove', path: `${LIST}/${at}` }] as const),
  fc.tuple(index, finalizer).map(
    ([at, value]) =>
      [
        { op: 'test', path: `${LIST}/${at}`, value },
        { op: 'remove', path: `${LIST}/${at}` },
      ] as const,
  ),
  word.map((note) => [{ op: 'add', path: '/metadata/annotations', value: { note } }] as const),
  word.map((value) => [{ op: 'replace', path: '/metadata/annotations/note', value }] as const),
  fc.constant([{ op: 'remove', path: '/metadata/annotations/note' }] as const),
);

const patch = fc
  .tuple(name, edits)
  .chain(([of, operations]) =>
    guardsOf(of).map((guards): ApiStep => ({ do: 'patch', name: of, operations: [...guards, ...operations] })),
  );

const written = fc.oneof(
  fc.record({ finalizers }),
  word.map((team) => ({ labels: { team: team.replaceAll(/\W/g, '') } })),
  fc.nat(2).map((size) => ({ spec: { size } })),
  fc.nat(2).map((size) => ({ status: { size } })),
);

const watch = fc
  .tuple(
    fc.constantFrom('v', 'w'),
    fc.boolean(),
    fc.option(
      fc.oneof(
        fc.constant('list' as const),
        name.map((versionOf) => ({ versionOf })),
        name.map((firstVersionOf) => ({ firstVersionOf })),
      ),
      { nil: undefined },
    ),
  )
  .map(([as, isWithin, from]): ApiStep => ({ do: 'watch', as, isWithin, ...(from === undefined ? {} : { from }) }));

const step: fc.Arbitrary<ApiStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(name, finalizers)
      .map(([of, entries]): ApiStep => ({ do: 'create', name: of, finalizers: entries })),
  },
  { weight: 6, arbitrary: patch },
  { weight: 3, arbitrary: name.map((of): ApiStep => ({ do: 'delete', name: of })) },
  {
    weight: 2,
    arbitrary: fc.tuple(name, written).map(([of, parts]): ApiStep => ({ do: 'replace', name: of, ...parts })),
  },
  { weight: 2, arbitrary: name.map((of): ApiStep => ({ do: 'get', name: of })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('list', 'page'), fc.integer({ min: 1, max: 3 }))
      .map(([doing, limit]): ApiStep => ({ do: doing, limit })),
  },
  { weight: 1, arbitrary: watch },
  { weight: 1, arbitrary: fc.constantFrom('v', 'w').map((one): ApiStep => ({ do: 'see', watch: one })) },
);

/** Scripts that begin with a watch of all, and end with what it has shown and what is left. */
export const randomScripts: fc.Arbitrary<ApiScript> = fc.array(step, { minLength: 4, maxLength: 16 }).map((steps) => ({
  title: 'drawn',
  steps: [
    { do: 'watch', as: 'w' },
    ...steps,
    { do: 'see', watch: 'w' },
    { do: 'see', watch: 'v' },
    { do: 'list', limit: 10 },
  ],
}));
