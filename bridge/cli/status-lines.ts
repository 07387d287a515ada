/*
 * A status report as tables for people: rules, held objects, entries without a rule. Called by status.ts.
 * The report itself is what `-o json` prints.
 */
import type { LeaderSeen } from './leader-sight.ts';
import { table } from './print.ts';
import type { RuleReport, StatusReport } from './status-report.ts';
import { ageOf } from './times.ts';

/** More than this is not read by people; programs get all. */
const ROWS_SHOWN = 50;
const MESSAGE_SHOWN = 80;

/** The lines. `now` in ms since the epoch. */
export function linesOfReport({ bridge, rules, noRule }: StatusReport, now: number): readonly string[] {
  const held = rules.flatMap(({ name: rule, heldObjects }) => heldObjects.map((object) => ({ rule, ...object })));
  const more = held.length - ROWS_SHOWN;
  return [
    ...(bridge === undefined ? [] : [bridgeLine(bridge, now), '']),
    ...(rules.length === 0
      ? ['There are no rules.']
      : table(
          ['RULE', 'KIND', 'HANDLER', 'READY', 'LIVE', 'PENDING', 'HELD', 'OLDEST'],
          rules.map((rule) => rowOf(rule, now)),
        )),
    ...(held.length === 0 ? [] : ['', 'Held:']),
    ...(held.length === 0
      ? []
      : table(
          ['RULE', 'NAMESPACE', 'NAME', 'REASON', 'FOR', 'MESSAGE'],
          held
            .slice(0, ROWS_SHOWN)
            .map(({ rule, namespace = '', name, reason, since, message = '' }) => [
              ...[rule, namespace, name, reason, ageOf(Date.parse(since), now)],
              cut(message),
            ]),
        )),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(noRule.length === 0 ? [] : ['', 'Entries without a rule (NoRule):']),
    ...(noRule.length === 0
      ? []
      : table(
          ['ENTRY OF', 'KIND', 'NAMESPACE', 'NAME', 'STATE'],
          noRule
            .slice(0, ROWS_SHOWN)
            .map(({ rule, kind, namespace = '', name, deleting }) => [
              ...[rule, kind, namespace, name],
              deleting ? 'Deleting' : 'Live',
            ]),
        )),
    ...(noRule.length > ROWS_SHOWN ? [`and ${noRule.length - ROWS_SHOWN} more`] : []),
  ];
}

function bridgeLine({ leader, renewedAt }: LeaderSeen, now: number): string {
  const ago = renewedAt === undefined ? '' : `${ageOf(Date.parse(renewedAt), now)} ago`;
  if (leader !== undefined) return `Bridge: ${leader} leads; it renewed its lease ${ago}.`;
  const since = ago === '' ? '' : `, since the last one renewed its lease ${ago}`;
  return `Bridge: none leads${since}; nothing goes on until one does.`;
}

function cut(message: string): string {
  return message.length <= MESSAGE_SHOWN ? message : `${message.slice(0, MESSAGE_SHOWN - 1)}…`;
}

function rowOf(rule: RuleReport, now: number): readonly string[] {
  const { name, kind = '?', handler = '?', ready, live, pending, held, oldestPendingTime } = rule;
  const oldest = oldestPendingTime === undefined ? '-' : ageOf(Date.parse(oldestPendingTime), now);
  const state = ready.status === 'True' ? 'True' : `${ready.status} ${ready.reason}`;
  const count = (value: number | undefined) => (value === undefined ? '?' : String(value));
  return [name, kind, handler, state, count(live), count(pending), count(held), oldest];
}
