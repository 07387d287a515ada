/*
 * What a bridge of a later version writes down, as far as this one may come to read it: a record with fields that this version does
 * not know, with a word in the place of one that it knows, or with targets of another form. Put around the cluster port of such a
 * bridge by lead.ts; after a rollback one of this version goes on from there.
 */
import type { Cluster, ObjectMeta, PatchOperation } from '../../../bridge/ports.ts';
import { RECORD } from './ledger.ts';
import type { LaterForm } from './plan.ts';
import { at } from './selection.ts';

const ANNOTATIONS = '/metadata/annotations';
const RECORD_PATH = `${ANNOTATIONS}/${RECORD.replace('/', '~1')}`;

/** What only a later version reads in its records: all of it, as this one has it. */
const OWN = 'own';

/** The same cluster for a bridge of a later version: it reads what it has written, and whatever this one has. */
export function asLater(cluster: Cluster, form: LaterForm): Cluster {
  const records = new LaterRecords(form);
  return {
    ...cluster,
    async get(path) {
      const object = await cluster.get(path);
      return object && { ...object, metadata: records.read(object.metadata) };
    },
    async patch(path, operations, how) {
      const outcome = await cluster.patch(path, operations.map(records.written), how);
      if (outcome.kind !== 'patched') return outcome;
      const { object } = outcome;
      const meta = records.read(outcome.meta);
      return { ...outcome, meta, ...(object === undefined ? {} : { object: { ...object, metadata: meta } }) };
    },
    async list(watched, page) {
      const { items, ...rest } = await cluster.list(watched, page);
      return { ...rest, items: items.map((meta) => records.read(meta)) };
    },
    async *watch(watched, resourceVersion, signal) {
      for await (const frame of cluster.watch(watched, resourceVersion, signal)) {
        yield 'meta' in frame ? { ...frame, meta: records.read(frame.meta) } : frame;
      }
    },
  };
}

class LaterRecords {
  readonly #form: LaterForm;
  /** What stands on an object, by what is read of it. */
  readonly #texts = new Map<string, string>();

  constructor(form: LaterForm) {
    this.#form = form;
  }

  read(meta: ObjectMeta): ObjectMeta {
    const { annotations = {} } = meta;
    const records = Object.entries(annotations).filter(([key]) => key.startsWith(RECORD));
    if (records.length === 0) return meta;
    const read = records.map(([key, text]) => {
      const own = at(JSON.parse(text), OWN);
      if (typeof own !== 'string') this.#texts.delete(text);
      else this.#texts.set(own, text);
      return [key, typeof own === 'string' ? own : text];
    });
    return { ...meta, annotations: { ...annotations, ...Object.fromEntries(read) } };
  }

  readonly written = (operation: PatchOperation): PatchOperation => {
    if (operation.op === 'remove') return operation;
    const { op, path, value } = operation;
    if (path.startsWith(RECORD_PATH)) {
      const text = String(value);
      return { ...operation, value: op === 'test' ? (this.#texts.get(text) ?? text) : laterText(text, this.#form) };
    }
    if (op === 'test' || path !== ANNOTATIONS || typeof value !== 'object' || value === null) return operation;
    const texts = Object.entries(value).map(([key, text]) => [
      key,
      key.startsWith(RECORD) ? laterText(String(text), this.#form) : text,
    ]);
    return { ...operation, value: Object.fromEntries(texts) };
  };
}

function laterText(text: string, form: LaterForm): string {
  const record: unknown = JSON.parse(text);
  if (typeof record !== 'object' || record === null) return text;
  return JSON.stringify({ ...record, ...LATER[form](record), [OWN]: text });
}

const LATER: Readonly<Record<LaterForm, (record: object) => object>> = {
  fields: (record) => ({ targets: targetsIn(record).map((target) => ({ ...target, place: 'somewhere' })) }),
  words: (record) => (at(record, 'phase') === 'Pending' ? { phase: 'Waiting' } : { heard: 'in another form' }),
  targets: (record) => ({ targets: Object.fromEntries(targetsIn(record).map((target, index) => [index, target])) }),
};

function targetsIn(record: object): readonly object[] {
  const targets = at(record, 'targets');
  return Array.isArray(targets) ? targets : [];
}
