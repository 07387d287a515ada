/*
 * `release`: lets an object go without teardown, on a person's word. Writes `release.finalizer-bridge.dev/<rule>` and the
 * reason in one patch, so that the API server's audit log has who, what and why together; the bridge's Events repeat it.
 * The bridge takes the entry off (decide.ts, row 2): when no request that was sent can still run, or at once.
 */
import * as z from 'zod/mini';
import type { Target } from '../contract.ts';
import { othersRunsEnd } from '../observe.ts';
import { REASON_MAX, REASON_PREFIX, RELEASE_PREFIX } from '../words.ts';
import { type Context, defineCommand, EXIT, Failure, misused } from './command.ts';
import { print } from './print.ts';
import { type RuleSight, readRule } from './rule-sight.ts';
import { sayWord } from './say.ts';
import { isPrintable } from './shell.ts';
import {
  beganOf,
  type Entry,
  findEntry,
  inVersionIfReadable,
  notDeleting,
  type Subject,
  takesEntry,
  targetWords,
  type Versioned,
} from './subject.ts';
import { timeOf } from './times.ts';

/** How much of a uid is asked for. */
const ASKED_CHARACTERS = 6;
/** One that starts later has to assume that a request was sent until then (trap V1). */
const CONDITIONS = 'if it runs until then; sooner where it knows that nothing was sent';

export const release = defineCommand({
  name: 'release',
  summary: 'Lets an object go without taking its outside resource down',
  usage: (command) =>
    takesEntry(command)
      .option('--reason <text>', 'why; kept on the object, in the audit log and in Events')
      .option('--now', 'do not wait until no request that was sent can still run')
      .option('--yes', `do not ask for the last ${ASKED_CHARACTERS} characters of the uid`),
  options: z.object({
    rule: z.optional(z.string()),
    reason: z.optional(z.string()),
    now: z._default(z.boolean(), false),
    yes: z._default(z.boolean(), false),
  }),
  async run(context, args, options) {
    const entry = await findEntry(context, args, options.rule);
    const { subject, rule } = entry;
    const { leaves, offBy, isLive } = await foresee(context, entry);
    const by = options.now || isLive ? undefined : offBy;
    const asking = { rule, by, leaves, yes: options.yes, isLive };
    warn(context, subject, asking);
    const reason = await reasonFor(context, options.reason);
    await confirm(context, subject, asking);
    const { uid } = subject.object.metadata;
    await sayWord(context, subject, {
      ...{ doing: 'releasing', rule },
      annotations: () => ({
        [RELEASE_PREFIX + rule]: options.now ? `${uid}/now` : uid,
        [REASON_PREFIX + rule]: `${uid}/${reason}`,
      }),
    });
    const { name, path } = subject;
    const offAt = by === undefined ? undefined : timeOf(by);
    print(context, {
      data: {
        ...{ object: name, namespace: path.namespace, uid, rule, word: 'release' },
        ...{ now: options.now, reason, offBy: offAt, leaves },
      },
      lines: [doneLine(name, asking)],
    });
    return EXIT.ok;
  },
});

/** What a release leaves outside, as far as it can be computed, and when a bridge that runs now takes the entry off. */
async function foresee(context: Context, { subject, rule: name }: Entry) {
  const now = context.clock.now();
  const sight = await readRule(context, name, subject.kind);
  const isLive = subject.object.metadata.deletionTimestamp === undefined;
  if (isLive) mustHaveNoRule(subject, name, sight);
  if (sight.kind === 'unreadable') context.err(`note: rule ${name} cannot be read, so the longest term is assumed`);
  const rule = sight.kind === 'found' ? sight.rule : undefined;
  const { object, note }: Versioned = rule === undefined ? subject : await inVersionIfReadable(context, subject, rule);
  if (note !== undefined) context.err(`note: ${note}`);
  const target = rule?.evaluate(object).target;
  // Nothing is sent from the word on.
  const began = beganOf(subject.object.metadata) ?? now;
  return {
    isLive,
    leaves: target?.kind === 'found' ? target.target : undefined,
    offBy: Math.max(now, othersRunsEnd(rule, { began, until: now })),
  };
}

/** What is live may go on as it is, unless no rule will ever see to its end. */
function mustHaveNoRule(subject: Subject, rule: string, sight: RuleSight): void {
  if (sight.kind === 'found') throw notDeleting(subject, 'release');
  if (sight.kind !== 'unreadable') return;
  throw new Failure(
    `${subject.name} is not being deleted, and whether rule ${rule} is for it cannot be read: not allowed: ${sight.why}`,
  );
}

function doneLine(name: string, { rule, by, isLive }: Asking): string {
  if (isLive)
    return `${name}: released from the entry of ${rule}, which has no rule; a bridge that looks at this kind takes it off`;
  const when = by === undefined ? 'at once' : `by ${timeOf(by)}, ${CONDITIONS}`;
  return `${name}: released under rule ${rule}; the bridge takes the entry off ${when}`;
}

interface Asking {
  readonly rule: string;
  /** undefined: at once. */
  readonly by: number | undefined;
  readonly leaves: Target | undefined;
  readonly yes: boolean;
  /** Not being deleted, and without a rule. */
  readonly isLive: boolean;
}

function warn({ err }: Context, { name }: Subject, { rule, by, leaves, isLive }: Asking): void {
  if (isLive) {
    err(
      `${name} is not being deleted, and no TeardownRule ${rule} is for its kind: it loses the entry, and goes without teardown`,
    );
    err(
      'The bridge may have such a rule in a file, which is not seen here: then the word counts once the object is deleted.',
    );
    return;
  }
  const what = leaves === undefined ? 'the outside resource, whichever it is,' : targetWords(leaves);
  err(`${name}: after a release under rule ${rule} nobody takes down ${what}`);
  if (by === undefined) err('--now: a request that was sent may still run, and take it down after the object is gone.');
}

async function reasonFor({ isTty, ask }: Context, given: string | undefined): Promise<string> {
  if (given === undefined && !isTty) throw misused('a release needs --reason');
  const reason = (given ?? (await ask('Reason: '))).trim();
  if (reason === '') throw misused('a release needs a reason');
  if (reason.length > REASON_MAX || !isPrintable(reason))
    throw misused(`a reason is one line of at most ${REASON_MAX} characters`);
  return reason;
}

async function confirm({ isTty, ask }: Context, { name, object }: Subject, { yes }: Asking): Promise<void> {
  if (yes) return;
  if (!isTty) throw misused('nobody is there to confirm the release; give --yes');
  const { uid } = object.metadata;
  const wanted = uid.slice(-ASKED_CHARACTERS);
  const typed = await ask(`The uid of ${name} is ${uid}. Type its last ${ASKED_CHARACTERS} characters to release it: `);
  if (typed !== wanted) throw new Failure(`releasing ${name}: that is not the end of its uid; nothing was changed`);
}
