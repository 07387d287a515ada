/*
 * Puts what the watch tells into words on the time line: every change of an object that means something, once.
 * Called by objects.ts for each change; when an object is gone it asks the cloud what has become of the thing.
 */
import type { Observed, ObservedEvent } from './objects.ts';
import { inWords, type Thing } from './outside.ts';
import type { Timeline } from './timeline.ts';

/** Our finalizers begin so. */
export const ENTRY_PREFIX = 'finalizer-bridge.dev/';

export interface Narrator {
  onObject(now: Observed, before: Observed | undefined): void;
  onEvent(event: ObservedEvent): void;
  /** Resolves when everything that has happened so far has been told. @throws if the cloud could not be asked. */
  settled(): Promise<void>;
}

/** Makes the narrator of a time line. */
export function createNarrator({ timeline, things }: { timeline: Timeline; things: readonly Thing[] }): Narrator {
  const asking: Promise<void>[] = [];
  const tellGone = async (object: string) => {
    const thing = things.find((one) => one.object === object);
    if (thing === undefined) return timeline.line(object, 'object gone', 'good');
    const holding = await thing.look();
    const isGone = holding.kind === 'absent';
    const fate = isGone ? `is gone (${inWords(holding)})` : `is still there (${inWords(holding)})`;
    timeline.line(object, `object gone; ${thing.name()} ${fate}`, 'good');
  };
  return {
    onObject(now, before) {
      const entries = entriesOf(now).join(', ');
      if (!now.isPresent) {
        const told = tellGone(now.object);
        told.catch(() => undefined);
        asking.push(told);
        return;
      }
      if (entries !== '' && entries !== entriesOf(before).join(', ')) {
        timeline.line(now.object, `created, and held by ${entries}`);
      }
      if (now.deletionTimestamp !== undefined && before?.deletionTimestamp === undefined) {
        timeline.line(now.object, `Terminating, kept by ${entries}`);
      }
      const { record } = now;
      if (record === undefined || record.reason === before?.record?.reason) return;
      const text = `${record.phase.toLowerCase()}: ${record.reason}: ${record.message}`;
      timeline.line(now.object, text, record.phase === 'Held' ? 'held' : 'plain');
    },
    onEvent({ object, type, reason, note }) {
      timeline.line(object, `Event ${type} ${reason}: ${note}`, type === 'Warning' ? 'held' : 'plain');
    },
    async settled() {
      await Promise.all(asking.splice(0));
    },
  };
}

/** The bridge's entries in an object's finalizers. */
export function entriesOf(observed: Observed | undefined): readonly string[] {
  return observed?.finalizers.filter((name) => name.startsWith(ENTRY_PREFIX)) ?? [];
}
