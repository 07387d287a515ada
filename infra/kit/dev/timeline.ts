/*
 * What a function's log says of one request, as a time line for a person and as facts for a program. Pure.
 * Called by session.ts with each line of the log; dev.ts prints what comes out.
 */
import * as z from 'zod/mini';
import type { Outcome } from '../../../bridge/contract.ts';

/** One step. */
export interface Step {
  /** ms since the epoch. */
  readonly at: number;
  readonly what: 'sent' | 'received' | 'guards' | 'call' | 'blocked' | 'log' | 'failed' | Outcome['outcome'];
  readonly text: string;
}

const time = z.iso.datetime();
const level = z.enum(['debug', 'info', 'warn', 'error']);
const shapes = {
  begins: z.object({ time, kind: z.literal('begins') }),
  ended: z.object({
    time,
    kind: z.enum(['threw', 'timedOut', 'invalid']),
    error: z.optional(z.string()),
    reason: z.optional(z.string()),
  }),
  judged: z.object({ time, message: z.literal('judged a request'), verdict: z.enum(['run', 'answer']) }),
  call: z.object({
    ...{
      time,
      message: z.literal('made a call'),
      call: z.string(),
      kind: z.string(),
      means: z.string(),
      ms: z.number(),
    },
  }),
  answering: z.object({ outcome: z.string(), durationMs: z.number(), copies: z.number() }),
  blocked: z.object({ time, blocked: z.string() }),
  said: z.looseObject({ time, level, message: z.string() }),
};
/** Fields of every line, which a person knows already. */
const KNOWN = new Set(['time', 'level', 'message', 'handler', 'awsRequestId', 'requestId', 'traceparent']);

/** The step that a line of the log tells; undefined for what adds nothing. `now` for lines without a time. */
export function stepOf(line: string, now: number): Step | undefined {
  const json = parsed(line);
  if (json === undefined) return line.trim() === '' ? undefined : { at: now, what: 'log', text: line };
  const begins = shapes.begins.safeParse(json).data;
  if (begins) return { at: Date.parse(begins.time), what: 'received', text: 'by the function' };
  const judged = shapes.judged.safeParse(json).data;
  if (judged) return { at: Date.parse(judged.time), what: 'guards', text: GUARDS[judged.verdict] };
  const call = shapes.call.safeParse(json).data;
  if (call)
    return {
      at: Date.parse(call.time),
      what: 'call',
      text: `${call.call} (${call.kind}): ${call.means} in ${Math.round(call.ms)} ms`,
    };
  const ended = shapes.ended.safeParse(json).data;
  if (ended)
    return {
      at: Date.parse(ended.time),
      what: 'failed',
      text: ended.error ?? ended.reason ?? 'the function ran into its time-out',
    };
  const blocked = shapes.blocked.safeParse(json).data;
  if (blocked)
    return {
      at: Date.parse(blocked.time),
      what: 'blocked',
      text: `${blocked.blocked}: this run reaches this machine and the named endpoint only`,
    };
  if (shapes.answering.safeParse(json).success) return undefined;
  const said = shapes.said.safeParse(json).data;
  return said === undefined || said.level === 'debug'
    ? undefined
    : { at: Date.parse(said.time), what: 'log', text: wordsOf(said) };
}

const GUARDS = {
  run: 'passed: sender, cluster, expiry, target, options, account, region, allow-list',
  answer: 'stopped it; the handler was not asked',
} as const;

function wordsOf(said: z.output<typeof shapes.said>): string {
  const facts = Object.entries(said).filter(([key]) => !KNOWN.has(key));
  return [`${said.level}: ${said.message}`, ...facts.map(([key, value]) => `${key}=${short(value)}`)].join(' ');
}

function short(value: unknown): string {
  const text =
    typeof value === 'string'
      ? value
      : (z.object({ message: z.string() }).safeParse(value).data?.message ?? JSON.stringify(value));
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function parsed(line: string): unknown {
  try {
    const json: unknown = JSON.parse(line);
    return typeof json === 'object' && json !== null ? json : undefined;
  } catch {
    return undefined;
  }
}

/** The step that an outcome is. */
export function outcomeStep(outcome: Outcome, at: number, durationMs: number): Step {
  const { outcome: what } = outcome;
  const facts = [
    'evidence' in outcome ? outcome.evidence : outcome.reason,
    outcome.message,
    'progress' in outcome && outcome.progress !== undefined ? `progress: ${outcome.progress}` : undefined,
    'retryAt' in outcome && outcome.retryAt !== undefined ? `again at ${outcome.retryAt}` : undefined,
    `in ${Math.round(durationMs)} ms`,
  ];
  return { at, what, text: facts.filter((fact) => fact !== undefined).join(', ') };
}

/** A step on one line, its time counted from the first. */
export function lineOf({ at, what, text }: Step, from: number): string {
  return `${`${Math.max(0, at - from)} ms`.padStart(9)}  ${what.padEnd(9)} ${text}`;
}
