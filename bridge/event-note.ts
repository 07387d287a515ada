/*
 * What an Event says in words, within what the API server takes, and whether it is due. No I/O, and no clock. Called by
 * standing.ts and failing.ts for held objects, and by cluster.ts for every Event: a longer note or another name would be
 * refused, and nobody would be told.
 */
import { utf8Bytes } from './contract.ts';
import { nextCommand } from './next-command.ts';
import type { Pending, Standing } from './pending.ts';

/** Longest note of an Event, in UTF-8 bytes. */
export const NOTE_MAX_BYTES = 1024;

const READABLE_MAX = 200;
const TELL_EVERY_MS = 60 * 60_000;

/**
 * The name of an Event about an object: a DNS subdomain, whatever the object is called (`system:foo` is none). `unique` is
 * lower case letters, digits and `-`.
 */
export function eventName(object: string, unique: string): string {
  const labels = object
    .toLowerCase()
    .slice(0, READABLE_MAX)
    .split('.')
    .map((label) => label.replace(/[^a-z0-9-]/g, '-').replace(/^-+|-+$/g, ''));
  return [...labels, unique].filter((label) => label !== '').join('.');
}

/** What a held object's Event says by itself: rule, reason, since when, why, and the command that comes next. */
export function heldNote(pending: Pending, { reason, message, since }: Omit<Standing, 'phase'>): string {
  const head = `${pending.rule}: ${reason} since ${new Date(since).toISOString()}: `;
  const next = `. Next: ${nextCommand(reason, pending)}`;
  return `${head}${cutToBytes(message, NOTE_MAX_BYTES - utf8Bytes(head + next))}${next}`;
}

/** The text, or as much of its beginning as goes into so many UTF-8 bytes; never half a character. */
export function cutToBytes(text: string, max: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= max) return text;
  let end = Math.max(0, max - utf8Bytes('…'));
  // A byte of the form 10xxxxxx continues a character that began before it.
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return max < utf8Bytes('…') ? '' : `${bytes.toString('utf8', 0, end)}…`;
}

/** Whether a reason has not been told within the last hour; it counts as told from now on. */
export function isNewTelling({ told }: Pick<Pending, 'told'>, reason: string, now: number): boolean {
  const last = told.get(reason);
  if (last !== undefined && now - last < TELL_EVERY_MS) return false;
  told.set(reason, now);
  return true;
}
