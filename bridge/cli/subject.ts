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
import { serverWords } from './failure-words.ts';
import { fewOf } from './few.ts';
import { isFor, matchSeen, readRules } from './rule-sight.ts';
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
  const wanted: ObjectPath = { group, version, resource, name, ...(namespaced ? { namespace } : {}) };
  const { path, object } = await readAt(context, wanted);
  const called = `${kindName(kind)}/${name}`;
  if (object === undefined) throw new Failure(`${called} not found${namespaced ? ` in namespace ${namespace}` : ''}`);
  return { kind, path, object, name: called };
}

interface Read {
  readonly path: ObjectPath;
  readonly object: KubeObject | undefined;
}

/**
 * Reads an object, where the API server fails to show it in that version in one that a rule names: while nothing converts
 * between the versions of a kind, it can be read in that of what is stored, and the bridge may well work with it.
 */
async function readAt(context: Context, path: ObjectPath): Promise<Read> {
  try {
    return { path, object: await context.cluster.get(path) };
  } catch (error) {
    if (!isFailing(error)) throw error;
    const read = await readAsRulesDo(context, path);
    if (read === undefined) throw error;
    const { version } = read.path;
    context.err(
      `note: version ${path.version} of ${kindName(path)} cannot be read, so ${version} is, which a rule names: ${serverWords(error)}`,
    );
    return read;
  }
}

/** undefined: neither can it be read in the versions that rules name, or nobody can tell which these are. */
async function readAsRulesDo(context: Context, path: ObjectPath): Promise<Read | undefined> {
  for (const version of await versionsNamed(context, path)) {
    const other = { ...path, version };
    const object = await context.cluster.get(other).catch(() => undefined);
    if (object !== undefined) return { path: other, object };
  }
  return undefined;
}

/** The other versions of a kind that rules name. */
async function versionsNamed(context: Context, { version: known, ...kind }: ObjectPath): Promise<readonly string[]> {
  const rules = await readRules(context).catch(() => []);
  const matches = rules.flatMap((rule) => matchSeen(rule) ?? []).filter((match) => isFor(match, kind));
  return [...new Set(matches.map(({ version }) => version))].filter((version) => version !== known);
}

/** Whether the API server could not do what was asked, as where a webhook that converts between versions does not answer. */
function isFailing(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status >= 500;
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
  subject: Subject,
  rule: Pick<Rule, 'name' | 'match'>,
): Promise<Versioned> {
  const { path, object } = subject;
  const { version } = rule.match;
  if (version === path.version) return { object };
  try {
    const other = await cluster.get({ ...path, version });
    return { object: other?.metadata.uid === object.metadata.uid ? other : object };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return { object, note: noteOnVersion(subject, rule, 'is not served') };
  }
}

/** The same for words only: what cannot be read in that version is said so, and is not the end of it. */
export async function inVersionIfReadable(
  context: Context,
  subject: Subject,
  rule: Pick<Rule, 'name' | 'match'>,
): Promise<Versioned> {
  try {
    return await inVersion(context, subject, rule);
  } catch (error) {
    if (!isFailing(error)) throw error;
    return { object: subject.object, note: noteOnVersion(subject, rule, `cannot be read (${serverWords(error)})`) };
  }
}

function noteOnVersion({ kind, path }: Subject, { name, match }: Pick<Rule, 'name' | 'match'>, how: string): string {
  const computed = `what follows from the object is computed from version ${path.version}`;
  return `${kindName(kind)} ${how} in version ${match.version}, which rule ${name} names: ${computed}`;
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
