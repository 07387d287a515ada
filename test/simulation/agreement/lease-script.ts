/*
 * Scripts of the lease that makes one of several bridges the leader, and their run. The bridge's own port over a real API server,
 * and the model that elections in the simulation run on (test/support/fake-leases.ts), have to agree on each: run by
 * test/e2e/agreement-api.test.ts.
 */
import type { StoredLease } from '../../../bridge/leader-state.ts';
import type { Leases } from '../../../bridge/ports.ts';
import { FakeLeases } from '../../support/fake-leases.ts';
import { normalised, type Shown } from './transcript.ts';

/** One step. `replace` is of the lease as it was read last, or first. */
export type LeaseStep =
  | { readonly do: 'get' | 'delete' }
  | { readonly do: 'create'; readonly holder: string }
  | { readonly do: 'replace'; readonly holder: string; readonly from?: 'first' };

/** One behaviour. */
export interface LeaseScript {
  readonly title: string;
  readonly steps: readonly LeaseStep[];
}

/** A lease in the hands of a script. */
export interface LeaseDriver {
  readonly leases: Leases;
  delete(): Promise<void>;
}

/** All of them. */
export const leaseScripts: readonly LeaseScript[] = [
  {
    title: 'a lease is created once, and replaced by whoever has read it last',
    steps: [
      { do: 'get' },
      { do: 'create', holder: 'one' },
      { do: 'create', holder: 'two' },
      { do: 'get' },
      { do: 'replace', holder: 'two' },
      { do: 'replace', holder: 'one', from: 'first' },
      { do: 'replace', holder: 'one' },
      { do: 'get' },
    ],
  },
  {
    title: 'a write of the same words moves nothing',
    steps: [
      { do: 'create', holder: 'one' },
      { do: 'replace', holder: 'one' },
      { do: 'replace', holder: 'two', from: 'first' },
      { do: 'get' },
    ],
  },
  {
    title: 'a lease that was deleted is not replaced, and the next one is another',
    steps: [
      { do: 'create', holder: 'one' },
      { do: 'delete' },
      { do: 'get' },
      { do: 'replace', holder: 'one' },
      { do: 'get' },
      { do: 'create', holder: 'two' },
      { do: 'replace', holder: 'one', from: 'first' },
      { do: 'get' },
    ],
  },
];

/** The model, without a lease. */
export function createLeaseModel(leases = new FakeLeases()): LeaseDriver {
  const after = (_ms: number, task: () => void) => {
    queueMicrotask(task);
    return () => {};
  };
  return {
    leases: leases.port({ clock: { now: () => 0, monotonic: () => 0, after } }),
    delete: async () => leases.delete(),
  };
}

/** Runs a script. */
export async function runLeaseScript(
  { leases, delete: remove }: LeaseDriver,
  { steps }: LeaseScript,
): Promise<readonly Shown[]> {
  const { signal } = new AbortController();
  const read: StoredLease[] = [];
  const note = (answer: StoredLease | 'conflict' | undefined) => {
    if (typeof answer !== 'object') return answer ?? 'none';
    read.push(answer);
    return answer;
  };
  const doing = async (step: LeaseStep) => {
    switch (step.do) {
      case 'get':
        return note(await leases.get(signal));
      case 'create':
        return note(await leases.create(recordOf(step.holder), signal));
      case 'replace': {
        const stored = read.at(step.from === 'first' ? 0 : -1);
        if (stored === undefined) throw new Error('replacing the lease: none was read');
        return note(await leases.replace(stored, recordOf(step.holder), signal));
      }
      case 'delete':
        return await remove();
      default:
        return step satisfies never;
    }
  };
  const shown: Shown[] = [];
  for (const step of steps) shown.push({ step: JSON.stringify(step), saw: await doing(step) });
  return normalised(shown);
}

/** Times as the API writes them. */
function recordOf(holder: string) {
  const time = '2026-03-01T08:00:00.250000Z';
  return { holder, durationSeconds: 15, acquireTime: time, renewTime: time, transitions: 1 };
}
