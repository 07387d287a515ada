/*
 * Why a text is no CEL expression, in words of people: the engine speaks of tokens (EOF, RPAREN) and draws the place below the
 * source, which a rule's condition cannot show. Called by ../cel.ts; what it says stands in conditions and on the command line.
 */
import { ParseError } from '@marcbachmann/cel-js';

/** Longest part of an expression that is shown, in characters. */
const SHOWN_MAX = 80;
/** Of these, at least so many after the fault. */
const AFTER = 20;

/** The engine's names of tokens that are missed, as they are written. */
const WRITTEN: Readonly<Record<string, string>> = {
  COLON: '":"',
  COMMA: '","',
  IDENTIFIER: 'a name',
  RBRACE: '"}"',
  RBRACKET: '"]"',
  RPAREN: '")"',
};

/** What is wrong and where, the expression with it; undefined for any other error than the parser's. */
export function parseFault(error: unknown, expression: string): string | undefined {
  if (!(error instanceof ParseError)) return undefined;
  const { start, end } = error.range ?? { start: expression.length, end: expression.length };
  // A range of one unit may be half of a character.
  const found = characters(expression.slice(start, Math.max(end, start + 2)))
    .slice(0, Math.max(1, Math.min(end - start, AFTER)))
    .join('');
  const before = characters(expression.slice(0, start)).length;
  const what = faultOf(error, start >= expression.length ? undefined : found);
  return `no CEL expression: ${what}, at character ${before + 1} of: ${excerpt(expression, before)}`;
}

/** `found` is what stands there; undefined at the end. */
function faultOf({ code, summary }: ParseError, found: string | undefined): string {
  const missed = /^Expected (\w+), got /.exec(summary)?.[1];
  switch (code) {
    case 'unexpected_token':
      return found === undefined ? 'it ends where more is expected' : `${JSON.stringify(found)} is not expected`;
    case 'unexpected_character':
      return `${JSON.stringify(found ?? '')} is not expected`;
    case 'expected_token': {
      const wanted = WRITTEN[missed ?? ''] ?? 'something else';
      return found === undefined
        ? `it ends where ${wanted} is expected`
        : `${JSON.stringify(found)} where ${wanted} is expected`;
    }
    case 'reserved_identifier':
      return `${JSON.stringify(found ?? '')} is a reserved word`;
    default:
      return summary.charAt(0).toLowerCase() + summary.slice(1, SHOWN_MAX).toWellFormed();
  }
}

/** The expression on one line; of a long one what is around the fault. */
function excerpt(expression: string, at: number): string {
  const all = characters(expression.replaceAll(/\s/g, ' '));
  if (all.length <= SHOWN_MAX) return all.join('');
  const from = Math.max(0, Math.min(at + AFTER, all.length) - SHOWN_MAX);
  const shown = all.slice(from, from + SHOWN_MAX).join('');
  return `${from > 0 ? '…' : ''}${shown}${from + SHOWN_MAX < all.length ? '…' : ''}`;
}

function characters(text: string): readonly string[] {
  return [...text.toWellFormed()];
}
