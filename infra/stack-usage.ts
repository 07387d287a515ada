/*
 * The --help of what works on the functions' stack: package.ts, deploy.ts, remove.ts, bridge-values.ts and bridge-policy.ts.
 * Asked before the command line is read; the options that all have in common are those of stack-options.ts.
 */

/** What a command says of itself. */
export interface Usage {
  /** The script of package.json. */
  readonly command: string;
  /** What it does, in lines of at most 100 characters. */
  readonly does: readonly string[];
  /** Its own options with their arguments, and what each means. */
  readonly own?: Readonly<Record<string, string>>;
}

const COMMON = {
  '--stage STAGE': 'of functions.values.STAGE.yml, or of functions.values.yml where that is not there',
  '--values FILE': 'another file of values; functions.values.yml unless told',
};

/** Says how a command is used, if its arguments ask for that. */
export function helped(args: readonly string[], usage: Usage, write = toStdout): boolean {
  const isAsked = args.includes('--help') || args.includes('-h');
  if (isAsked) write(usageText(usage));
  return isAsked;
}

function usageText({ command, does, own = {} }: Usage): string {
  const options = Object.entries({ ...COMMON, ...own, '--help': 'this text' });
  const width = Math.max(...options.map(([option]) => option.length));
  const lines = options.map(([option, meaning]) => `  ${option.padEnd(width)}   ${meaning}`);
  return [`usage: npm run ${command} [-- OPTIONS]`, '', ...does, '', ...lines, ''].join('\n');
}

function toStdout(text: string): void {
  process.stdout.write(text);
}
