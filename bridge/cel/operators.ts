/*
 * Operators where the engine differs from the language: negation and division that leave the range of ints, texts
 * compared by code points, keys that are no texts. What it would get wrong and nobody needs is refused.
 * Put over a type-checked tree by cel.ts, below the meter.
 */
import { EvaluationError, Optional } from '@marcbachmann/cel-js';
import { int64 } from './conversions.ts';
import { type Handle, isHandle, isMap, type Node, walk } from './syntax.ts';

/** Gives operators their language's meaning. */
export function mendOperators(root: Node): void {
  walk(root, (node) => {
    const { handle } = node;
    if (!isHandle(handle)) return;
    const mended = mendedHandle(node.op, handle);
    if (mended !== undefined) node.handle = mended;
  });
}

function mendedHandle(op: string, handle: Handle): Handle | undefined {
  switch (op) {
    case '-_':
    case '/':
      return inRange(handle);
    case '+':
    case '-':
      return withoutDurations(handle);
    case '<':
      return textsOr(handle, (order) => order < 0);
    case '<=':
      return textsOr(handle, (order) => order <= 0);
    case '>':
      return textsOr(handle, (order) => order > 0);
    case '>=':
      return textsOr(handle, (order) => order >= 0);
    case '==':
    case '!=':
      return withoutOptionals(handle);
    case 'in':
      return withTextKeys(handle);
    default:
      return undefined;
  }
}

function inRange(handle: Handle): Handle {
  return function ranged(this: unknown, ...operands: unknown[]) {
    const result = handle.apply(this, operands);
    return typeof result === 'bigint' ? int64(result, 'result') : result;
  };
}

/** Differences of times can be compared, no more: the engine adds negative durations up wrongly. */
function withoutDurations(handle: Handle): Handle {
  return function plain(this: unknown, ...operands: unknown[]) {
    if (operands.slice(0, 2).some(isDuration)) throw new EvaluationError('calculating with durations');
    return handle.apply(this, operands);
  };
}

/** The engine does not export its class, but gives it a tag, which no JSON has. */
function isDuration(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object google.protobuf.Duration]';
}

function textsOr(handle: Handle, holds: (order: number) => boolean): Handle {
  return function compared(this: unknown, ...operands: unknown[]) {
    const [left, right] = operands;
    return typeof left === 'string' && typeof right === 'string'
      ? holds(orderOf(left, right))
      : handle.apply(this, operands);
  };
}

/** By code points, which UTF-8 keeps in order and UTF-16 does not. */
function orderOf(left: string, right: string): number {
  const most = Math.min(left.length, right.length);
  for (let at = 0; at < most; at += 1) {
    const difference = rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Puts halves of surrogate pairs, which stand for the highest code points, above all other units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function withoutOptionals(handle: Handle): Handle {
  return function known(this: unknown, ...operands: unknown[]) {
    checkOperands(operands);
    return handle.apply(this, operands);
  };
}

function checkOperands([left, right]: readonly unknown[]): void {
  if (holdsOptional(left) || holdsOptional(right)) throw new EvaluationError('comparing an optional value');
}

function holdsOptional(value: unknown): boolean {
  return value instanceof Optional || (Array.isArray(value) && value.some(holdsOptional));
}

/** Every key of an object is a text; the engine would find the number 1 under "1". */
function withTextKeys(handle: Handle): Handle {
  return function within(this: unknown, ...operands: unknown[]) {
    checkOperands(operands);
    const [key, container] = operands;
    return typeof key !== 'string' && isMap(container) ? false : handle.apply(this, operands);
  };
}
