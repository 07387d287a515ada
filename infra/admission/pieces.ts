/*
 * Lists of finalizers in CEL without a loop over those of others: a list becomes one text, which is cut where an entry of ours
 * begins. Used by limits.ts and removals.ts. The API server's time for a loop grows with the square of its length (over 30,000
 * finalizers it took 13 s), and no API server refuses a loop that takes seconds; so what loops goes over our entries alone.
 */
import { ENTRY_PREFIX } from '../../bridge/rule-facts.ts';
import type { NamedExpression } from './expressions.ts';

/** Most entries of ours in one list that are gone through. */
export const ENTRIES_MAX = 500;

/** A list has one piece more than it has entries of ours. */
const PIECES_MAX = ENTRIES_MAX + 1;

const [before, after] = ['variables.piecesBefore', 'variables.piecesAfter'];

/** The pieces of the list before and after, each with the API server's budget for an expression to itself, which 1 MB needs. */
export function piecesOf(listBefore: string, listAfter: string): readonly NamedExpression[] {
  return [
    { name: 'piecesBefore', expression: cutAtOurs(listBefore) },
    { name: 'piecesAfter', expression: cutAtOurs(listAfter) },
  ];
}

/** Whether both are few enough to be gone through. */
export const areFew = `size(${before}) <= ${PIECES_MAX} && size(${after}) <= ${PIECES_MAX}`;

/** What is left of some pieces without ours: of each what follows its first line end, which the first piece begins with. */
export const othersIn = (pieces: string) =>
  `${pieces}.map(p, p.contains('\\n') ? p.substring(p.indexOf('\\n')) : '').join('')`;

/** The names of the rules whose entries some pieces begin with, and one empty text for the first piece. */
export const rulesIn = (pieces: string) => `${pieces}.map(p, p.split('\\n', 2)[0])`;

function cutAtOurs(list: string): string {
  return `([''] + ${list}.orValue([]) + ['']).join('\\n').split('\\n${ENTRY_PREFIX}')`;
}
