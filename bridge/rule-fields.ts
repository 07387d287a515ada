/*
 * Paths in a rule's expressions that its kind's schema lacks, in words for the rule's condition: which expression, which
 * path, and which fields are near. Pure. Called by rule-judge.ts; the question itself is answered by cel/fields.ts.
 */
import type { UnknownField } from './cel/fields.ts';
import type { KindSchema } from './kind-schema.ts';
import type { TeardownRuleSpec } from './rule-schema.ts';

/** Most paths that are told, and fields named as near. */
const TOLD_MAX = 5;
const NEAR_MAX = 3;
const EXPRESSION_SHOWN = 120;

/** What is wrong with the paths of a spec; undefined when nothing is. `kind` is its name for people. */
export function faultOfFields(
  { target, ownership, policy }: Pick<TeardownRuleSpec, 'target' | 'ownership' | 'policy'>,
  schema: KindSchema,
  kind: string,
): string | undefined {
  const expressions = [
    ...Object.entries(target).map(([key, compiled]) => [`spec.target.${key}`, compiled] as const),
    ...Object.entries(ownership.tags ?? {}).map(([key, compiled]) => [`spec.ownership.tags.${key}`, compiled] as const),
    ['spec.policy', policy] as const,
  ];
  const faults = expressions.flatMap(([place, compiled]) => {
    const shown = compiled.expression.trim();
    const text = shown.length > EXPRESSION_SHOWN ? `${shown.slice(0, EXPRESSION_SHOWN).toWellFormed()}…` : shown;
    return compiled.unknownFields(schema).map((field) => `${place}: ${told(field, kind)} (in ${text})`);
  });
  if (faults.length === 0) return undefined;
  const more = faults.length > TOLD_MAX ? [`and ${faults.length - TOLD_MAX} more`] : [];
  return [...faults.slice(0, TOLD_MAX), ...more].join('; ');
}

function told({ path, field, within, known }: UnknownField, kind: string): string {
  const said = `no object of ${kind} has ${path}`;
  switch (within) {
    case 'a list':
      return `${said}: that is a field of a list, of which an item is to be picked first`;
    case 'a scalar':
      return `${said}: that is a field of a single value`;
    case 'a map': {
      const near = nearest(field, known);
      return near.length === 0 ? said : `${said}; near it: ${near.join(', ')}`;
    }
    default:
      return within satisfies never;
  }
}

/** The known fields that are written most like a name. */
function nearest(name: string, known: readonly string[]): readonly string[] {
  const distances = new Map(known.map((field) => [field, distance(name.toLowerCase(), field.toLowerCase())]));
  return [...known].sort((left, right) => (distances.get(left) ?? 0) - (distances.get(right) ?? 0)).slice(0, NEAR_MAX);
}

/** How many letters have to be added, taken out or exchanged (Levenshtein). */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (const [above, letter] of [...left].entries()) {
    const next = [above + 1];
    for (const [at, other] of [...right].entries()) {
      const replaced = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
