/*
 * Compiled expressions for tests, which fail where a text does not compile.
 * Used by the tests of expressions, targets and ownership.
 */
import { type Compiled, compile } from '../../bridge/cel.ts';

export function expression(text: string): Compiled {
  const compilation = compile(text);
  if (!compilation.ok) throw new Error(`compiling ${text}: ${compilation.message}`);
  return compilation.expression;
}

/** Compiles every text of a record. */
export function expressions(texts: Readonly<Record<string, string>>): Readonly<Record<string, Compiled>> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, expression(text)]));
}
