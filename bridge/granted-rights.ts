/*
 * Rights that the API server has just told the bridge to have, believed for less than a minute: a rule whose deletions begin and
 * end is judged every few seconds, and where some namespaces are served each judgement asks for four verbs in every one of them.
 * What is lacking is asked for anew each time. Put around the kinds port by main.ts, asked by rule-judge.ts.
 */
import type { Clock, Kinds, Watched } from './ports.ts';
import { watchedKey } from './served.ts';

/** So that a right that was taken away is still told with the next judgement but one, or sooner by what fails for it (P7). */
const BELIEVED_MS = 45_000;

/** The same kinds; what may be done with a part of one is not asked for again at once, for whichever rule. */
export function believingRights(kinds: Kinds, clock: Pick<Clock, 'monotonic'>): Kinds {
  const grantedAt = new Map<string, number>();
  return {
    ...kinds,
    async lacking(watched, verbs) {
      if (!isPart(watched)) return await kinds.lacking(watched, verbs);
      const key = `${watchedKey(watched)} ${verbs.join()}`;
      const now = clock.monotonic();
      if (now - (grantedAt.get(key) ?? Number.NEGATIVE_INFINITY) < BELIEVED_MS) return [];
      const lacking = await kinds.lacking(watched, verbs);
      if (lacking.length === 0) grantedAt.set(key, now);
      return lacking;
    },
  };
}

function isPart({ namespace, name }: Watched): boolean {
  return namespace !== undefined || name !== undefined;
}
