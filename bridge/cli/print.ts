/*
 * How commands print their data: a table or lines for people, or the same as one JSON or YAML document for programs.
 * Called by every command; `-o` decides.
 */
import { stringify } from 'yaml';
import type { Context } from './command.ts';
import { printable } from './shell.ts';

/** Data and what people get to read of it. */
export interface Shown {
  readonly data: unknown;
  readonly lines: readonly string[];
}

/** Prints. */
export function print({ format, out }: Pick<Context, 'format' | 'out'>, { data, lines }: Shown): void {
  switch (format) {
    case 'json':
      out(JSON.stringify(data, null, 2));
      break;
    case 'yaml':
      // What JSON leaves out has no place in YAML either.
      out(stringify(JSON.parse(JSON.stringify(data)), { lineWidth: 0 }).trimEnd());
      break;
    case 'table':
      for (const line of lines) out(printable(line));
      break;
    default:
      format satisfies never;
  }
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
