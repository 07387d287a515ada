/*
 * TeardownRules as an API server gives them: the spec that the tests of rules begin with, and whole objects.
 * Plain data; a test overrides what it is about.
 */
import type { KubeObject } from '../../bridge/ports.ts';
import { BUCKETS, HANDLER, RULE, type SpecChanges } from './bridge-builders.ts';
import { START, stamp } from './manual-clock.ts';

/** A spec; `changes` replace its fields. */
export function ruleSpec(changes: SpecChanges = {}): Readonly<Record<string, unknown>> {
  return {
    match: { ...BUCKETS },
    handler: HANDLER,
    target: { bucket: 'object.spec.bucket', region: "'eu-central-1'", account: "'111122223333'" },
    ...changes,
  };
}

/** A whole rule. */
export function ruleObject(
  changes: SpecChanges = {},
  {
    name = RULE,
    uid = `uid-of-${name}`,
    generation = 1,
    ...others
  }: Readonly<Record<string, unknown>> & {
    readonly name?: string;
    readonly uid?: string;
    readonly generation?: number;
  } = {},
): KubeObject {
  const metadata = {
    ...{ name, uid, resourceVersion: '7', creationTimestamp: stamp(START - 86_400_000) },
    ...others,
    ...{ generation },
  };
  return { apiVersion: 'finalizer-bridge.dev/v1alpha1', kind: 'TeardownRule', metadata, spec: ruleSpec(changes) };
}
