/*
 * What an entry waits for of which the bridge has written nothing: at first it is only quiet, later it may be away. Called by
 * entry-facts.ts, which knows the rule as it stands.
 */
import { type Advice, adviceFor, type Commands } from './advice.ts';

const QUIET = 'the bridge writes nothing for the first half minute';

/** Advice where the bridge has not written yet, by what it is going to do. */
export function adviceAtFirst(
  expected: 'Request' | 'Retain' | 'Paused' | 'RuleNotAccepted' | 'unknown',
  commands: Commands,
): Advice {
  switch (expected) {
    case 'Request':
      return { waitsFor: `the result, if its request has been sent by now; ${QUIET}`, next: [] };
    case 'Retain':
      return { waitsFor: `the bridge to take the entry off; under Retain nothing is sent, and ${QUIET}`, next: [] };
    case 'Paused':
    case 'RuleNotAccepted':
      return adviceFor({ phase: 'Pending', reason: expected }, commands);
    case 'unknown':
      return { waitsFor: `the bridge; without the rule nobody can say here for what, and ${QUIET}`, next: [] };
    default:
      return expected satisfies never;
  }
}

/** Advice where the bridge has written nothing for longer than it would be silent. */
export function adviceOnSilence({ describeRule }: Commands): Advice {
  return {
    waitsFor: 'the bridge, which has written nothing on the object; whether a request was sent is not known here',
    next: [{ say: 'look whether the bridge runs, and may patch this kind', command: describeRule }],
  };
}
