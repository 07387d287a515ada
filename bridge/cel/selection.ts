/*
 * Tells a missing key from every other fault of an expression. The engine says "no such key" also where something is
 * selected from a string, a number or a list; only a map (or null, which stands for an absent map) can miss a key.
 * Put over a type-checked tree by cel.ts.
 */
import { EvaluationError } from '@marcbachmann/cel-js';
import { type Node, walk } from './syntax.ts';

const NO_SUCH_KEY = 'no_such_key';

/** Whether an error of the engine means that the object lacks what was asked for. */
export function isMissingKey(error: unknown): error is EvaluationError {
  return error instanceof EvaluationError && error.code === NO_SUCH_KEY;
}

/** Makes selections from anything but a map fail with an error of their own. */
export function distinguishMissingKeys(root: Node): void {
  walk(root, (node) => {
    const { handle } = node;
    if ((node.op !== '.' && node.op !== '[]') || typeof handle !== 'function') return;
    node.handle = function selected(this: unknown, left: unknown, ...rest: unknown[]) {
      try {
        return handle.call(this, left, ...rest);
      } catch (error) {
        if (!isMissingKey(error) || canMissKeys(left)) throw error;
        throw new EvaluationError({
          code: 'no_such_overload',
          message: `selecting from ${kindOf(left)}`,
          cause: error,
        });
      }
    };
  });
}

function canMissKeys(value: unknown): boolean {
  if (value === null || value instanceof Map) return true;
  return typeof value === 'object' && (value.constructor === Object || value.constructor === undefined);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'bigint') return 'an int';
  return typeof value === 'object' ? 'a value without keys' : `a ${typeof value}`;
}
