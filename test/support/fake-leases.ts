/*
 * The lease of a tiny API server, for several candidates with connections of their own: each call takes its time there and
 * back, and may fail, be lost on the way back, or never be answered. Used by the tests of leader.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LeaseRecord, StoredLease } from '../../bridge/leader-state.ts';
import { ApiError, type Clock, type Leases } from '../../bridge/ports.ts';

/** What becomes of a call. `lost`: it takes effect, and an error is the answer. `silent`: it takes effect, and no answer comes. */
export type Fate = 'answered' | 'refused' | 'lost' | 'silent';

/** One candidate's connection. Its `clock` carries the calls, so that one who stands still hears nothing. */
export interface Connection {
  readonly clock: Clock;
  /** ms there, and as much back; 0: at once. */
  readonly latency?: () => number;
  readonly fate?: (verb: 'get' | 'create' | 'replace') => Fate;
}

/** The server's side. */
export class FakeLeases {
  stored: StoredLease | undefined;
  readonly calls: { readonly verb: string; readonly holder: string | undefined }[] = [];
  #version = 0;

  /** As anybody with the rights writes it. */
  put(changes: Partial<LeaseRecord>): void {
    const blank = { holder: '', durationSeconds: 15, acquireTime: '', renewTime: '', transitions: 0 };
    this.#store({ ...(this.stored?.record ?? blank), ...changes }, this.stored?.uid);
  }

  delete(): void {
    this.stored = undefined;
  }

  /** The port of one candidate. */
  port({ clock, latency = () => 1, fate = () => 'answered' }: Connection): Leases {
    const travel = async () => {
      const ms = latency();
      if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve));
    };
    const call = async <T>(
      verb: 'get' | 'create' | 'replace',
      holder: string | undefined,
      effect: () => T,
    ): Promise<T> => {
      this.calls.push({ verb, holder });
      const how = fate(verb);
      await travel();
      if (how === 'refused') throw new ApiError(`${verb} the lease`, 500);
      const result = effect();
      await travel();
      if (how === 'silent') await new Promise(() => {});
      if (how === 'lost') throw new ApiError(`${verb} the lease`, 0);
      return result;
    };
    return {
      get: () => call('get', undefined, () => this.stored),
      create: (record) =>
        call('create', record.holder, () => (this.stored === undefined ? this.#store(record) : 'conflict')),
      replace: ({ uid, resourceVersion }, record) =>
        call('replace', record.holder, () => {
          const isSame = this.stored?.uid === uid && this.stored.resourceVersion === resourceVersion;
          return isSame ? this.#store(record, uid) : 'conflict';
        }),
    };
  }

  /** As a real one, it raises no version for what it has already. */
  #store(record: LeaseRecord, uid?: string): StoredLease {
    if (this.stored !== undefined && isDeepStrictEqual(this.stored.record, record)) return this.stored;
    this.#version += 1;
    this.stored = { uid: uid ?? `uid-${this.#version}`, resourceVersion: String(this.#version), record };
    return this.stored;
  }
}
