/*
 * `explain`: why an object does not go away, and what to do. Every entry of ours with its rule, state and next command, and
 * everybody else's finalizers with their probable owners. Reads the object and its rules only, so it works with the bridge
 * down and with few rights. Facts come from entry-facts.ts and finalizer-owners.ts; explain-lines.ts makes them readable.
 */
import * as z from 'zod/mini';
import { entryOf } from '../finalizer.ts';
import type { KubeObject } from '../ports.ts';
import { statusOf, WITHDRAWAL_FINALIZER } from '../teardown-rules.ts';
import type { Commands } from './advice.ts';
import { type Context, defineCommand, EXIT } from './command.ts';
import { type EntryFacts, factsOfEntry } from './entry-facts.ts';
import { type Explained, linesOf } from './explain-lines.ts';
import { otherFinalizers } from './finalizer-owners.ts';
import { leaderSeen } from './leader-sight.ts';
import { print } from './print.ts';
import { readRule } from './rule-sight.ts';
import { commandOf, quoted } from './shell.ts';
import {
  beganOf,
  entriesOf,
  findSubject,
  inVersionIfReadable,
  isRule,
  ownCommand,
  type Subject,
  takesSubject,
  type Versioned,
} from './subject.ts';
import { timeOf } from './times.ts';

const blocking = z.looseObject({
  status: z.optional(
    z.looseObject({
      conditions: z.optional(
        z.array(
          z.looseObject({
            type: z.string(),
            status: z.string(),
            reason: z.optional(z.string()),
            message: z.optional(z.string()),
          }),
        ),
      ),
    }),
  ),
  spec: z.optional(z.looseObject({ finalizers: z.optional(z.array(z.string())) })),
});

/** For each a rule is looked up, and anybody who may write an object can give it any number. */
const ENTRIES_MAX = 50;

export const explain = defineCommand({
  name: 'explain',
  summary: 'Says why an object does not go away, and what to do about it',
  usage: takesSubject,
  options: z.object({}),
  async run(context, args) {
    const subject = await findSubject(context, args);
    const explained = await explainSubject(context, subject);
    print(context, { data: explained, lines: linesOf(explained, context.clock.now()) });
    return EXIT.ok;
  },
});

async function explainSubject(context: Context, subject: Subject): Promise<Explained> {
  const { object, path } = subject;
  const { metadata } = object;
  const entries: EntryFacts[] = [];
  const notes: string[] = [];
  const names = entriesOf(subject);
  for (const name of names.slice(0, ENTRIES_MAX)) {
    const { facts, note } = await explainEntry(context, subject, name);
    entries.push(facts);
    if (note !== undefined) notes.push(note);
  }
  const withdrawing = isRule(subject.kind) && metadata.finalizers?.includes(WITHDRAWAL_FINALIZER) === true;
  const ours = new Set([...names.map(entryOf), ...(withdrawing ? [WITHDRAWAL_FINALIZER] : [])]);
  const began = beganOf(metadata);
  return {
    object: subject.name,
    ...(path.namespace === undefined ? {} : { namespace: path.namespace }),
    uid: metadata.uid,
    deleting: began !== undefined,
    ...(began === undefined ? {} : { deletedAt: timeOf(began) }),
    entries,
    moreEntries: names.length - entries.length,
    others: [...otherFinalizers(withSpecFinalizers(subject), (finalizer) => ours.has(finalizer))],
    withdrawing: withdrawing && began !== undefined,
    notes: [...notesOn(subject), ...notes, ...(entries.length === 0 ? [] : await noteOnLeader(context, subject))],
  };
}

/** Nothing of ours goes on while nobody leads. */
async function noteOnLeader(context: Context, { object }: Subject): Promise<readonly string[]> {
  if (object.metadata.deletionTimestamp === undefined) return [];
  const seen = await leaderSeen(context);
  if (seen === undefined || seen.leader !== undefined) return [];
  const since = seen.renewedAt === undefined ? '' : `: the last lease was renewed at ${seen.renewedAt}`;
  return [`no bridge leads${since}; nothing goes on before one does`];
}

async function explainEntry(context: Context, subject: Subject, name: string) {
  const sight = await readRule(context, name, subject.kind);
  const rule = sight.kind === 'found' ? sight.rule : undefined;
  const { object, note }: Versioned = rule === undefined ? subject : await inVersionIfReadable(context, subject, rule);
  const commands = commandsFor(context, subject, name);
  return { facts: factsOfEntry({ name, object, sight, now: context.clock.now(), commands }), note };
}

function commandsFor(context: Context, subject: Subject, rule: string): Commands {
  const own = (verb: string, ...options: readonly string[]) =>
    ownCommand(context, subject, [verb, '--rule', rule, ...options]);
  const { namespace } = subject.path;
  const place = namespace === undefined ? [] : ['-n', namespace];
  const kubectl = `kubectl${context.kubectlFlags}`;
  return {
    retry: own('retry'),
    release: `${own('release')} --reason ${quoted('WHY')}`,
    releaseNow: `${own('release', '--now')} --reason ${quoted('WHY')}`,
    approve: own('approve'),
    adopt: own('adopt'),
    describeRule: `${kubectl} ${commandOf('describe', 'teardownrule.finalizer-bridge.dev', rule)}`,
    describeObject: `${kubectl} ${commandOf('describe', ...place, subject.name)}`,
  };
}

/** A namespace has finalizers of its own kind, in its spec. */
function withSpecFinalizers({ kind, object }: Subject): KubeObject {
  if (kind.group !== '' || kind.resource !== 'namespaces') return object;
  const { spec } = blocking.parse(object);
  const finalizers = [...(object.metadata.finalizers ?? []), ...(spec?.finalizers ?? [])];
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

/** What kinds that hold others say themselves of what they wait for. */
function notesOn({ kind, object }: Subject): readonly string[] {
  if (object.metadata.deletionTimestamp === undefined) return [];
  if (isRule(kind)) {
    const blocked = statusOf(object).conditions?.find(({ type }) => type === 'WithdrawalBlocked');
    const said = blocked === undefined ? 'the bridge has not begun with it' : `${blocked.reason}: ${blocked.message}`;
    return [
      `this is a rule, and it is being withdrawn; ${said}`,
      `without a bridge, drain finishes it: finalizer-bridge drain --rule ${object.metadata.name}`,
    ];
  }
  if (kind.group !== '' || kind.resource !== 'namespaces') return [];
  const { status } = blocking.parse(object);
  return (status?.conditions ?? [])
    .filter((condition) => condition.status === 'True')
    .map(({ reason, type, message = '' }) => `${reason ?? type}: ${message}`);
}
