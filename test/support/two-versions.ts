/*
 * A kind that is served in two versions, and a rule for the second that selects nothing of what tests delete: it has the kind watched
 * in both. Used by the tests of the bridge over fakes.
 */
import type { KubeObject } from '../../bridge/ports.ts';
import { BUCKETS, ruleOf } from './bridge-builders.ts';

/** The kind of the usual rule in its second version. */
export const SECOND = { ...BUCKETS, version: 'v2' };
/** The name of the rule for it. */
export const OTHER = 'other-rule';
/** What it selects. */
export const labelSelector = { matchLabels: { app: 'other' } };
/** Has the kind watched in v2 as well. */
export const elsewhere = ruleOf({ match: { ...SECOND, labelSelector } }, OTHER);

/** What v1 calls `bucket` is called `name` in v2. */
export function converted(object: KubeObject, version: string): KubeObject {
  const apiVersion = `${BUCKETS.group}/${version}`;
  return version === 'v1' ? object : { ...object, apiVersion, spec: { name: Object(object.spec).bucket } };
}
