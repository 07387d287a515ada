/*
 * What an API server has to offer to be run by a script: the bridge's own port, and what others do to it. Made by api-model.ts
 * over the model and by api-real.ts over a real server; api-run.ts works with either and knows no difference.
 */
import type { Cluster, KindRef, Kinds, ObjectPath } from '../../../bridge/ports.ts';
import { defaultedSpec } from '../../support/rule-corpus.ts';
import type { ScriptKind, Written } from './api-script.ts';

/** The answer to somebody's write: a status of HTTP, and the object that came back. */
export interface WriteAnswer {
  readonly status: number;
  readonly object?: unknown;
}

/** An API server in the hands of a script. */
export interface ApiDriver {
  /** The bridge's port. */
  readonly cluster: Cluster;
  /** The status of HTTP of the last PATCH that went through the port. */
  patchStatus(): number | undefined;
  kindOf(kind: ScriptKind): KindRef;
  /** Makes the namespace of a script. */
  namespace(name: string): Promise<void>;
  create(kind: ScriptKind, path: ObjectPath, written: Written): Promise<WriteAnswer>;
  replace(kind: ScriptKind, path: ObjectPath, written: Written): Promise<WriteAnswer>;
  delete(path: ObjectPath): Promise<WriteAnswer>;
  forget(): Promise<void>;
  forbid(kind: ScriptKind, isForbidden: boolean): Promise<void>;
  /** What the bridge asks of its rights. */
  readonly kinds: Pick<Kinds, 'lacking'>;
  /** Takes the rights on machines in the whole cluster away, or gives them back. */
  narrow(isNarrow: boolean): Promise<void>;
  /** Makes or deletes the RoleBinding in a namespace. */
  bind(namespace: string, isBound: boolean): Promise<WriteAnswer>;
  rights(namespace: string, areGiven: boolean): Promise<void>;
  endKind(kind: ScriptKind): Promise<void>;
  restoreKind(kind: ScriptKind): Promise<void>;
  settle(): Promise<void>;
  guard(isGuarded: boolean): Promise<void>;
  /** Refuses every call of the bridge as one too many, or no more. */
  limit(isLimited: boolean): Promise<void>;
  endNamespace(name: string): Promise<void>;
  /** Lets time go on until a call has been answered. */
  answered<T>(call: Promise<T>): Promise<T>;
  /** Lets time go on until something is so. */
  until(what: string, isSo: () => boolean): Promise<void>;
}

/** A rule without a spec is one with every default written out: the definition would put them in, and the model has none. */
export function withSpec(kind: ScriptKind, written: Written): Written {
  return kind === 'rules' ? { spec: defaultedSpec, ...written } : written;
}

/** What of a step is metadata, and what are fields beside it. */
export function partsOf({ spec, status, finalizers, labels, annotations }: Written) {
  return {
    fields: { ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) },
    meta: {
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
  };
}
