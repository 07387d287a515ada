/*
 * A bridge whose terms last seconds: the product's sources with the smallest bounds of `term` and `deadline` and the skew
 * allowance made small, and nothing else; and the definition of TeardownRule with the same bounds. Used by e2e/terms.test.ts.
 * An edit whose text no longer stands in the product exactly once is an error.
 */
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { committedDefinition } from './rule-api.ts';

const root = join(import.meta.dirname, '../..');

/** The skew allowance of such a bridge, in ms. */
export const SHORT_SKEW_MS = 1_000;

const EDITS = [
  ['bridge/contract/terms.ts', 'CLOCK_SKEW_MS = 60_000;', `CLOCK_SKEW_MS = ${SHORT_SKEW_MS};`],
  ['bridge/contract/terms.ts', 'TERM_MIN_MS = 30 * 60_000;', 'TERM_MIN_MS = 1_000;'],
  ['bridge/rule-facts.ts', 'deadline: { least: MINUTE,', 'deadline: { least: SECOND,'],
] as const;

/** Makes such a bridge in a folder. @returns its entry point */
export async function shortTermBridge(folder: string): Promise<string> {
  const copy = join(folder, 'short-terms');
  await cp(join(root, 'bridge'), join(copy, 'bridge'), { recursive: true });
  await cp(join(root, 'package.json'), join(copy, 'package.json'));
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const [file, from, to] of EDITS) {
    const text = await readFile(join(copy, file), 'utf8');
    await writeFile(join(copy, file), replacedOnce(text, from, to, file));
  }
  return join(copy, 'bridge/main.ts');
}

/** The committed definition, with such bounds. */
export function shortTermDefinition(): ReturnType<typeof committedDefinition> {
  const { spec, ...rest } = committedDefinition();
  const term = "duration(self) >= duration('30m')";
  const bounded = replacedOnce(JSON.stringify(spec), term, "duration(self) >= duration('1s')", 'the definition');
  const minutes = "duration(self) >= duration('1m') && duration(self) <= duration('8760h')";
  const short = "duration(self) >= duration('1s') && duration(self) <= duration('8760h')";
  return { ...rest, spec: JSON.parse(replacedOnce(bounded, minutes, short, 'the definition')) };
}

function replacedOnce(text: string, from: string, to: string, where: string): string {
  const places = text.split(from).length - 1;
  if (places !== 1) throw new Error(`shortening the terms of ${where}: "${from}" stands there ${places} times`);
  return text.replace(from, to);
}
