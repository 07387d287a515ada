/*
 * A log that remembers its lines and counters, for tests: of the functions here, and of handlers elsewhere by trial.ts.
 * Part of `finalizer-bridge/testing`.
 */
import type { Log, LogFields } from '../ports.ts';

/** What was logged. */
export interface MemoryLog extends Log {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: LogFields }[];
  /** `<metric> <label values>` per occurrence. */
  readonly counts: string[];
}

/** A log in memory; `with` gives the same one. */
export function memoryLog(): MemoryLog {
  const lines: { level: string; message: string; fields: LogFields }[] = [];
  const counts: string[] = [];
  const put =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields });
    };
  const log: MemoryLog = {
    lines,
    counts,
    debug: put('debug'),
    info: put('info'),
    warn: put('warn'),
    error: put('error'),
    count: (metric, labels) => counts.push([metric, ...Object.values(labels)].join(' ')),
    with: () => log,
  };
  return log;
}
