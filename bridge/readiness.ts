/*
 * What the process says of itself to /readyz: its role, and why it is not ready. Computed by main.ts for server.ts.
 * A bridge that stands by is ready, as one that stands by: otherwise no roll-out would ever get past it.
 */
import type { Bridge } from './bridge.ts';
import type { Candidate } from './leader.ts';
import type { QueueHealth } from './queue-health.ts';

const REASONS_MAX = 20;
const REASON_LENGTH_MAX = 300;

/** The answer of /readyz. Ready means that there are no reasons. */
export interface Readiness {
  readonly ready: boolean;
  readonly role: 'starting' | 'standby' | 'leader';
  readonly reasons: readonly string[];
}

/** What a process consists of so far. */
export interface Standing {
  readonly candidate?: Pick<Candidate, 'isElected' | 'trouble'> | undefined;
  readonly bridge?: Pick<Bridge, 'whyNotReady'> | undefined;
  readonly queue?: Pick<QueueHealth, 'trouble'> | undefined;
}

/** How ready a process is. */
export function readinessOf({ candidate, bridge, queue }: Standing): Readiness {
  if (candidate === undefined) return withReasons('starting', ['the bridge has not begun']);
  const trouble = candidate.trouble === undefined ? [] : [candidate.trouble];
  if (!candidate.isElected) return withReasons(trouble.length === 0 ? 'standby' : 'starting', trouble);
  if (bridge === undefined) return withReasons('leader', [...trouble, 'the bridge has not begun to watch']);
  const silent = queue?.trouble === undefined ? [] : [queue.trouble];
  return withReasons('leader', [...trouble, ...silent, ...bridge.whyNotReady()]);
}

/** As many reasons as a person reads. */
function withReasons(role: Readiness['role'], all: readonly string[]): Readiness {
  const reasons = all.slice(0, REASONS_MAX).map((reason) => reason.slice(0, REASON_LENGTH_MAX));
  if (all.length > REASONS_MAX) reasons.push(`and ${all.length - REASONS_MAX} more`);
  return { ready: all.length === 0, role, reasons };
}
