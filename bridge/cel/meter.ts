/*
 * The budget of one evaluation, so that no expression and no object can keep the process busy or fill its memory.
 * Put over a type-checked tree by cel.ts: every node that can cost more than a step is charged before it runs, by the
 * sizes of what it works on. Once the budget is gone every further charge throws, so a loop that swallows errors ends.
 */
import { callOf, isHandle, literalOf, type Node, walk } from './syntax.ts';

/** What one evaluation may cost, in steps: about 10 ms at the worst, where a usual expression costs under 20. */
export const BUDGET = 200_000;

/** Characters that cost one step where they are copied or compared. */
const CHARACTERS_PER_STEP = 16;

/** Thrown while over budget; the outcome is decided by `Meter.exceeded`, since the language's `||` swallows errors. */
class OverBudget extends Error {
  override readonly name = 'OverBudget';
}
const overBudget = new OverBudget(`more than ${BUDGET} steps`);

/** Counts down one evaluation at a time: evaluation is synchronous and never re-entered. */
export class Meter {
  #left = BUDGET;

  reset(): void {
    this.#left = BUDGET;
  }

  get exceeded(): boolean {
    return this.#left < 0;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw overBudget;
  }

  /** Spends what a whole value weighs, looking no further than the budget reaches. */
  spendOn(value: unknown): void {
    // First of all, so that nothing is walked any more once the budget is gone.
    this.spend(1);
    if (typeof value === 'string' || value instanceof Uint8Array) this.spend(value.length / CHARACTERS_PER_STEP);
    else if (Array.isArray(value)) for (const item of value) this.spendOn(item);
    else if (value instanceof Map) this.#spendOnEntries(value);
    else if (isRecord(value)) this.#spendOnMembers(value);
  }

  #spendOnEntries(map: ReadonlyMap<unknown, unknown>): void {
    for (const [key, member] of map) {
      this.spendOn(key);
      this.spendOn(member);
    }
  }

  /** By `for in`, which makes no list of all keys before the first is paid for. */
  #spendOnMembers(record: Readonly<Record<string, unknown>>): void {
    for (const key in record) {
      this.spendOn(key);
      this.spendOn(record[key]);
    }
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

type Charge = (operands: readonly unknown[]) => void;

/**
 * Puts a meter over a tree.
 * @throws Error when the engine's tree is not as expected: without charges an expression must not run at all.
 */
export function putUnderMeter(root: Node, meter: Meter): void {
  walk(root, (node) => {
    const charge = chargeOf(node, meter);
    // Calls of macros have been expanded; only their expansion runs, and has a handle.
    if (!charge || node.meta.alternate !== undefined || node.meta.macro !== undefined) return;
    const { handle } = node;
    if (!isHandle(handle)) throw new Error(`metering an expression: the engine gave no handle for ${node.op}`);
    node.handle = function metered(this: unknown, ...operands: unknown[]) {
      charge(operands);
      return handle.apply(this, operands);
    };
  });
}

function chargeOf(node: Node, meter: Meter): Charge | undefined {
  switch (node.op) {
    case 'comprehension': {
      const perItem = 1 + stepsOf(node);
      return ([items]) => {
        meter.spend(1);
        meter.spend(countOf(items) * perItem);
      };
    }
    case 'call':
    case 'rcall': {
      const call = callOf(node);
      const extra = extraOf(call?.name ?? '', literalOf(call?.args[1]) !== undefined);
      return ([operands]) => {
        meter.spendOn(operands);
        if (extra && Array.isArray(operands)) meter.spend(extra(operands));
      };
    }
    case '+':
    case '==':
    case '!=':
    case 'in':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return ([left, right]) => {
        meter.spendOn(left);
        meter.spendOn(right);
      };
    default:
      return undefined;
  }
}

/** Nodes of the body, each of which runs once per item. */
function stepsOf({ args }: Node): number {
  let count = 0;
  walk(typeof args === 'object' && args !== null && 'step' in args ? args.step : undefined, () => {
    count += 1;
  });
  return count;
}

function countOf(items: unknown): number {
  if (Array.isArray(items)) return items.length;
  if (items instanceof Map || items instanceof Set) return items.size;
  return typeof items === 'object' && items !== null ? Object.keys(items).length : 0;
}

type Lengths = readonly [text: number, first: number, second: number];

/** What a string function costs beyond one look at its operands; each bounds the worst case of its algorithm. */
function extraOf(name: string, literal: boolean): ((operands: readonly unknown[]) => number) | undefined {
  const cost = costOf(name, literal);
  return cost && ((operands) => cost([lengthOf(operands[0]), lengthOf(operands[1]), lengthOf(operands[2])]));
}

function costOf(name: string, literal: boolean): ((lengths: Lengths) => number) | undefined {
  switch (name) {
    case 'strict_matches':
      // A literal pattern was compiled with the expression; any other may have to be compiled now.
      return ([text, pattern]) => (text * pattern) / 4 + (literal ? 0 : 64 * pattern);
    case 'replace':
      return ([text, from, to]) => ((text + 1) * (from + to + 1)) / CHARACTERS_PER_STEP;
    case 'contains':
    case 'strict_indexOf':
    case 'strict_lastIndexOf':
      return ([text, part]) => (text * part) / 64;
    case 'strict_split':
      return ([text, by]) => text + (text * by) / 64;
    default:
      return undefined;
  }
}

function lengthOf(operand: unknown): number {
  return typeof operand === 'string' ? operand.length : 0;
}
