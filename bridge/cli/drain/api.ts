/*
 * What draining asks of the API server beyond the ports of the bridge, which never deletes and never looks at kinds that no
 * rule names. Made over HTTP for the command line, over data in tests.
 */
import type { Clock, Cluster, Kinds, ObjectPath } from '../../ports.ts';
import type { Discovery } from '../catalogue.ts';

/** What only draining needs. Throws ApiError. */
export interface DrainApi {
  /** Asked anew each time. */
  discover(): Promise<Discovery>;
  /** Deletes an object, if it still is the one with that uid. */
  remove(path: ObjectPath, uid: string): Promise<void>;
  /** The API server's own time, in ms since the epoch: the clock of a laptop may be off by more than a release allows. */
  serverTime(): Promise<number>;
}

/** The world of a drain. */
export interface DrainWorld extends DrainApi {
  readonly cluster: Pick<Cluster, 'get' | 'patch' | 'list' | 'recordEvent'>;
  readonly kinds: Pick<Kinds, 'isServed'>;
  readonly clock: Clock;
}
