/*
 * CEL over one object: the expressions of a rule's target, ownership and policy (https://cel.dev).
 * Compiled by rules.ts when rules are read, evaluated by target.ts for every pending object. The engine is
 * `@marcbachmann/cel-js`; its differences from the language are mended in cel/. Pure: no I/O, no clock.
 */
import { Environment } from '@marcbachmann/cel-js';
import { type UnknownField, unknownFieldsOf } from './cel/fields.ts';
import { FUNCTIONS, REPLACEMENTS, withOriginalNames } from './cel/functions.ts';
import { Meter, putUnderMeter } from './cel/meter.ts';
import type { Prepared } from './cel/object.ts';
import { mendOperators } from './cel/operators.ts';
import { parseFault } from './cel/parse-fault.ts';
import { isMissingKey, mendPresenceTests, mendSelections } from './cel/selection.ts';
import { callOf, isNode, literalOf, type Node, readsOf, redirectCalls, refusal, walk } from './cel/syntax.ts';
import { compilePattern } from './cel/text.ts';
import type { KindSchema } from './kind-schema.ts';

/** Longest expression, in characters (code points), as the API server counts them. */
export const EXPRESSION_MAX = 4096;
const DETAIL_MAX = 256;

/** What an expression may result in. */
export type CelValue = string | boolean | number | readonly string[];

/** The static type of a result; `dyn` is known only when it is evaluated. */
export type CelType = 'string' | 'bool' | 'int' | 'list' | 'dyn';

/** `missing`: a key that the object does not have. `invalid`: every other fault, a result of another type included. */
export type CelOutcome =
  | { readonly kind: 'value'; readonly value: CelValue }
  | { readonly kind: 'missing'; readonly detail: string }
  | { readonly kind: 'invalid'; readonly detail: string };

/** An expression that can be evaluated any number of times. */
export interface Compiled {
  readonly expression: string;
  readonly type: CelType;
  /** The paths read of the object, such as `object.metadata.uid`. */
  readonly reads: readonly string[];
  /** Whether it depends on nothing. */
  readonly constant: boolean;
  /** The paths that objects of a kind cannot have. */
  unknownFields(schema: KindSchema): readonly UnknownField[];
  /** Never throws. */
  evaluate(object: Prepared): CelOutcome;
}

export type Compilation =
  | { readonly ok: true; readonly expression: Compiled }
  | { readonly ok: false; readonly message: string };

const environment = new Environment({
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: true,
  limits: { maxAstNodes: 1000, maxDepth: 50, maxListElements: 100, maxMapEntries: 100, maxCallArguments: 8 },
}).registerVariable('object', 'map');
for (const [signature, implementation] of FUNCTIONS) {
  environment.registerFunction(signature, implementation, { async: false });
}

/** Parses and type-checks an expression over the variable `object`. */
export function compile(expression: string): Compilation {
  if (expression.trim() === '') return refused('the expression is empty');
  if ([...expression].length > EXPRESSION_MAX) return refused(`longer than ${EXPRESSION_MAX} characters`);
  try {
    return compiled(expression);
  } catch (error) {
    return refused(parseFault(error, expression) ?? described(error));
  }
}

function compiled(expression: string): Compilation {
  const program = environment.parse(expression);
  const root: unknown = program.ast;
  if (!isNode(root)) throw new TypeError('compiling an expression: the engine gave no syntax tree');
  const refusedFor = refusal(root);
  if (refusedFor !== undefined) return refused(refusedFor);
  redirectCalls(root, REPLACEMENTS);
  compileLiteralPatterns(root);
  mendPresenceTests(root);
  const checked = program.check();
  if (!checked.valid) return refused(described(checked.error));
  const type = typeOf(checked.type ?? 'dyn');
  if (type === undefined) {
    return refused(`the result is of type ${checked.type}: only string, bool, int and list of strings can be used`);
  }
  const meter = new Meter();
  mendOperators(root);
  mendSelections(root);
  putUnderMeter(root, meter);
  const reads = readsOf(root);
  const evaluate = (object: Prepared) => evaluated(program, meter, object);
  const unknownFields = (schema: KindSchema) => unknownFieldsOf(root, schema);
  return { ok: true, expression: { expression, type, reads, constant: isConstant(root), unknownFields, evaluate } };
}

function refused(message: string): Compilation {
  return { ok: false, message };
}

function evaluated(program: (context: object) => unknown, meter: Meter, object: Prepared): CelOutcome {
  meter.reset();
  let outcome: CelOutcome;
  try {
    outcome = outcomeOf(program(object.variables));
  } catch (error) {
    outcome = { kind: isMissingKey(error) ? 'missing' : 'invalid', detail: described(error) };
  }
  // The language's || and && may have swallowed the error, so the meter has the last word.
  return meter.exceeded ? invalid('the evaluation took too many steps') : outcome;
}

function outcomeOf(value: unknown): CelOutcome {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return { kind: 'value', value };
    case 'bigint': {
      const number = Number(value);
      return Number.isSafeInteger(number)
        ? { kind: 'value', value: number }
        : invalid(`${value} is not a safe integer`);
    }
    case 'number':
      return invalid(`${value} is a double: only whole numbers can be used`);
    default:
      if (value === null) return invalid('the result is null');
      if (!Array.isArray(value)) return invalid('the result is neither a string, a bool, an int nor a list of strings');
      return value.every((item) => typeof item === 'string')
        ? { kind: 'value', value: [...value] }
        : invalid('the result is a list with something else than strings in it');
  }
}

function invalid(detail: string): CelOutcome {
  return { kind: 'invalid', detail };
}

/** The engine's type names, as far as a result can be used. */
function typeOf(name: string): CelType | undefined {
  if (name === 'string' || name === 'bool' || name === 'int') return name;
  if (/^list(<(string|T|dyn.*)>)?$/.test(name)) return 'list';
  return name.startsWith('dyn') ? 'dyn' : undefined;
}

function isConstant(root: Node): boolean {
  let constant = true;
  walk(root, (node) => {
    if (node.op === 'id' && node.args === 'object') constant = false;
  });
  return constant;
}

/** A literal pattern that is no regular expression is a fault of the rule, not of some object. */
function compileLiteralPatterns(root: Node): void {
  walk(root, (node) => {
    const call = callOf(node);
    if (call?.name !== REPLACEMENTS.get('matches')) return;
    const pattern = literalOf(call?.args[1]);
    if (pattern !== undefined) compilePattern(pattern);
  });
}

/** The engine's own words without its drawing of the source, and where in the expression it happened. */
function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, DETAIL_MAX).toWellFormed();
  const summary = 'summary' in error && typeof error.summary === 'string' ? error.summary : error.message;
  const where = sourceOf(error);
  return withOriginalNames(where === undefined ? summary : `${summary} (in ${where})`)
    .slice(0, DETAIL_MAX)
    .toWellFormed();
}

function sourceOf(error: object): string | undefined {
  if (!('node' in error) || !isNode(error.node)) return undefined;
  const { input, start, end } = error.node;
  return input.slice(start, end);
}
