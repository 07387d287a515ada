/*
 * docs/operations.md held against the code: whoever is on call must find every reason that the bridge gives, and must not
 * be sent to a metric that does not exist.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../bridge/metrics.ts';
import { root, trackedFiles } from './support/tracked-files.ts';

const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| `'));
const explained = new Set(rows.flatMap((row) => row.split('|')[1]?.match(/[A-Z][A-Za-z]+/g) ?? []));

/** Reasons as the bridge's sources spell them: of waiting, of holding, of what stands on an object. */
const GIVEN = [
  /\b(?:hold|wait)\(\s*'([A-Z][A-Za-z]+)'/g,
  /act: 'hold', reason: '([A-Z][A-Za-z]+)'/g,
  /phase: 'Held'(?: as const)?,\s*reason: '([A-Z][A-Za-z]+)'/g,
  /kind: 'invalid', reason: '([A-Z][A-Za-z]+)'/g,
];

function reasonsGiven(): ReadonlySet<string> {
  const sources = trackedFiles().filter((path) => /^bridge\/[\w-]+\.ts$/.test(path));
  const texts = sources.map((path) => readFileSync(join(root, path), 'utf8'));
  return new Set(
    texts.flatMap((text) => GIVEN.flatMap((form) => [...text.matchAll(form)].map(([, reason = '']) => reason))),
  );
}

describe('docs/operations.md', () => {
  it('explains every reason that the bridge gives for a pending object (P7)', () => {
    const given = reasonsGiven();
    expect([...given]).toEqual(
      expect.arrayContaining(['NoRule', 'BudgetExceeded', 'QueueTooSlow', 'Paused', 'TargetInvalid']),
    );
    expect([...given].filter((reason) => !explained.has(reason))).toEqual([]);
  });

  it('names only metrics that the bridge has', async () => {
    const { registry } = createMetrics();
    const served = new Set((await registry.getMetricsAsJSON()).map(({ name }) => name));
    const named = new Set(page.match(/finalizer_bridge_\w+/g));
    expect(named.size).toBeGreaterThan(5);
    expect([...named].filter((name) => !served.has(name))).toEqual([]);
  });
});
