/*
 * What `explain` found, as lines for people: the object, each of our entries with what to do next, other people's
 * finalizers. The facts themselves are what `-o json` prints.
 */
import type { EntryFacts } from './entry-facts.ts';
import type { OtherFinalizer } from './finalizer-owners.ts';
import { targetWords } from './subject.ts';
import { ageOf } from './times.ts';

/** What `explain -o json` prints. */
export interface Explained {
  /** `buckets.storage.example.com/logs` */
  readonly object: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly deleting: boolean;
  /** When the deletion was asked for. */
  readonly deletedAt?: string;
  readonly entries: readonly EntryFacts[];
  /** How many of our entries there are besides; nothing was looked up about them. */
  readonly moreEntries: number;
  readonly others: readonly OtherFinalizer[];
  /** A rule's own finalizer, which holds it until it is withdrawn. */
  readonly withdrawing: boolean;
  readonly notes: readonly string[];
}

/** The lines. `now` in ms since the epoch. */
export function linesOf(explained: Explained, now: number): readonly string[] {
  const { object, namespace, uid, deletedAt, entries, moreEntries, others, withdrawing, notes } = explained;
  const place = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const state =
    deletedAt === undefined
      ? 'is not being deleted'
      : `is being deleted since ${deletedAt}, ${ageOf(Date.parse(deletedAt), now)} ago`;
  return [
    `${object}${place} (uid ${uid}) ${state}.`,
    ...notes.map((note) => `  ${note}`),
    ...(entries.length === 0 && !withdrawing ? ['No entry of Finalizer Bridge is on it.'] : []),
    ...entries.flatMap((entry) => ['', ...linesOfEntry(entry, now)]),
    ...(moreEntries === 0 ? [] : ['', `And ${moreEntries} more entries, about which nothing was looked up.`]),
    ...(others.length === 0 ? [] : ['', `Finalizers of others${deletedAt === undefined ? '' : ' that hold it too'}:`]),
    ...others.flatMap(linesOfOther),
    ...(explained.deleting && entries.length === 0 && others.length === 0 && !withdrawing
      ? ['It has no finalizers at all: Kubernetes removes it by itself.']
      : []),
  ];
}

function linesOfEntry(entry: EntryFacts, now: number): readonly string[] {
  const { rule, handler, state, reason, message, since, firstPublished, refused, next, words } = entry;
  const age = since === undefined ? '' : ` for ${ageOf(Date.parse(since), now)}`;
  const isOther = refused !== undefined && refused.reason !== reason;
  return [
    `Rule ${rule}${handler === undefined ? '' : ` (handler ${handler})`}: ${[state, reason].filter(Boolean).join(' ')}${age}`,
    field('said', message),
    field('refused', isOther ? `${refused.reason}: ${refused.message}; due again at ${refused.due}` : undefined),
    field('rule', entry.ruleState === 'Accepted' && entry.ruleDetail === undefined ? undefined : ruleLine(entry)),
    field('target', targetLine(entry)),
    field('proof', proofLine(entry)),
    field('policy', entry.policy === 'Delete' ? undefined : entry.policy),
    field('first sent', firstPublished),
    field('waits for', entry.state === 'Live' ? undefined : entry.waitsFor),
    field('looks again', entry.nextLook),
    field('requests', runsLine(entry)),
    ...words.map((word) => field('a person', word)),
    ...next.flatMap(({ say, command }, at) => [
      field(at === 0 ? 'next' : '', say),
      command === undefined ? undefined : `    ${' '.repeat(12)}${command}`,
    ]),
  ].filter((line) => line !== undefined);
}

function field(name: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `  ${name.padEnd(12)}${value}`;
}

function ruleLine({ ruleState, ruleDetail }: EntryFacts): string {
  const words = {
    ...{ Accepted: 'accepted', NotAccepted: 'not accepted', Unreadable: 'cannot be read' },
    ...{ Missing: 'there is no such TeardownRule', OtherKind: 'there is none for this kind' },
  };
  const word = words[ruleState];
  return ruleDetail === undefined ? word : `${word}: ${ruleDetail}`;
}

function targetLine({ target }: EntryFacts): string | undefined {
  if (target === undefined) return undefined;
  if (target.kind !== 'found') return `${target.kind}: ${target.key}: ${target.detail}`;
  return targetWords(target.target);
}

function proofLine({ ownership }: EntryFacts): string | undefined {
  if (ownership === undefined) return undefined;
  if (ownership.kind !== 'found') return `${ownership.kind}: ${ownership.key}: ${ownership.detail}`;
  if (!('tags' in ownership.ownership)) return 'none is needed, as rule and function say';
  return Object.entries(ownership.ownership.tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}

/** A record that names no request is no proof that none was sent: who wrote it may not have been the first to lead. */
function runsLine({ noRequestRunsAfter, state, isAsked }: EntryFacts): string | undefined {
  if (noRequestRunsAfter === undefined) return undefined;
  const ends = `any that was sent by now ends by ${noRequestRunsAfter} at the latest`;
  return isAsked || state === 'Silent' ? ends : `none is known to have been sent; ${ends}`;
}

function linesOfOther({ finalizer, owner, waitsFor, writtenBy }: OtherFinalizer): readonly string[] {
  const time = writtenBy?.time === undefined ? '' : ` at ${writtenBy.time}`;
  return [
    `  ${finalizer}`,
    `      probably of ${owner}`,
    `      waits for ${waitsFor}`,
    ...(writtenBy === undefined ? [] : [`      written by ${writtenBy.manager}${time}`]),
  ];
}
