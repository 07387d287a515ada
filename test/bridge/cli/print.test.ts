/*
 * What commands print: the same data as lines for people or as one document for programs, neither of which may turn a terminal
 * upside down, since names and messages may come from whoever can write an object.
 */
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { print } from '../../../bridge/cli/print.ts';

// Control characters of both sets, an escape sequence, marks and overrides of direction, odd ends of lines, what does not show,
// in one code unit and in two; and what is harmless.
const NASTY = {
  message: 'a\u001b[31mb\u009b32mc\u0085d\u007fe',
  bidi: 'owner\u202e gnol\u2066x\u2069\u200f\u061c',
  'key\u202e': 'two\nlines\u2028and\tmore',
  'owner-uid\u200b': 'a\u00adb\u3164c\ufeffd\u{e0041}e\u2060',
  plain: 'two\nlines',
  harmless: 'Größe, 名前, 🪣 ⚠️ 👩‍🔧, می‌خواهم: "quoted" \\ back',
};
// Anything a terminal would act on or not show; an end of a line in a document is its own.
const ACTED_ON =
  /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|[\u00ad\u200b\u2060\u3164\ufeff\u{e0041}]/u;

function printed(format: 'json' | 'yaml'): string {
  const lines: string[] = [];
  print({ format, out: (line) => void lines.push(line) }, { data: NASTY, lines: [] });
  return lines.join('\n');
}

it.each([
  ['json', (text: string): unknown => JSON.parse(text)],
  ['yaml', (text: string): unknown => parse(text)],
] as const)('a document of %s has nothing in it that a terminal acts on, and loses nothing', (format, read) => {
  const document = printed(format);
  expect(ACTED_ON.exec(document)).toBeNull();
  expect(read(document)).toEqual(NASTY);
});
