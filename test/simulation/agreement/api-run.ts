/*
 * Runs a script against an API server, step by step, and writes down what the bridge and others were answered. Called by the
 * tests of agreement, once with a driver over the model and once with one over a real server.
 */
import { ApiError, type ObjectPath, type PatchHow, type Watched } from '../../../bridge/ports.ts';
import { bindingIn } from '../../../bridge/rights-binding.ts';
import { VERBS } from '../../../bridge/rule-rights.ts';
import type { ApiDriver, WriteAnswer } from './api-driver.ts';
import type { ApiScript, ApiStep, ScriptKind } from './api-script.ts';
import { Follower } from './follower.ts';
import { FENCE, KnownObjects } from './known-objects.ts';
import { inOrder, normalised, refusalIn, type Shown, type ShownFrame } from './transcript.ts';

/** Runs a script in a namespace of its own, which is also put before the names of what has none. */
export async function runApiScript(driver: ApiDriver, script: ApiScript, unit: string): Promise<readonly Shown[]> {
  const run = new ApiRun(driver, unit);
  const shown: Shown[] = [];
  await driver.namespace(unit);
  try {
    for (const step of script.steps) shown.push({ step: said(step), saw: await run.do(step) });
  } finally {
    run.end();
  }
  return normalised(shown);
}

function said({ do: doing, ...rest }: ApiStep): string {
  return `${doing} ${JSON.stringify(rest).slice(0, 300)}`;
}

type StepOf<Doing extends ApiStep['do']> = Extract<ApiStep, { readonly do: Doing }>;

class ApiRun {
  readonly #driver: ApiDriver;
  readonly #unit: string;
  readonly #known: KnownObjects;
  readonly #watches = new Map<string, Follower>();
  #list: { readonly version: string; readonly next: string | undefined } = { version: '', next: undefined };
  #fences = 0;

  constructor(driver: ApiDriver, unit: string) {
    this.#driver = driver;
    this.#unit = unit;
    this.#known = new KnownObjects(unit);
  }

  end(): void {
    for (const watch of this.#watches.values()) watch.stop();
  }

  async do(step: ApiStep): Promise<unknown> {
    const driver = this.#driver;
    switch (step.do) {
      case 'create':
        return this.#answer(step.name, await driver.create(step.kind ?? 'machines', this.#path(step), this.#own(step)));
      case 'replace':
        return this.#answer(step.name, await driver.replace(step.kind ?? 'machines', this.#path(step), step));
      case 'delete':
        return { status: (await driver.delete(this.#path(step))).status };
      case 'get':
        return await this.#get(step);
      case 'patch':
        return await this.#patch(step);
      case 'list':
      case 'page':
        return await this.#page(step);
      case 'watch':
        return await this.#watch(step);
      case 'see':
        return await this.#see(step.watch);
      case 'event':
        return await this.#event(step);
      case 'forget':
        return await driver.forget();
      case 'forbid':
      case 'permit':
        return await driver.forbid(step.kind, step.do === 'forbid');
      case 'narrow':
      case 'widen':
        return await driver.narrow(step.do === 'narrow');
      case 'bind':
      case 'unbind':
        return { status: (await driver.bind(this.#unit, step.do === 'bind')).status };
      case 'rights':
        return await driver.rights(this.#unit, step.are === 'given');
      case 'review':
        return await this.#told(() => driver.kinds.lacking(this.#here(), VERBS));
      case 'patchBinding':
        return await this.#patchAt(bindingIn(this.#unit), step.operations);
      case 'endKind':
        return await driver.endKind(step.kind);
      case 'restoreKind':
        return await driver.restoreKind(step.kind);
      case 'guard':
      case 'unguard':
        return await driver.guard(step.do === 'guard');
      case 'limit':
      case 'unlimit':
        return await driver.limit(step.do === 'limit');
      case 'settle':
        return await driver.settle();
      case 'endNamespace':
        return await driver.endNamespace(this.#unit);
      default:
        return step satisfies never;
    }
  }

  #here(): Watched {
    return { ...this.#driver.kindOf('machines'), namespace: this.#unit };
  }

  #path({ name, kind = 'machines' }: { readonly name: string; readonly kind?: ScriptKind }): ObjectPath {
    const ref = this.#driver.kindOf(kind);
    return kind === 'machines' ? { ...ref, namespace: this.#unit, name } : { ...ref, name: `${this.#unit}-${name}` };
  }

  /** Rules are called after the run, and so are their entries. */
  #own(step: StepOf<'create'>): StepOf<'create'> {
    const { finalizers } = step;
    return finalizers === undefined
      ? step
      : { ...step, finalizers: finalizers.map((entry) => entry.replace('{unit}', this.#unit)) };
  }

  #answer(name: string, { status, object }: WriteAnswer): unknown {
    return { status, ...(status < 300 && object !== undefined ? { object: this.#known.whole(name, object) } : {}) };
  }

  async #get(step: StepOf<'get'>): Promise<unknown> {
    return await this.#told(async () => {
      const object = await this.#driver.cluster.get(this.#path(step));
      return object === undefined ? 'missing' : this.#known.whole(step.name, object);
    });
  }

  async #patch({ operations, how, ...named }: StepOf<'patch'>): Promise<unknown> {
    return await this.#patchAt(this.#path(named), operations, { how, name: named.name });
  }

  async #patchAt(
    path: ObjectPath,
    operations: StepOf<'patch'>['operations'],
    { how, name = '' }: { readonly how?: PatchHow | undefined; readonly name?: string } = {},
  ): Promise<unknown> {
    const filled = operations.map((operation) => this.#known.filled(operation));
    return await this.#told(async () => {
      const { cluster } = this.#driver;
      const outcome = await cluster.patch(path, filled, how);
      if (outcome.kind === 'missing') return 'missing';
      const status = this.#driver.patchStatus();
      if (outcome.kind === 'patched' && outcome.object !== undefined) {
        return { status, object: this.#known.whole(name, outcome.object) };
      }
      return { status, ...(outcome.kind === 'patched' ? { meta: this.#known.meta(outcome.meta) } : {}) };
    });
  }

  async #page({
    do: doing,
    limit,
    named,
    isWithin = false,
    kind = 'machines',
  }: StepOf<'list' | 'page'>): Promise<unknown> {
    const next = doing === 'page' ? this.#list.next : undefined;
    if (doing === 'page' && next === undefined) return 'no further page';
    return await this.#told(async () => {
      const within = kind === 'machines' || isWithin ? { namespace: this.#unit } : {};
      const watched = { ...this.#driver.kindOf(kind), ...within, ...(named === undefined ? {} : { name: named }) };
      const page = await this.#driver.cluster.list(watched, { limit, next });
      this.#list = { version: page.resourceVersion, next: page.next };
      const items = page.items.map((meta) => this.#known.meta(meta));
      return { items, goesOn: page.next !== undefined, isFresh: this.#known.isFresh(page.resourceVersion) };
    });
  }

  async #watch({ as, kind = 'machines', from, isWithin = false }: StepOf<'watch'>): Promise<unknown> {
    const { cluster } = this.#driver;
    const version = this.#versionFrom(from);
    const fences = isWithin ? this.#unit : 'default';
    const watched = { ...this.#driver.kindOf(kind), ...(isWithin ? { namespace: this.#unit } : {}) };
    const watch = new Follower({ kind, fences }, (signal) => cluster.watch(watched, version, signal));
    this.#watches.get(as)?.stop();
    this.#watches.set(as, watch);
    await this.#driver.until(`${as} is open`, () => watch.isOpen || watch.ending !== undefined);
    return undefined;
  }

  #versionFrom(from: StepOf<'watch'>['from']): string | undefined {
    if (from === undefined) return undefined;
    if (from === 'list') return this.#list.version || undefined;
    const known = 'versionOf' in from ? this.#known.last(from.versionOf) : this.#known.first(from.firstVersionOf);
    return known?.resourceVersion;
  }

  /** Nothing more is on its way once what was written last, elsewhere, has come. */
  async #see(name: string): Promise<unknown> {
    const watch = this.#watches.get(name);
    if (watch === undefined) return 'no such watch';
    this.#fences += 1;
    const fence = `${FENCE}${this.#unit}-${this.#fences}`;
    const { kind, fences } = watch.place;
    const path = {
      ...this.#driver.kindOf(kind),
      ...(kind === 'machines' ? { namespace: fences } : {}),
      name: fence,
    };
    await this.#driver.create(kind, path, {});
    await this.#driver.delete(path);
    await this.#driver.until(`${name} shows ${fence}`, () => watch.ending !== undefined || watch.hasLost(fence));
    const frames = watch.take().flatMap((frame): readonly ShownFrame[] => {
      if (frame.type === 'opened') return [frame];
      if (frame.type === 'bookmark') {
        return frame.synced ? [{ type: 'synced', isFresh: this.#known.isFresh(frame.resourceVersion) }] : [];
      }
      if (!this.#known.isOurs(frame.meta)) return [];
      const isAdded = frame.type === 'present' && frame.isAdded === true;
      return [{ type: frame.type, ...(isAdded ? { isAdded } : {}), meta: this.#known.meta(frame.meta) }];
    });
    return { frames: inOrder(frames), ...(watch.ending === undefined ? {} : { end: watch.ending }) };
  }

  async #event({ name, ...named }: StepOf<'event'>): Promise<unknown> {
    const { namespace } = this.#path({ name, ...named });
    const { uid = '', resourceVersion = '' } = this.#known.last(name) ?? {};
    return await this.#told(async () => {
      const object = { apiVersion: 'example.com/v1', kind: 'Machine', name, namespace, uid, resourceVersion };
      const told = { type: 'Normal', reason: 'Tried', action: 'Trying', message: 'an attempt' } as const;
      await this.#driver.cluster.recordEvent({ object, ...told });
      return 'recorded';
    });
  }

  /** What a call brought, or the status with which it was refused. */
  async #told(call: () => Promise<unknown>): Promise<unknown> {
    try {
      return await this.#driver.answered(call());
    } catch (error) {
      if (error instanceof ApiError) return { refused: refusalIn(error) };
      throw error;
    }
  }
}
