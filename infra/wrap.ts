/*
 * Prose of generated Markdown, in lines of a length that people read and compare. Used by what writes pages from sources
 * (crd/reference.ts); tables cannot be wrapped, and code is not to be.
 */

/** Docs are wrapped here, in characters. */
const WIDTH = 125;

/** Inline code stays on one line, with what sticks to it. */
const WORD = /(?:`[^`]*`|\S)+/g;

/** At the beginning of a line Markdown takes these for a list, a quotation or a heading. */
const MARKER = /^(?:[-+*]|>+|#+|\d+[.)])$/;

/** A text of one paragraph in lines; all but the first begin with `indent`. */
export function wrapped(text: string, indent = ''): string {
  const [first = '', ...rest] = text.match(WORD) ?? [];
  const lines: string[] = [first];
  for (const word of rest) {
    const line = lines.at(-1) ?? '';
    const before = lines.length === 1 ? 0 : indent.length;
    const fits = before + line.length + 1 + word.length <= WIDTH;
    if (fits || MARKER.test(word)) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join(`\n${indent}`);
}

/** A list of such texts. */
export function bullets(items: readonly string[]): string {
  return items.map((item) => wrapped(`- ${item}`, '  ')).join('\n');
}
