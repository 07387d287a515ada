/*
 * The functions of expressions where the engine's own differ from the language, or are lacking: how they are called and
 * what they are (text.ts, conversions.ts). Used by cel.ts, which redirects calls to them by name, since the engine does
 * not let an overload be replaced.
 */
import {
  boolOfString,
  doubleOfString,
  intOfDouble,
  intOfString,
  stringOfDouble,
  timestampOfInt,
  timestampOfString,
} from './conversions.ts';
import { isMap } from './syntax.ts';
import {
  charAt,
  indexOf,
  lastIndexOf,
  lowerAscii,
  matches,
  replace,
  split,
  substring,
  trim,
  upperAscii,
} from './text.ts';

/** The engine's function names that are redirected, and where to. */
export const REPLACEMENTS: ReadonlyMap<string, string> = new Map(
  [
    ...['matches', 'lowerAscii', 'upperAscii', 'trim', 'substring', 'indexOf', 'lastIndexOf', 'split'],
    ...['int', 'double', 'bool', 'string', 'timestamp'],
  ].map((name) => [name, `strict_${name}`]),
);

/** Undoes the redirection in a message for people. */
export function withOriginalNames(message: string): string {
  return message.replaceAll('strict_', '');
}

type Implementation = (...args: never[]) => unknown;

const TIMESTAMP = 'google.protobuf.Timestamp';
const same = <T>(value: T): T => value;

/** Signatures in the engine's notation. */
export const FUNCTIONS: readonly (readonly [signature: string, implementation: Implementation])[] = [
  ['string.strict_matches(string): bool', matches],
  ['strict_matches(string, string): bool', matches],
  ['string.strict_lowerAscii(): string', lowerAscii],
  ['string.strict_upperAscii(): string', upperAscii],
  ['string.strict_trim(): string', trim],
  ['string.strict_substring(int): string', (text: string, from: bigint) => substring(text, from)],
  ['string.strict_substring(int, int): string', (text: string, from: bigint, to: bigint) => substring(text, from, to)],
  ['string.strict_indexOf(string): int', (text: string, part: string) => indexOf(text, part)],
  ['string.strict_indexOf(string, int): int', (text: string, part: string, from: bigint) => indexOf(text, part, from)],
  [
    'list<V>.strict_indexOf(V): int',
    (list: readonly unknown[], item: unknown) => BigInt(list.findIndex(equalTo(item))),
  ],
  ['string.strict_lastIndexOf(string): int', (text: string, part: string) => lastIndexOf(text, part)],
  [
    'string.strict_lastIndexOf(string, int): int',
    (text: string, part: string, at: bigint) => lastIndexOf(text, part, at),
  ],
  [
    'list<V>.strict_lastIndexOf(V): int',
    (list: readonly unknown[], item: unknown) => BigInt(list.findLastIndex(equalTo(item))),
  ],
  ['string.strict_split(string): list<string>', (text: string, by: string) => split(text, by)],
  ['string.strict_split(string, int): list<string>', (text: string, by: string, most: bigint) => split(text, by, most)],
  ['string.replace(string, string): string', (text: string, part: string, by: string) => replace(text, { part, by })],
  [
    'string.replace(string, string, int): string',
    (...[text, part, by, most]: [text: string, part: string, by: string, most: bigint]) =>
      replace(text, { part, by, most }),
  ],
  ['string.charAt(int): string', charAt],
  ['strict_int(int): int', same<bigint>],
  ['strict_int(double): int', intOfDouble],
  ['strict_int(string): int', intOfString],
  ['strict_double(double): double', same<number>],
  ['strict_double(int): double', (value: bigint) => Number(value)],
  ['strict_double(string): double', doubleOfString],
  ['strict_bool(bool): bool', same<boolean>],
  ['strict_bool(string): bool', boolOfString],
  ['strict_string(string): string', same<string>],
  ['strict_string(bool): string', String],
  ['strict_string(int): string', String],
  ['strict_string(double): string', stringOfDouble],
  [`strict_timestamp(string): ${TIMESTAMP}`, timestampOfString],
  [`strict_timestamp(int): ${TIMESTAMP}`, timestampOfInt],
  [`strict_timestamp(${TIMESTAMP}): ${TIMESTAMP}`, same<Date>],
];

function equalTo(item: unknown): (other: unknown) => boolean {
  return (other) => areEqual(item, other);
}

/** Numbers are equal across types, as everywhere in the language. */
function areEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isNumber(left) && isNumber(right)) return left >= right && left <= right;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => areEqual(item, right[index]));
  }
  if (!isMap(left) || !isMap(right)) return false;
  const [these, those] = [entriesOf(left), entriesOf(right)];
  return (
    these.size === those.size && [...these].every(([key, value]) => those.has(key) && areEqual(value, those.get(key)))
  );
}

function entriesOf(map: object): ReadonlyMap<unknown, unknown> {
  return map instanceof Map ? map : new Map(Object.entries(map));
}

function isNumber(value: unknown): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}
