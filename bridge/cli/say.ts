/*
 * Writes a person's word on an object: one guarded JSON patch that touches our own annotations only, on exactly the object
 * that was looked at, tried again when the object has moved. Called by retry, release and approve.
 */
import { entryOf, guards, hasEntry } from '../finalizer.ts';
import type { ObjectMeta, PatchOperation } from '../ports.ts';
import { type Context, Failure } from './command.ts';
import { refused } from './failure-words.ts';
import type { Subject } from './subject.ts';

const ROUNDS_MAX = 5;

/** A word: the annotations that say it, by the metadata they are written over. */
export interface Word {
  /** `releasing`, for errors. */
  readonly doing: string;
  readonly rule: string;
  annotations(meta: ObjectMeta): Readonly<Record<string, string>>;
}

/** Writes it; resolves to the metadata with the word on. Throws a Failure when it is too late or refused. */
export async function sayWord({ cluster }: Context, subject: Subject, word: Word): Promise<ObjectMeta> {
  const { name, path } = subject;
  let { metadata: meta } = subject.object;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const outcome = await cluster.patch(path, annotate(meta, word.annotations(meta)));
    if (outcome.kind === 'patched') return outcome.meta;
    const now = outcome.kind === 'missing' ? undefined : (await cluster.get(path))?.metadata;
    if (now === undefined || now.uid !== meta.uid) throw new Failure(`${word.doing} ${name}: it is gone by now`);
    if (!hasEntry(now, entryOf(word.rule)))
      throw new Failure(`${word.doing} ${name}: the entry of ${word.rule} is off by now`);
    if (outcome.kind === 'conflict' && now.resourceVersion === meta.resourceVersion)
      throw refused(`${word.doing} ${name}`, outcome.said);
    meta = now;
  }
  throw new Failure(`${word.doing} ${name}: it keeps changing; try again`);
}

/** Sets annotations on exactly the object that was read; others are not touched. */
export function annotate(meta: ObjectMeta, values: Readonly<Record<string, string>>): readonly PatchOperation[] {
  if (meta.annotations === undefined)
    return [...guards(meta), { op: 'add', path: '/metadata/annotations', value: values }];
  return [
    ...guards(meta),
    ...Object.entries(values).map(([key, value]): PatchOperation => {
      return { op: 'add', path: `/metadata/annotations/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, value };
    }),
  ];
}
