/*
 * The last thing of a drain that left nothing: the finalizer that keeps the bridge's rights in a namespace comes off its
 * RoleBinding, so that this, and the namespace, can be deleted also when no bridge runs any more. Called by drain.ts.
 */
import { hasEntry, removeEntry } from '../../finalizer.ts';
import { listAll } from '../../listing.ts';
import { explain } from '../../log.ts';
import { stateOfNamespace } from '../../namespace-existence.ts';
import { ApiError, type ObjectMeta } from '../../ports.ts';
import { bindingIn, RIGHTS_BINDING, RIGHTS_FINALIZER } from '../../rights-binding.ts';
import { refused } from '../failure-words.ts';
import type { DrainWorld } from './api.ts';
import type { Left } from './step.ts';
import type { Unseen } from './sweep.ts';

const ROUNDS_MAX = 5;

type World = Pick<DrainWorld, 'cluster'>;

/** What came of it. */
export interface RightsEnd {
  readonly left: readonly Left[];
  readonly unseen: readonly Unseen[];
}

/** Gives up what is kept, in all namespaces where those may be listed, else in these. Never throws. */
export async function giveUpRights(world: World, namespaces: readonly string[]): Promise<RightsEnd> {
  const left: Left[] = [];
  const unseen: Unseen[] = [];
  for (const namespace of await keptIn(world, namespaces).catch(() => namespaces)) {
    try {
      if ((await giveUp(world, namespace)) === 'unseen') {
        unseen.push({ what: `${RIGHTS_BINDING.resource} in ${namespace}`, why: 'may not be read' });
      }
    } catch (error) {
      const why = `the RoleBinding ${RIGHTS_BINDING.name} in ${namespace} keeps its finalizer ${RIGHTS_FINALIZER}: ${explain(error)}`;
      left.push({ rule: '(rights)', step: { state: 'blocked', why, nextIn: 0, moves: false, by: [] } });
    }
  }
  return { left, unseen };
}

/** The namespaces that have such a binding; all of these where bindings may not be listed. */
async function keptIn({ cluster }: World, namespaces: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  const listed = await listAll(cluster, RIGHTS_BINDING, ({ namespace, ...meta }) => {
    if (namespace !== undefined && hasEntry(meta, RIGHTS_FINALIZER)) found.push(namespace);
  });
  return listed === 'listed' ? found : namespaces;
}

async function giveUp({ cluster }: World, namespace: string): Promise<'done' | 'unseen'> {
  const path = bindingIn(namespace);
  let before: ObjectMeta | undefined;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const meta = await read(cluster, namespace);
    if (meta === 'unseen') return 'unseen';
    const operations = meta === undefined ? undefined : removeEntry(meta, RIGHTS_FINALIZER);
    if (meta === undefined || operations === undefined) return 'done';
    const outcome = await cluster.patch(path, operations);
    if (outcome.kind !== 'conflict') return 'done';
    if (before?.resourceVersion === meta.resourceVersion) throw refused('taking it off', outcome.said);
    before = meta;
  }
  throw new Error(`it keeps changing under ${ROUNDS_MAX} looks`);
}

/** undefined: there is none. */
async function read(cluster: World['cluster'], namespace: string): Promise<ObjectMeta | 'unseen' | undefined> {
  try {
    return (await cluster.get(bindingIn(namespace)))?.metadata;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 403)) throw error;
    // Where the namespace is gone the right in it is as well.
    return (await stateOfNamespace(cluster, namespace)) === 'missing' ? undefined : 'unseen';
  }
}
