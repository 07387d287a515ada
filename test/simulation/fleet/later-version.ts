/*
 * What a bridge of a later version writes down, as far as this one may come to read it: a record with fields that this version does
 * not know, with a word in the place of one that it knows, or with targets of another form. Put around the cluster port of such a
 * bridge by lead.ts; after a rollback one of this version goes on from there.
 */
import type { Cluster, PatchOperation } from '../../../bridge/ports.ts';
import { RECORD } from './ledger.ts';
import type { LaterForm } from './plan.ts';
import { at } from './selection.ts';

const ANNOTATIONS = '/metadata/annotations';
const RECORD_PATH = `${ANNOTATIONS}/${RECORD.replace('/', '~1')}`;

/** The same cluster for a bridge of a later version. */
export function writingAsLater(cluster: Cluster, form: LaterForm): Cluster {
  return {
    ...cluster,
    patch: (path, operations, subresource) =>
      cluster.patch(
        path,
        operations.map((operation) => laterOperation(operation, form)),
        subresource,
      ),
  };
}

function laterOperation(operation: PatchOperation, form: LaterForm): PatchOperation {
  if (operation.op !== 'add' && operation.op !== 'replace') return operation;
  const { path, value } = operation;
  if (path.startsWith(RECORD_PATH)) return { ...operation, value: laterText(String(value), form) };
  if (path !== ANNOTATIONS || typeof value !== 'object' || value === null) return operation;
  const texts = Object.entries(value).map(([key, text]) => [
    key,
    key.startsWith(RECORD) ? laterText(String(text), form) : text,
  ]);
  return { ...operation, value: Object.fromEntries(texts) };
}

function laterText(text: string, form: LaterForm): string {
  const record: unknown = JSON.parse(text);
  if (typeof record !== 'object' || record === null) return text;
  return JSON.stringify({ ...record, form: 2, ...LATER[form](record) });
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
