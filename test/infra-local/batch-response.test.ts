/*
 * What each form of a function's answer means for its batch, as the Lambda developer guide lists them.
 * The pure part of the local event source; event-source.test.ts shows what becomes of the messages.
 */
import { describe, expect, it } from 'vitest';
import { verdictOf } from '../../infra/local/batch-response.ts';

const batch = ['m1', 'm2', 'm3'];
const circular: Record<string, unknown> = {};
circular.self = circular;

describe('an answer with partial batch responses on', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty object', {}],
    ['a null list', { batchItemFailures: null }],
    ['an empty list', { batchItemFailures: [] }],
    ['an undefined list', { batchItemFailures: undefined }],
  ])('of %s means that all succeeded', (_name, answer) => {
    expect(verdictOf(answer, batch)).toEqual({ kind: 'answered', failed: new Set() });
  });

  it('that lists some messages means that only those failed', () => {
    const answer = { batchItemFailures: [{ itemIdentifier: 'm2' }, { itemIdentifier: 'm2' }] };
    expect(verdictOf(answer, batch)).toEqual({ kind: 'answered', failed: new Set(['m2']) });
  });

  it.each([
    ['an empty identifier', { batchItemFailures: [{ itemIdentifier: '' }] }],
    ['a null identifier', { batchItemFailures: [{ itemIdentifier: null }] }],
    ['a misspelt key', { batchItemFailures: [{ itemIdentifer: 'm1' }] }],
    ['an identifier from elsewhere', { batchItemFailures: [{ itemIdentifier: 'm1' }, { itemIdentifier: 'm9' }] }],
    ['plain strings', { batchItemFailures: ['m1'] }],
    ['no list', { batchItemFailures: 'm1' }],
    ['a string', 'ok'],
    ['a number', 1],
    ['a list', []],
    ['what JSON cannot hold', circular],
  ])('of %s means that the whole batch failed (Q3)', (_name, answer) => {
    expect(verdictOf(answer, batch)).toMatchObject({ kind: 'invalid' });
  });
});
