/*
 * What the fault proxy of the end-to-end tests can do (test/support/fault-script.ts), each as a fault of this simulation: a kind
 * that is new there does not compile here until it has one. Struck by calling.test.ts and watching.test.ts.
 */
import type { CallFault, StreamFault } from '../support/fault-script.ts';
import type { Kind } from './process.ts';
import type { WatchFault } from './watch-faults.ts';

const SECOND = 1_000;

/** Faults of calls; `answer` for all that an API server, or what stands before it, says of itself. */
const CALL_FAULTS: Readonly<Record<CallFault['kind'], readonly Kind[]>> = {
  answer: [
    ...[401, 403, 500, 503, 504].map((status) => ({ kind: 'answer', side: 'before', status }) as const),
    { kind: 'answer', side: 'before', status: 429, retryAfter: 5 * SECOND },
    // The API server did it, and what stands before it did not wait for that.
    { kind: 'answer', side: 'after', status: 504 },
  ],
  refuse: [{ kind: 'error', side: 'before' }],
  lose: [{ kind: 'error', side: 'after' }],
  mute: [{ kind: 'mute', side: 'after' }],
  truncate: [{ kind: 'answer', side: 'after', status: 200 }],
  slow: [{ kind: 'slow', side: 'after', ms: 14 * SECOND }],
  late: [{ kind: 'slow', side: 'before', ms: 14 * SECOND }],
};

/** Faults of watches. */
export const STREAM_FAULTS: Readonly<Record<StreamFault['kind'], readonly WatchFault['kind'][]>> = {
  cut: ['cut'],
  stall: ['silent'],
  end: ['end'],
  error: ['expired', 'busy', 'failed'],
  garble: ['garbled'],
  echo: ['echo'],
};

/** All of them, for calls. */
export const ALL_CALL_FAULTS: readonly Kind[] = Object.values(CALL_FAULTS).flat();

/** How a fault is called. */
export function nameOf(fault: Kind): string {
  return [fault.kind, fault.side, ...(fault.kind === 'answer' ? [fault.status] : [])].join(' ');
}
