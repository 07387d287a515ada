/*
 * One simulated process that stands for leader: the real candidate over a modelled lease, by the process's own clock, so that it
 * stands still and dies with it. Used by world.ts. Calls about the lease take their time and pass no fault points: they would
 * outnumber all others.
 */
import { Candidate } from '../../bridge/leader.ts';
import type { Lease } from '../../bridge/ports.ts';
import type { FakeLeases } from '../support/fake-leases.ts';
import type { SimulatedProcess } from './process.ts';
import type { WorldOptions } from './world-options.ts';

const LATENCY_MAX_MS = 20;
const noLog = { debug() {}, info() {}, warn() {}, error() {} };

/** A process, and what becomes of it. */
export interface Election {
  readonly leases: FakeLeases;
  readonly process: SimulatedProcess;
  readonly random: () => number;
  readonly options: WorldOptions;
  /** Whether the faults have ended: from then on a call takes no time, since a leader makes one every two seconds for hours. */
  isCalm?(): boolean;
  elected(): void;
  lost(): void;
}

/** Stands for leader from now on; the returned lease is what the process holds. */
export function standForLeader({ leases, process, random, options, isCalm, elected, lost }: Election): Lease {
  const clock = process.clock();
  const { name } = process.identity;
  const port = leases.port({
    ...{ clock, latency: () => (isCalm?.() === true ? 0 : 1 + random() * LATENCY_MAX_MS) },
    fate: () => options.leaseFate?.(name) ?? 'answered',
  });
  const Candidacy = options.product?.Candidate ?? Candidate;
  const candidate = new Candidacy({ leases: port, clock, random, identity: name, log: noLog });
  void candidate.elected.then(elected);
  void candidate.lost.then(() => {
    if (process.isAlive) lost();
  });
  candidate.start();
  return candidate;
}
