/*
 * Selecting from what an object holds, and asking whether it is there. Tells a missing key from every other fault: the
 * engine says "no such key" also where something is selected from a string, a number or a list; only a map (or null,
 * which stands for an absent map) can miss a key. Put over the tree by cel.ts.
 */
import { EvaluationError, Optional } from '@marcbachmann/cel-js';
import { callOf, type Handle, isHandle, isMap, isNode, type Node, walk } from './syntax.ts';

const NO_SUCH_KEY = 'no_such_key';

/** Whether an error of the engine means that the object lacks what was asked for. */
export function isMissingKey(error: unknown): error is EvaluationError {
  return error instanceof EvaluationError && error.code === NO_SUCH_KEY;
}

/** Makes selections mean what they do in the language. Over a type-checked tree. */
export function mendSelections(root: Node): void {
  walk(root, (node) => {
    const { op, handle } = node;
    if (!isHandle(handle)) return;
    if (op === '.' || op === '[]') node.handle = selection(handle);
    if (op === '.?' || op === '[?]') node.handle = optionalSelection(handle);
  });
}

/** Selections from anything but a map fail with an error of their own. */
function selection(handle: Handle): Handle {
  return function selected(this: unknown, ...operands: unknown[]) {
    const [left, key] = operands;
    checkKey(key);
    // The engine would find the number 1 under "1".
    if (typeof key !== 'string' && isMap(left)) throw missing(key);
    try {
      return handle.apply(this, operands);
    } catch (error) {
      if (!isMissingKey(error) || left === null || isMap(left)) throw error;
      throw wrongContainer(left, error);
    }
  };
}

function optionalSelection(handle: Handle): Handle {
  return function selected(this: unknown, ...operands: unknown[]) {
    const [left, key] = operands;
    const from = left instanceof Optional ? left.orValue(undefined) : left;
    if (from === undefined) return Optional.none();
    checkKey(key);
    if (Array.isArray(from) && !isIndex(key)) throw wrongContainer(from);
    if (typeof key !== 'string' && isMap(from)) return Optional.none();
    return handle.apply(this, operands);
  };
}

/** The engine makes a text of whatever it is given for a key. */
function checkKey(key: unknown): void {
  if (!['string', 'boolean', 'bigint', 'number'].includes(typeof key)) {
    throw new EvaluationError(`a key cannot be ${key === null ? 'null' : kindOf(key)}`);
  }
}

function isIndex(key: unknown): boolean {
  return typeof key === 'bigint' || Number.isInteger(key);
}

function missing(key: unknown): EvaluationError {
  return new EvaluationError({ code: NO_SUCH_KEY, message: `No such key: ${String(key)}` });
}

function wrongContainer(value: unknown, cause?: EvaluationError): EvaluationError {
  const message = `selecting from ${kindOf(value)}`;
  return new EvaluationError({ code: 'no_such_overload', message, ...(cause && { cause }) });
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isMap(value)) return 'a map';
  if (typeof value === 'bigint') return 'an int';
  return typeof value === 'object' ? 'a value without keys' : `a ${typeof value}`;
}

/** What the engine runs for `has(...)`, as far as it is used here. */
interface Presence {
  typeCheck: (checker: Checker, macro: unknown, context: unknown) => unknown;
  evaluate: (evaluator: Evaluator, macro: unknown, context: unknown) => unknown;
}
interface Checker {
  check(node: Node, context: unknown): { readonly kind: string };
  getType(name: string): unknown;
}
interface Evaluator {
  run(node: Node, context: unknown): unknown;
}

/**
 * Lets `has(a.b)` be asked of any `a`, evaluates `a` like everything else, and refuses to look into lists. Before the
 * tree is type-checked.
 * @throws Error when the engine's tree is not as expected
 */
export function mendPresenceTests(root: Node): void {
  walk(root, (node) => {
    const call = callOf(node);
    if (call?.name !== 'has') return;
    const [tested] = call.args;
    if (!isNode(tested) || tested.op !== '.' || !Array.isArray(tested.args)) {
      throw new EvaluationError('has() is asked of a field, as in has(object.spec.name)');
    }
    const [container, field]: unknown[] = tested.args;
    const { macro } = node.meta;
    if (!isNode(container) || typeof field !== 'string' || !isPresence(macro)) {
      throw new Error('mending has(): the engine gave another tree');
    }
    macro.typeCheck = (checker, _macro, context) => {
      const { kind } = checker.check(container, context);
      if (kind !== 'map' && kind !== 'dyn') throw new EvaluationError(`has() of something that is no map: ${kind}`);
      return checker.getType('bool');
    };
    macro.evaluate = (evaluator, _macro, context) => isPresent(evaluator.run(container, context), field);
  });
}

function isPresence(macro: unknown): macro is Presence {
  return typeof macro === 'object' && macro !== null && 'typeCheck' in macro && 'evaluate' in macro;
}

function isPresent(container: unknown, field: string): boolean {
  if (Array.isArray(container)) throw wrongContainer(container);
  if (container instanceof Map) return container.has(field);
  return typeof container === 'object' && container !== null && isMap(container) && Object.hasOwn(container, field);
}
