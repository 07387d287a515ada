/*
 * The fake API server of the unit tests in the hands of a script: its own port, and its own methods for what others do. Used by
 * agreement-fake.test.ts, which holds it against the model.
 */
import { ApiError, type KubeObject, type ObjectPath } from '../../../bridge/ports.ts';
import { RULE_KIND } from '../../../bridge/rule-facts.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { FakeCluster } from '../../support/fake-cluster.ts';
import { FLEET_KINDS } from '../fleet/plan.ts';
import { keepingStatus } from '../object-rules.ts';
import { type ApiDriver, partsOf, type WriteAnswer, withSpec } from './api-driver.ts';

const KINDS = { machines: FLEET_KINDS.machines, volumes: FLEET_KINDS.volumes, rules: TEARDOWN_RULES } as const;
const NAMES = { machines: 'Machine', volumes: 'Volume', rules: RULE_KIND } as const;
const TURNS_MAX = 1_000;

/** Makes a fake with nothing in it. `server`: one that is wrong, to show that it is noticed. */
export function createApiFake(cluster = new FakeCluster()): ApiDriver {
  const there = (path: ObjectPath) => cluster.peek(path.name, path);
  let uids = 0;
  const none = async (): Promise<never> => {
    throw new Error('running a script: the fake has no such thing');
  };
  return {
    cluster,
    patchStatus: () => cluster.patchStatus,
    kindOf: (kind) => KINDS[kind],
    namespace: async () => {},
    async create(kind, path, written) {
      if (there(path) !== undefined) return { status: 409 };
      uids += 1;
      const { fields, meta } = partsOf(withSpec(kind, written));
      const { status, ...unsaid } = fields;
      const own = kind === 'rules' ? unsaid : fields;
      const identity = { name: path.name, namespace: path.namespace, uid: `uid-${uids}`, kind: path };
      return answered(() => cluster.create({ ...identity, ...meta, fields: { ...own, kind: NAMES[kind] } }), 201);
    },
    async replace(_kind, path, written) {
      if (there(path) === undefined) return { status: 404 };
      const { fields, meta } = partsOf(written);
      const change = (object: KubeObject) =>
        keepingStatus(path, object, { ...object, ...fields, metadata: { ...object.metadata, ...meta } });
      return answered(() => cluster.change(path.name, change, path), 200);
    },
    async delete(path) {
      if (there(path) === undefined) return { status: 404 };
      cluster.delete(path.name, {}, path);
      return { status: 200 };
    },
    ...{ forget: none, forbid: none, endKind: none, restoreKind: none, settle: none, endNamespace: none, guard: none },
    ...{ kinds: { lacking: none }, narrow: none, bind: none, rights: none, limit: none },
    answered: async (call) => await call,
    until: turning,
  };
}

/** The fake waits for nothing but its callers: what is not so after so many turns of the event loop never will be. */
async function turning(what: string, isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    if (isSo()) return;
    await new Promise(setImmediate);
  }
  throw new Error(`waiting in the fake until ${what}: never`);
}

function answered(write: () => KubeObject, status: number): WriteAnswer {
  try {
    return { status, object: write() };
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status };
    throw error;
  }
}
