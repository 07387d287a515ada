/*
 * What a drain says to people: what is there before it begins, and what is left at the end, with the command that is next.
 * Called by drain.ts and run.ts. Nothing is read here.
 */
import type { Release } from '../../words.ts';
import { fewOf } from '../few.ts';
import { timeOf } from '../times.ts';
import type { BridgeState } from './bridge-sight.ts';
import type { Blocker, DrainEnd, Left } from './step.ts';
import { nameOfCarrier, type Unseen } from './sweep.ts';

/** Objects, and names of rules, that are told of one by one. */
export const NAMED_MAX = 50;

/** What is known of the bridge. */
export function bridgeWords(bridge: BridgeState): string {
  switch (bridge.state) {
    case 'up':
      return `one runs (${bridge.who}), and is left to do what it can`;
    case 'gone':
      return 'none runs; this command does the withdrawal itself';
    case 'unknown':
      return `not known whether one runs: ${bridge.why}; say --bridge-gone if none does`;
    default:
      return bridge satisfies never;
  }
}

/** One rule, or one entry without a rule, before the drain. */
export interface Planned {
  readonly rule: string;
  readonly hasRule: boolean;
  readonly live: number;
  readonly deleting: number;
  /** Of those being deleted the ones that would be released. */
  readonly held: readonly Blocker[];
}

/** What will be done. */
export function planLines(planned: readonly Planned[], bridge: BridgeState, release: Release): readonly string[] {
  return [
    `bridge: ${bridgeWords(bridge)}`,
    ...planned
      .slice(0, NAMED_MAX)
      .flatMap(({ rule, hasRule, live, deleting, held }) => [
        `${hasRule ? 'rule' : 'entry without a rule'} ${rule}: on ${live} live objects, on ${deleting} that are being deleted`,
        ...objectLines(held).map((line) => `  ${release === 'none' ? 'blocks' : 'to be released'}: ${line}`),
      ]),
    ...(planned.length > NAMED_MAX ? [`and ${planned.length - NAMED_MAX} more`] : []),
    ...(release === 'now' ? ['released NOW: a teardown that was requested already may still happen'] : []),
  ];
}

/** How a drain ended. `missing`: names that were asked for, and that no rule had before it began, and no entry. */
export interface Ended extends DrainEnd {
  readonly missing: readonly string[];
}

/** Whether nothing is left of what was asked for; of a rule that never was nobody can tell. */
export function isClean({ left, missing }: Ended): boolean {
  return left.length === 0 && missing.length === 0;
}

/** What is said of names that are of nothing. */
export function missingLines(missing: readonly string[]): readonly string[] {
  return missing.map((name) => `there is no rule ${name}, and nothing carries its entry`);
}

/** One line for all that has the same reason: an account with few rights may not list most kinds of a cluster. */
function unseenLines(unseen: readonly Unseen[]): readonly string[] {
  const byReason = Map.groupBy(unseen, ({ why }) => why);
  return [...byReason].map(([why, kinds]) => `not looked at: ${fewOf(kinds.map(({ what }) => what))} (${why})`);
}

/** What is left, and what to do about it. */
export function endLines(
  { left, unseen, missing }: Ended,
  { names, next }: { readonly names: readonly string[]; readonly next: string },
): readonly string[] {
  const notes = [...missingLines(missing), ...unseenLines(unseen)];
  const seen = unseen.length === 0 ? '' : ' that could be looked at';
  const found = names.filter((name) => !missing.includes(name));
  if (left.length === 0 && found.length > 0) return [`clean: nothing${seen} is left of ${found.join(', ')}`, ...notes];
  if (left.length === 0 && names.length > 0) return notes;
  if (left.length === 0) return [`clean: no rule is left, and nothing${seen} carries an entry`, ...notes];
  return [
    `not clean: ${left.length} ${left.length === 1 ? 'rule is' : 'rules are'} left`,
    ...left.flatMap(({ rule, step }) => [
      `${rule}: ${step.why}`,
      ...(step.state === 'blocked' ? objectLines(step.by).map((line) => `  ${line}`) : []),
    ]),
    ...notes,
    `next: ${next}`,
  ];
}

/** The command to run next. `line`: the one that was run, without a release. */
export function nextLine({ left }: DrainEnd, line: string, release: Release): string {
  const waits = left.flatMap(({ step }) => (step.state === 'blocked' ? (step.readyAt ?? []) : []));
  if (release !== 'none' && waits.length > 0) {
    return `${line} --release-held after ${timeOf(waits.reduce((last, at) => Math.max(last, at)))}, or --release-held=now if a teardown may still happen`;
  }
  const isHeld = left.some(isHeldUp);
  return isHeld && release === 'none'
    ? `finish or mend these objects, or give them up with ${line} --release-held; then run it again`
    : `mend what is said above, then ${line}`;
}

function isHeldUp({ step }: Left): boolean {
  return step.state === 'blocked' && step.by.some(({ carrier }) => carrier.meta.deletionTimestamp !== undefined);
}

/** The same for programs. */
export function endData(ended: Ended, next: string) {
  const { left, unseen, missing } = ended;
  return {
    clean: isClean(ended),
    found: missing.length === 0,
    missing,
    left: left.map(({ rule, step }) => ({
      rule,
      why: step.why,
      objects: (step.state === 'blocked' ? step.by : []).map(({ carrier, reason, message, target }) => ({
        ...{ object: nameOfCarrier(carrier), uid: carrier.meta.uid, reason, message, target },
      })),
    })),
    unseen,
    ...(left.length === 0 ? {} : { next }),
  };
}

function objectLines(blockers: readonly Blocker[]): readonly string[] {
  const named = blockers.slice(0, NAMED_MAX).map(({ carrier, reason, message, target }) => {
    return `${nameOfCarrier(carrier)}: ${reason}: ${message}${target === undefined ? '' : `; ${target}`}`;
  });
  const more = blockers.length - named.length;
  return more > 0 ? [...named, `and ${more} more`] : named;
}
