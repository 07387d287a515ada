/*
 * The object that a command line is about: from `KIND/NAME` or `KIND NAME` to the object as it is now, and the one entry
 * of it that is meant. Called by explain, retry, release, approve and adopt.
 */
import type { Command as Usage } from 'commander';
import { deletionBegan, type Target } from '../contract.ts';
import { rulesHolding } from '../finalizer.ts';
import { kindName } from '../kind-key.ts';
import { ApiError, type KubeObject, type ObjectMeta, type ObjectPath } from '../ports.ts';
import type { Rule } from '../rule.ts';
import { RULE_RESOURCE } from '../rule-facts.ts';
import { kindNamed, type ServedKind } from './catalogue.ts';
import { type Context, Failure, misused } from './command.ts';
import { fewOf } from './few.ts';
import { commandOf } from './shell.ts';

/** An object and how it is called. */
export interface Subject {
  readonly kind: ServedKind;
  readonly path: ObjectPath;
  readonly object: KubeObject;
  /** `buckets.storage.example.com/logs`, which is a name for kubectl, and the one in the bridge's Events. */
  readonly name: string;
}

const SUBJECT_USAGE = 'KIND/NAME, or KIND NAME; kinds as for kubectl';

/** The arguments of commands about one object. */
export function takesSubject(command: Usage): Usage {
  return command.argument('<kind/name>', SUBJECT_USAGE).argument('[name]');
}

/** The arguments and the option of commands about one entry of an object. */
export function takesEntry(command: Usage): Usage {
  return takesSubject(command).option(
    '--rule <name>',
    'rule whose entry is meant; needed where several hold the object',
  );
}

/** Finds the object. Throws a Failure that says which part of its name is wrong. */
export async function findSubject(context: Context, args: readonly string[]): Promise<Subject> {
  const { word, name } = namesOf(args);
  const kind = await findKind(context, word);
  const { group, version, resource, namespaced } = kind;
  const { namespace } = context;
  const path: ObjectPath = { group, version, resource, name, ...(namespaced ? { namespace } : {}) };
  const object = await context.cluster.get(path);
  const called = `${kindName(kind)}/${name}`;
  if (object === undefined) throw new Failure(`${called} not found${namespaced ? ` in namespace ${namespace}` : ''}`);
  return { kind, path, object, name: called };
}

/** The kind that a word means. */
export async function findKind({ catalogue }: Context, word: string): Promise<ServedKind> {
  const kind = kindNamed(await catalogue.kinds(), word);
  if (kind === undefined) throw new Failure(`the API server serves no kind "${word}"`);
  return kind;
}

function namesOf(args: readonly string[]): { readonly word: string; readonly name: string } {
  const [first = '', second, ...rest] = args;
  const slash = first.indexOf('/');
  const isPair = slash < 0;
  const [word, name] = isPair ? [first, second] : [first.slice(0, slash), first.slice(slash + 1)];
  const isTooMuch = rest.length > 0 || (!isPair && second !== undefined);
  if (isTooMuch || word === '' || name === undefined || name === '' || name.includes('/'))
    throw misused(`one object is needed: ${SUBJECT_USAGE}`);
  return { word, name };
}

/** The rules whose entries an object carries. A rule's own finalizer has our prefix and is no entry. */
export function entriesOf({ kind, object }: Subject): readonly string[] {
  return isRule(kind) ? [] : rulesHolding(object.metadata);
}

/** Whether a kind is that of the rules themselves. */
export function isRule({ group, resource }: ServedKind): boolean {
  return group === 'finalizer-bridge.dev' && resource === RULE_RESOURCE;
}

/** The rule whose entry is meant: the named one, or the only one. */
function chosenRule(subject: Subject, wanted: string | undefined): string {
  const entries = entriesOf(subject);
  const { finalizers = [] } = subject.object.metadata;
  const others = finalizers.length === 0 ? 'it has no finalizers' : `its finalizers: ${fewOf(finalizers)}`;
  const [only, ...more] = entries;
  if (only === undefined) throw new Failure(`${subject.name} carries no entry of Finalizer Bridge; ${others}`);
  if (wanted !== undefined) {
    if (!entries.includes(wanted))
      throw new Failure(`${subject.name} carries no entry of a rule ${wanted}; it does of: ${fewOf(entries)}`);
    return wanted;
  }
  if (more.length > 0) throw misused(`several rules hold ${subject.name}: ${fewOf(entries)}; say which by --rule`);
  return only;
}

/** An object in the version that a rule names; else as it is served, and a note that says so. */
export interface Versioned {
  readonly object: KubeObject;
  readonly note?: string;
}

/** The object in another version of its kind: expressions are over the version that the rule names. */
export async function inVersion(
  { cluster }: Context,
  { kind, path, object }: Subject,
  { name, match: { version } }: Pick<Rule, 'name' | 'match'>,
): Promise<Versioned> {
  if (version === path.version) return { object };
  try {
    const other = await cluster.get({ ...path, version });
    return { object: other?.metadata.uid === object.metadata.uid ? other : object };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    const of = kindName(kind);
    const note = `${of} is not served in version ${version}, which rule ${name} names: what follows from the object is computed from version ${path.version}`;
    return { object, note };
  }
}

/** An entry of an object. */
export interface Entry {
  readonly subject: Subject;
  readonly rule: string;
}

/** The one entry of an object that is meant. Throws a Failure when there is none. */
export async function findEntry(context: Context, args: readonly string[], wanted: string | undefined): Promise<Entry> {
  const subject = await findSubject(context, args);
  return { subject, rule: chosenRule(subject, wanted) };
}

/** What a person's word is about: one entry of an object that is being deleted. Throws a Failure when there is none. */
export async function findDeleting(
  context: Context,
  args: readonly string[],
  { word, wanted }: { readonly word: string; readonly wanted: string | undefined },
): Promise<Entry> {
  const entry = await findEntry(context, args, wanted);
  if (entry.subject.object.metadata.deletionTimestamp === undefined) throw notDeleting(entry.subject, word);
  return entry;
}

/** A person's words are about one deletion. */
export function notDeleting({ name }: Subject, word: string): Failure {
  return new Failure(`${name} is not being deleted, so there is nothing to ${word}`);
}

/** When the deletion was asked for, in ms since the epoch; undefined for a live object. */
export function beganOf(meta: ObjectMeta): number | undefined {
  return meta.deletionTimestamp === undefined
    ? undefined
    : deletionBegan(meta.deletionTimestamp, meta.deletionGracePeriodSeconds);
}

/** A command of ours about an object, ready to be pasted; words in the order that the bridge's Events have. */
export function ownCommand({ self }: Context, { name, path }: Subject, words: readonly string[]): string {
  const [verb = '', ...options] = words;
  const place = path.namespace === undefined ? [] : ['-n', path.namespace];
  return `${self} ${commandOf(verb, name, ...place, ...options)}`;
}

/** A target as people read it: `bucket=logs region=eu-central-1`. */
export function targetWords(target: Target): string {
  return Object.entries(target)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
