/*
 * Structured JSON logs, one line each, on standard output (standard error for the demo and tests that pass a stream).
 * Made by main.ts; everything else takes the small Log port.
 */
import { type DestinationStream, pino } from 'pino';

/** What the bridge logs through: facts in fields, a gerund phrase as the message. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Levels of the log, least to most severe. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Creates the log; errors in `err` fields keep their causes. */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = {
    level,
    // Neither process id nor host name: the platform knows both.
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** An error and its causes on one line. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} <- ${explain(error.cause)}`;
}
