/*
 * JSON lines for CloudWatch: one object a line, errors with their causes, counters in CloudWatch's embedded metric format.
 * Made by entry.ts; everything else sees the Log port. Own code and not Powertools, because of its size: logger and
 * metrics of 2.36.0 add 34 KB minified (the logger alone 23 KB) where this file adds 1.1 KB, and a function has 80 KB
 * for everything but the AWS SDK, of which s3-bucket needs 77 KB.
 */
import type { Log, LogFields } from './ports.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** Lowest level that is written; `silent` writes nothing, not even counters. */
export type LogLevel = (typeof LEVELS)[number];

/** CloudWatch namespace of the counters. */
export const METRICS_NAMESPACE = 'FinalizerBridge';
const CAUSES_MAX = 5;

/** What a log is made of. */
export interface LogInput {
  readonly level: LogLevel;
  readonly now: () => number;
  /** Takes one line, without its line feed. */
  readonly write: (line: string) => void;
  readonly fields: LogFields;
}

/** Makes a log. */
export function createLog({ level: lowest, now, write, fields }: LogInput): Log {
  const put = (level: LogLevel, message: string, more: LogFields = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(lowest)) return;
    write(serialise({ time: new Date(now()).toISOString(), level, message, ...fields, ...more }));
  };
  return {
    debug: (message, more) => put('debug', message, more),
    info: (message, more) => put('info', message, more),
    warn: (message, more) => put('warn', message, more),
    error: (message, more) => put('error', message, more),
    count: (metric, labels, times = {}) => {
      if (lowest === 'silent') return;
      const { handler: name } = fields;
      const dimensions = { ...(typeof name === 'string' ? { handler: name } : {}), ...labels };
      const keys = Object.keys(dimensions);
      const metrics = {
        Namespace: METRICS_NAMESPACE,
        // By handler, by handler and outcome, and so on: CloudWatch adds up no dimensions for an alarm.
        Dimensions: keys.map((_, index) => keys.slice(0, index + 1)),
        Metrics: [
          { Name: metric, Unit: 'Count' },
          ...Object.keys(times).map((Name) => ({ Name, Unit: 'Milliseconds' })),
        ],
      };
      const about = { _aws: { Timestamp: now(), CloudWatchMetrics: [metrics] } };
      write(serialise({ ...about, ...fields, ...dimensions, ...times, [metric]: 1 }));
    },
    with: (more) => createLog({ level: lowest, now, write, fields: { ...fields, ...more } }),
  };
}

/** A log line must never be the reason that a deletion fails. */
function serialise(line: LogFields): string {
  try {
    return JSON.stringify(line, (_key, value: unknown) => readable(value, CAUSES_MAX));
  } catch {
    return JSON.stringify({ level: 'error', message: 'writing a log line: its fields cannot be written as JSON' });
  }
}

function readable(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { name, message, stack, ...(cause === undefined || depth === 0 ? {} : { cause: readable(cause, depth - 1) }) };
}
