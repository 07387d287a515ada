/*
 * A handler's function played by a test, one object at a time: requests are taken as they come and kept by the object
 * they are for, so that tests which run side by side do not take each other's. Used over a site's queues.
 */
import type { Outcome } from '../../bridge/contract.ts';
import { eventually } from './eventually.ts';
import type { TestSite } from './site.ts';
import type { SiteQueues, Taken } from './site-queues.ts';

/** By its uid an object is known. */
interface Known {
  readonly uid: string;
  readonly name: string;
}

/** The verbs of one handler's hands. */
export type Hands = ReturnType<typeof handsOf>;

/** Begins to take what comes for a handler, until the site ends. */
export function handsOf(site: TestSite, queues: SiteQueues, handler: string) {
  const taken: Taken[] = [];
  const stop = new AbortController();
  const of = ({ uid }: Known) => taken.filter(({ request }) => request.data.object.uid === uid);
  const work = async () => {
    while (!stop.signal.aborted) {
      const one = await queues.receive(handler);
      if (one !== undefined) taken.push(one);
    }
  };
  const working = work();
  site.keep({
    stop: async () => {
      stop.abort();
      await working;
    },
  });

  /** The request for an object, once it is there. */
  const requested = (object: Known, within?: number) =>
    eventually(`${object.name} is requested of ${handler}`, () => of(object).at(-1), within);

  return {
    requested,
    /** The requests that came for an object so far, copies included. */
    of,
    answer: async (object: Known, outcome: Outcome) => void (await queues.answer(await requested(object), outcome)),
    /** Says that the outside resource is gone, as the function would. */
    finish: async (object: Known, within?: number) => {
      const last = await requested(object, within);
      await queues.answer(last, { outcome: 'gone', evidence: 'deleted' });
      for (const one of of(object)) await queues.done(one);
    },
  };
}
