/*
 * The corpus of expressions (cel-corpus.txt) and the objects they are evaluated over. Used by test/e2e/cel-corpus.test.ts
 * against the API server, and by test/bridge/cel-corpus.test.ts without one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A part of the corpus: what its expressions have in common, and the expressions. */
export interface Section {
  readonly title: string;
  readonly expressions: readonly string[];
}

/** The sections whose title begins with `title`. */
export function sections(title: string): readonly Section[] {
  const text = readFileSync(join(import.meta.dirname, 'cel-corpus.txt'), 'utf8');
  const found = text
    .split(/^== /m)
    .slice(1)
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n');
      return { title: heading, expressions: lines.filter((line) => line !== '') };
    })
    .filter((section) => section.title.startsWith(title));
  if (found.some(({ expressions }) => expressions.length === 0) || found.length === 0) {
    throw new Error(`reading the corpus: nothing under "${title}"`);
  }
  return found;
}

/** Everything an expression of the corpus asks for. Labels and annotations are there, as the bridge always has them. */
const full = {
  apiVersion: 'storage.example.com/v1',
  kind: 'Bucket',
  // Reserved words may be names of fields.
  package: { import: 'core' },
  metadata: {
    name: 'logs',
    namespace: 'team-a',
    uid: '5f0c8c2e',
    generation: 3,
    labels: { a: 'x', 'example.com/tier': 'prod' },
    annotations: { 'team.example.com/on-delete': 'Retain', constructor: 'c' },
    creationTimestamp: '2026-03-01T08:00:00Z',
  },
  spec: {
    ...{ region: 'eu-central-1', size: 1, zero: 0, negative: -7, big: 9007199254740991, ratio: 1.5, tiny: 1e-7 },
    ...{ enabled: true, nothing: null, empty: '', digits: '42', umlaut: 'Äpfel😀x', spaced: '  a b ' },
    ...{ names: ['a', 'b'], mixed: ['a', 1], numbers: [1, 2, 3], nested: [['a'], ['b', 'c']], none: [], nomap: {} },
    items: [
      { id: 'i-1', n: 1 },
      { id: 'i-2', n: 2 },
    ],
    ...{ map: { x: '1', y: '2' }, counts: { a: 1, b: 2 }, odd: { constructor: 'x', 'with-dash': 'd', n: 2 } },
    keyed: { '1': 'one' },
  },
  status: {
    bucketName: 'logs-1',
    arn: 'arn:aws:s3:::b',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'False' },
    ],
  },
};

/** Nothing of it. */
const bare = { metadata: { name: 'x', uid: 'u', labels: {}, annotations: {} }, spec: {} };

/** All of it, but of other types. */
const wrong = {
  metadata: { name: 'w', uid: 'u', labels: {}, annotations: {} },
  spec: {
    ...{ region: 5, size: 'one', enabled: 'yes', umlaut: null, digits: 42, ratio: '1.5', empty: [], spaced: 1 },
    ...{ names: 'a', items: { a: { id: 'x', n: 1 } }, numbers: [1, 'a', null], map: 'm', odd: [], mixed: {} },
    nested: [1],
  },
  status: 'none',
};

export const subjects = [full, bare, wrong] as const;
