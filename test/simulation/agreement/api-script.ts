/*
 * The language in which a behaviour of the API server is written down: steps as data, run against the model and against a real
 * one by api-run.ts. What stands in braces in a text is filled in from what was read so far: `{uid of a}`, `{version of a}`,
 * `{first version of a}`. The scripts are in scripts-*.ts; api-random.ts draws more.
 */
import type { PatchHow, PatchOperation } from '../../../bridge/ports.ts';

/** The kinds that scripts speak of. `rules` have a status of their own (a subresource), `volumes` no namespace. */
export const SCRIPT_KINDS = ['machines', 'volumes', 'rules'] as const;
export type ScriptKind = (typeof SCRIPT_KINDS)[number];

interface Named {
  readonly name: string;
  /** Machines unless told. */
  readonly kind?: ScriptKind;
}

/** What of an object a person writes; what is not named stays. */
export interface Written {
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** One step. `get`, `patch`, `list`, `page`, `watch` and `event` are the bridge's own calls; the others are somebody else's. */
export type ApiStep =
  | ({ readonly do: 'create' } & Named & Written)
  /** PUT of the object as it is, with these parts replaced. */
  | ({ readonly do: 'replace' } & Named & Written)
  | ({ readonly do: 'delete' } & Named)
  | ({ readonly do: 'get' } & Named)
  | ({
      readonly do: 'patch';
      readonly operations: readonly PatchOperation[];
      readonly how?: PatchHow;
    } & Named)
  /** The same of the binding in the script's namespace. */
  | { readonly do: 'patchBinding'; readonly operations: readonly PatchOperation[] }
  /** The first page of a list of the script's namespace, all or the one of a name, and the next one of the same list. */
  | {
      readonly do: 'list' | 'page';
      readonly limit: number;
      readonly kind?: ScriptKind;
      readonly named?: string;
      readonly isWithin?: boolean;
    }
  /** From the beginning, or from the version of an object or of the last list as it was read. */
  | {
      readonly do: 'watch';
      readonly as: string;
      readonly kind?: ScriptKind;
      /** Only the script's namespace. */
      readonly isWithin?: boolean;
      readonly from?: 'list' | { readonly versionOf: string } | { readonly firstVersionOf: string };
    }
  /** What a watch has brought since it was last looked at, up to what is written by now. */
  | { readonly do: 'see'; readonly watch: string }
  /** An Event about an object as it was read. */
  | ({ readonly do: 'event' } & Named)
  /** The server forgets its history. */
  | { readonly do: 'forget' }
  /** The bridge's rights on a kind are taken away, and come back. */
  | { readonly do: 'forbid' | 'permit'; readonly kind: ScriptKind }
  /** The bridge's rights on machines in the whole cluster are taken away, and come back. */
  | { readonly do: 'narrow' | 'widen' }
  /** They are given in the script's namespace by a RoleBinding, and somebody deletes that. */
  | { readonly do: 'bind' | 'unbind' }
  /** Waits until what was given, or taken away, in the script's namespace is in force. */
  | { readonly do: 'rights'; readonly are: 'given' | 'taken' }
  /** Which verbs the bridge is told to lack on machines in the script's namespace. */
  | { readonly do: 'review' }
  /** The definition of a kind is deleted, and written again once it is gone. */
  | { readonly do: 'endKind' | 'restoreKind'; readonly kind: ScriptKind }
  /** What was written about rules has come to the admission policy. */
  | { readonly do: 'settle' }
  /** Somebody's validating policies (guard-policy.ts) are in force, or no more. */
  | { readonly do: 'guard' | 'unguard' }
  /** Every call of the bridge is one too many, or no more. */
  | { readonly do: 'limit' | 'unlimit' }
  /** The script's namespace is deleted; once it is empty it may go. */
  | { readonly do: 'endNamespace' };

/** One behaviour. */
export interface ApiScript {
  /** A sentence about the API server. */
  readonly title: string;
  /** The namespace in which it is to be; one of its own unless told. */
  readonly unit?: string;
  readonly steps: readonly ApiStep[];
}
