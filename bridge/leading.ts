/*
 * The API server for one that may lead or not: nothing is written, and nothing told, unless the lease is held at that very
 * moment (trap V3). Put between the real port and everything else by main.ts, so that no writer has to think of it.
 */
import type { Cluster, Lease } from './ports.ts';

/** The same cluster, whose patches and Events throw while the lease is not held. */
export function writingAsLeader(cluster: Cluster, lease: Lease): Cluster {
  const check = (doing: string) => {
    if (!lease.holds()) throw new Error(`${doing}: the lease is not held`);
  };
  return {
    get: (path) => cluster.get(path),
    list: (watched, page) => cluster.list(watched, page),
    watch: (kind, resourceVersion, signal) => cluster.watch(kind, resourceVersion, signal),
    async patch(path, operations, how) {
      check(`patching ${path.resource}/${path.name}`);
      return await cluster.patch(path, operations, how);
    },
    async recordEvent(event) {
      check(`recording an Event on ${event.object.kind}/${event.object.name}`);
      await cluster.recordEvent(event);
    },
  };
}
