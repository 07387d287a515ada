/*
 * Words for a POSIX shell that no value can break out of: names of objects and rules may hold whatever their kind allows.
 * Pure. Called by next-command.ts for Events and log lines, and through cli/shell.ts by the command line.
 */

/** One word of a POSIX shell, whatever is in it. */
export function quoted(text: string): string {
  return /^[\w/:=.,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A command line out of words. */
export function commandOf(...words: readonly string[]): string {
  return words.map(quoted).join(' ');
}
