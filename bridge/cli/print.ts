/*
 * How commands print their data: a table or lines for people, or the same as one JSON or YAML document for programs.
 * Called by every command; `-o` decides.
 */
import { Document, isScalar, visit } from 'yaml';
import type { Context } from './command.ts';
import { escaped, isPrintable, printable } from './shell.ts';

/** Data and what people get to read of it. */
export interface Shown {
  readonly data: unknown;
  readonly lines: readonly string[];
}

/** Prints. */
export function print({ format, out }: Pick<Context, 'format' | 'out'>, { data, lines }: Shown): void {
  switch (format) {
    case 'json':
      out(escaped(JSON.stringify(data, null, 2), format));
      break;
    case 'yaml':
      out(escaped(yamlOf(data), format));
      break;
    case 'table':
      for (const line of lines) out(printable(line));
      break;
    default:
      format satisfies never;
  }
}

/** As YAML, on the screen as harmless as JSON: what does not show stands in quotes, where it can be escaped. */
function yamlOf(data: unknown): string {
  // What JSON leaves out has no place in YAML either.
  const document = new Document(JSON.parse(JSON.stringify(data)));
  visit(document, {
    Scalar(_key, node) {
      if (isScalar(node) && typeof node.value === 'string' && !isPrintable(node.value.replaceAll('\n', '')))
        node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }).trimEnd();
}

/** Lines of a table with its columns aligned, two blanks apart, as kubectl prints them. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [columns, ...rows];
  // A call cannot have as many arguments as there may be rows.
  const widths = columns.map((_, at) => all.reduce((width, row) => Math.max(width, (row[at] ?? '').length), 0));
  return all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}
