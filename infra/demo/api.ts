/*
 * What a person does to the demo's objects with kubectl, as calls to the API server, each told on the time line as the
 * command it stands for. Called by the acts.
 */
import { z } from 'zod/mini';
import type { DemoKind } from './manifests.ts';
import type { Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';

const MERGE_PATCH = { contentType: 'application/merge-patch+json' };

/** The kind and the name in `Bucket/logs`. */
function partsOf({ manifests }: Stage, object: string): { readonly kind: DemoKind; readonly name: string } {
  const [word = '', name = ''] = object.split('/');
  const kind = manifests.kinds.find((one) => one.kind === word);
  if (kind === undefined) throw new Error(`looking for ${object}: the demo has no such kind`);
  return { kind, name };
}

/** As kubectl takes it: `bucket/logs`. */
export function kubectlName(stage: Stage, object: string): string {
  const { kind, name } = partsOf(stage, object);
  return `${kind.singular}/${name}`;
}

/** The name of the rule that holds an object. */
export function ruleOf(stage: Stage, object: string): string {
  return partsOf(stage, object).kind.rule.metadata.name;
}

/** Deletes an object. @throws unless the API server accepts it and holds it back for its finalizers. */
export async function deleteObject(stage: Stage, object: string): Promise<void> {
  const { kind, name } = partsOf(stage, object);
  const { status, body } = await stage.system.kube.request('DELETE', `${kind.path}/${name}`);
  const kept = z.safeParse(z.object({ metadata: z.object({ deletionTimestamp: z.string() }) }), body);
  if (status === 200 && kept.success) return;
  throw new Error(`deleting ${object}: ${status} ${JSON.stringify(body)}`);
}

/** A person's word about one deletion: `<uid>` and what else belongs to it. */
export interface Word {
  readonly key: `${'release' | 'retry'}.finalizer-bridge.dev/`;
  readonly value: string;
}

/** Puts a word on an object, for the rule that holds it, and tells the command. */
export async function giveWord(
  stage: Stage,
  timeline: Timeline,
  word: Word & { readonly object: string },
): Promise<void> {
  const { object, value } = word;
  const key = `${word.key}${ruleOf(stage, object)}`;
  timeline.command(`kubectl -n ${stage.namespace} annotate ${kubectlName(stage, object)} ${key}=${value}`);
  await patch(stage, object, { manager: 'kubectl-annotate', body: { metadata: { annotations: { [key]: value } } } });
}

/** Writes an object's status, as whoever makes the outside thing would. */
export async function writeStatus(stage: Stage, object: string, status: object): Promise<void> {
  await patch(stage, object, { manager: 'demo', subresource: '/status', body: { status } });
}

interface Patch {
  /** Who the managed fields, and what the bridge tells of a word, say has written it. */
  readonly manager: string;
  readonly subresource?: string;
  readonly body: object;
}

async function patch(stage: Stage, object: string, { manager, subresource = '', body }: Patch): Promise<void> {
  const { kind, name } = partsOf(stage, object);
  const path = `${kind.path}/${name}${subresource}?fieldManager=${manager}`;
  const answer = await stage.system.kube.request('PATCH', path, body, MERGE_PATCH);
  if (answer.status !== 200) throw new Error(`patching ${object}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

const list = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

/** The demo's objects that the API server still lists: `Bucket/logs`. */
export async function listObjects({ system, manifests }: Stage): Promise<readonly string[]> {
  const lists = manifests.kinds.map(async ({ kind, path }) => {
    const { status, body } = await system.kube.request('GET', path);
    if (status !== 200) throw new Error(`listing ${path}: ${status} ${JSON.stringify(body)}`);
    return z.parse(list, body).items.map(({ metadata }) => `${kind}/${metadata.name}`);
  });
  return (await Promise.all(lists)).flat();
}
