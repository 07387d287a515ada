/*
 * Texts for a shell and a terminal: quoting that no value can break out of, and lines without control characters, since
 * names, targets and messages may come from whoever can write an object. Used wherever commands or data are printed.
 */

export { commandOf, quoted } from '../shell-words.ts';

// Control characters, and those that turn the direction of text: they show a person something else than what is there.
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Whether a text shows as what it is. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** A document of JSON, or of YAML whose odd strings are quoted, with what does not show escaped there: nothing is lost. */
export function escaped(document: string): string {
  const inHex = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return document.replaceAll(new RegExp(UNPRINTABLE, 'gu'), (character) =>
    character === '\n' ? character : inHex(character),
  );
}

/** A text on one line of a terminal: what does not show is replaced. */
export function printable(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').replaceAll(new RegExp(UNPRINTABLE, 'gu'), '\ufffd');
}
