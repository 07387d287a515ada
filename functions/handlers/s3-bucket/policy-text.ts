/*
 * One statement into the text of a bucket policy, and out again, with every other byte of the text as it was: numbers,
 * order and spelling of somebody else's statements are theirs. Pure. Used by deny-writes.ts.
 */

/** A part of the text, `to` exclusive. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Strings as a whole, so that a bracket in one is none, and what gives JSON its structure. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * The policy with the statement in front of the others, and without an older one of the same Sid.
 * @param policy the policy's text, or undefined if there is none.
 * @param statement JSON of one statement.
 * @returns undefined if the text is not a policy.
 */
export function withStatement(policy: string | undefined, statement: string, sid: string): string | undefined {
  if (policy === undefined) return `{"Version":"2012-10-17","Statement":[${statement}]}`;
  const found = statementsOf(policy);
  if (found === undefined) return undefined;
  const others = found.statements.filter((text) => !hasSid(text, sid));
  return replaced(policy, found.value, [statement, ...others]);
}

/** The policy without the statements of that Sid; undefined if it has none, the empty text if nothing else is in it. */
export function withoutStatement(policy: string, sid: string): string | undefined {
  const found = statementsOf(policy);
  const others = found?.statements.filter((text) => !hasSid(text, sid)) ?? [];
  if (found === undefined || others.length === found.statements.length) return undefined;
  return others.length === 0 ? '' : replaced(policy, found.value, others);
}

function replaced(policy: string, { from, to }: Span, statements: readonly string[]): string {
  return `${policy.slice(0, from)}[${statements.join(',')}]${policy.slice(to)}`;
}

function hasSid(statement: string, sid: string): boolean {
  const parsed: unknown = JSON.parse(statement);
  return typeof parsed === 'object' && parsed !== null && Reflect.get(parsed, 'Sid') === sid;
}

/** Where the value of "Statement" stands, and the text of each statement: AWS takes a list of them, or one alone. */
function statementsOf(policy: string): { readonly value: Span; readonly statements: readonly string[] } | undefined {
  const value = spanOfStatement(policy);
  if (value === undefined) return undefined;
  const text = policy.slice(value.from, value.to);
  return { value, statements: text.startsWith('[') ? elementsOf(text) : [text] };
}

function spanOfStatement(policy: string): Span | undefined {
  try {
    JSON.parse(policy);
  } catch {
    return undefined;
  }
  let depth = 0;
  let name = '';
  let from: number | undefined;
  for (const { 0: token, index } of policy.matchAll(TOKENS)) {
    if ('}]'.includes(token)) {
      depth -= 1;
      if (depth === 1 && from !== undefined) return { from, to: index + 1 };
    }
    if (depth === 1 && token.startsWith('"')) name = JSON.parse(token);
    if ('{['.includes(token)) {
      if (depth === 1 && name === 'Statement') from = index;
      depth += 1;
    }
  }
  return undefined;
}

/** The elements of a JSON list, each as it is written. */
function elementsOf(list: string): readonly string[] {
  const elements: string[] = [];
  let depth = 0;
  let from = 1;
  for (const { 0: token, index } of list.matchAll(TOKENS)) {
    if ('{['.includes(token)) depth += 1;
    if ('}]'.includes(token)) depth -= 1;
    if ((token === ',' && depth === 1) || depth === 0) {
      elements.push(list.slice(from, index).trim());
      from = index + 1;
    }
  }
  return elements.filter((text) => text !== '');
}
