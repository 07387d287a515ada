/*
 * Texts for a shell and a terminal: quoting that no value can break out of, and lines without control characters, since
 * names, targets and messages may come from whoever can write an object. Used wherever commands or data are printed.
 */

export { commandOf, quoted } from '../shell-words.ts';

// Control characters, those that turn the direction of text, and those that do not show at all: they show a person something
// else than what is there. What joins letters and shapes emoji is left, as words of some languages need it.
const UNPRINTABLE =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** Whether a text can be printed as it is. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** Whether a text shows as what it is, to the last character: for what names something that is deleted. */
export function showsAll(text: string): boolean {
  return isPrintable(text) && !INVISIBLE.test(text);
}

/** A document of JSON, or of YAML whose odd strings are quoted, with what does not show escaped there: nothing is lost. */
export function escaped(document: string, format: 'json' | 'yaml'): string {
  const inHex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  return document.replaceAll(new RegExp(UNPRINTABLE, 'gu'), (character) => {
    if (character === '\n') return character;
    // JSON has escapes for halves of a pair only, and YAML none for these.
    if (format === 'yaml' && character.length > 1) return `\\U${inHex(character.codePointAt(0) ?? 0, 8)}`;
    return Array.from({ length: character.length }, (_, at) => `\\u${inHex(character.charCodeAt(at), 4)}`).join('');
  });
}

/** A text on one line of a terminal: what does not show is replaced. */
export function printable(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').replaceAll(new RegExp(UNPRINTABLE, 'gu'), '\ufffd');
}
