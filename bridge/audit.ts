/*
 * Tells of each word of a person once, when it is first heard: a Warning Event, a metric, a log line, with the field
 * manager and the time as the object's managedFields have them. Who it was stands in the API server's audit log alone,
 * since a field manager is whatever the client calls itself. Called by reconcile.ts before each decision.
 */
import { managersOf, ownsAnnotation } from './managed-fields.ts';
import type { Pending } from './pending.ts';
import type { KubeObject } from './ports.ts';
import { readRecordOfAnyRule } from './record.ts';
import type { Run } from './run.ts';
import { reasonGiven, type SpokenWord, spokenWords } from './words.ts';

/** Words of one deletion that are known to have been told; of older ones a repetition is told again. */
const HEARD_MAX = 32;

const ASKED = {
  release: 'ReleaseAsked',
  retry: 'RetryAsked',
  approve: 'ApproveAsked',
} as const satisfies Record<SpokenWord['word'], string>;

/** Tells of the words that stand on the object and were not told of by this process, or noted by an earlier one. */
export function hearWords({ reach, pending, facts }: Run): void {
  const { rule } = pending;
  for (const spoken of spokenWords(facts.object.metadata, rule)) {
    const { word, said } = spoken;
    const heard = heardAs(spoken);
    if (pending.heard.has(heard)) continue;
    pending.heard.add(heard);
    const [oldest] = pending.heard;
    if (pending.heard.size > HEARD_MAX && oldest !== undefined) pending.heard.delete(oldest);
    // What was told before a restart stands in the record, if one was written since.
    if (word === 'retry' && pending.retryHandled === said) continue;
    if (readRecordOfAnyRule(facts.object.metadata, rule)?.heard?.includes(heard)) continue;
    reach.metrics.words.inc({ rule: reach.labelOf(rule, pending.kind), word });
    reach.reporter.tell(pending, {
      type: 'Warning',
      reason: ASKED[word],
      action: 'Teardown',
      message: `${rule}: ${word} was asked for${signatureOf(facts.object, spoken.key)}${reasonOf(facts.object, spoken, rule)}`,
    });
  }
}

/** The words on an object that were told of, as its record keeps them; retries it keeps by themselves. */
export function heardOf({ meta, rule, heard }: Pending): readonly string[] {
  const others = spokenWords(meta, rule).filter(({ word }) => word !== 'retry');
  return others.map(heardAs).filter((word) => heard.has(word));
}

function heardAs({ word, said }: SpokenWord): string {
  return `${word} ${said}`.trim();
}

/** Only a release has a reason to give. */
function reasonOf({ metadata }: KubeObject, { word }: SpokenWord, rule: string): string {
  const reason = word === 'release' ? reasonGiven(metadata, rule) : undefined;
  return reason === undefined ? '' : `: ${reason}`;
}

/** Who says to have written an annotation, and when: `, by field manager kubectl at 2026-01-01T00:00:00Z`. */
export function signatureOf({ metadata }: KubeObject, key: string): string {
  const owner = managersOf(metadata.managedFields).findLast((manager) => ownsAnnotation(manager, key));
  if (owner === undefined) return '';
  const { manager = 'unknown', time } = owner;
  return `, by field manager ${manager}${time === undefined ? '' : ` at ${time}`}`;
}
