/*
 * Texts for a shell and a terminal: quoting that no value can break out of, and lines without control characters, since
 * names, targets and messages may come from whoever can write an object. Used wherever commands or data are printed.
 */

export { commandOf, quoted } from '../shell-words.ts';

// Control characters, and those that turn the direction of text: they show a person something else than what is there.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Whether a text shows as what it is. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** A text on one line of a terminal: what does not show is replaced. */
export function printable(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').replaceAll(new RegExp(UNPRINTABLE, 'gu'), '\ufffd');
}
