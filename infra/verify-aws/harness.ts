/*
 * How the checks of verify-aws.ts run a handler: as the dispatch does, with the real clock, against the account. Used by the
 * checks and by the sweep.
 */
import { clientInput, FUNCTION_PATIENCE } from '../../functions/client-input.ts';
import { systemClock } from '../../functions/clock.ts';
import type { Handler } from '../../functions/handler.ts';
import { type ConformanceHarness, conformance, type Scene } from '../../functions/testing.ts';
import type { Site } from './account.ts';

/** One check; `run` throws with what was seen instead. None leans on another. */
export interface Check {
  readonly id: string;
  readonly title: string;
  readonly run: () => Promise<void>;
}

/** The conformance suite of a handler, a check each. */
export function suite(id: string, handler: Handler, harness: ConformanceHarness): readonly Check[] {
  return conformance(handler, harness).map(({ title, run }, index) => ({ id: `${id}-${index + 1}`, title, run }));
}

/** The uid of the object that everything here is said to belong to. */
export const UID = 'fb-verify';
/** The proof of that. */
export const OWNED = { 'finalizer-bridge.dev/owner-uid': UID };
/** AWS takes its time over volumes and instances. */
const PATIENCE_MS = 5_000;

const none = (): Promise<Scene> => Promise.reject(new Error('making a scene: this check has none of that sort'));

/** A harness without scenes. */
export function harnessOf({ account, region, endpoint }: Site): ConformanceHarness {
  return {
    ...{ account, region, uid: UID, ownership: { tags: OWNED }, clock: systemClock, random: Math.random },
    patience: endpoint === undefined ? PATIENCE_MS : 0,
    aws: (_service, place) => clientInput(place, endpoint, FUNCTION_PATIENCE),
    ...{ absent: none, owned: none, foreign: none, kept: none },
  };
}
