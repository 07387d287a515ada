/*
 * The bridge, as it is shipped, killed with SIGKILL at every step of a deletion and started again: it finishes. Tripwires
 * in front of the real API server and the queue hit the exact point before and after each of its calls.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claim, look, opening, removal } from '../support/bridge-calls.ts';
import { queueCall } from '../support/cloud-calls.ts';
import { type KillPoint, type Place, type Stage, startStage } from '../support/kill-points.ts';
import type { Point } from '../support/tripwire.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage('killbridge');
});
afterAll(() => stage?.stop());

type Phase = Point['phase'];
const requestsOf = ({ site }: Place) => site.handler('s3-bucket').requests.url;
const resultsOf = ({ site }: Place) => site.results.url;
const collectionOf = ({ site }: Place) => `/apis/${site.group}/v1/buckets`;

const inRequests = (phase: Phase): KillPoint => ({
  wire: 'sqs',
  at: (place) => queueCall({ operation: 'SendMessageBatch', queueUrl: requestsOf(place) }, phase),
});
const inResults = (operation: 'ReceiveMessage' | 'DeleteMessageBatch', phase: Phase): KillPoint => ({
  wire: 'sqs',
  at: (place) => queueCall({ operation, queueUrl: resultsOf(place) }, phase),
});

const STEPS: readonly (readonly [string, KillPoint])[] = [
  ['before the GET of the object', { wire: 'api', at: ({ path }) => look(path, 'asked') }],
  ['after the GET of the object', { wire: 'api', at: ({ path }) => look(path, 'answered') }],
  ['before the request is sent', inRequests('asked')],
  ['after the request was sent', inRequests('answered')],
  ['when the result has been received', inResults('ReceiveMessage', 'answered')],
  ['before the PATCH that takes the entry off', { wire: 'api', at: ({ path }) => removal(path, 'asked') }],
  ['after the PATCH that took the entry off', { wire: 'api', at: ({ path }) => removal(path, 'answered') }],
  ['before the result is deleted', inResults('DeleteMessageBatch', 'asked')],
  ['after the result was deleted', inResults('DeleteMessageBatch', 'answered')],
];

describe('the bridge, killed while an object is deleted', () => {
  it.each(STEPS.map(([title, point], index) => [title, `step-${index}`, point] as const))(
    'P5 %s, finishes when it is started again',
    async (_title, name, point) => {
      const made = await stage.buckets.create(name);
      const killed = stage.killAt('bridge', point, stage.place(name));
      await stage.buckets.delete(name);
      await killed;

      await stage.restart('bridge');

      await stage.expectEnd(made);
    },
  );
});

describe('the bridge, killed while it puts its entry on a new object', () => {
  it.each(['asked', 'answered'] as const)('P5 with its PATCH %s, has it on when started again', async (phase) => {
    const name = `claim-${phase}`;
    const killed = stage.killAt('bridge', { wire: 'api', at: ({ path }) => claim(path, phase) }, stage.place(name));
    const made = await stage.buckets.create(name, { unclaimed: true });
    await killed;
    expect(await stage.buckets.finalizers(name)).toHaveLength(phase === 'asked' ? 0 : 1);

    await stage.restart('bridge');

    await stage.buckets.claimed(name);
    await stage.buckets.delete(name);
    await stage.expectEnd(made);
  });
});

describe('the bridge, killed while it opens its watch on objects that were deleted meanwhile', () => {
  it.each(['asked', 'answered'] as const)('P5 with the watch %s, finishes when started again', async (phase) => {
    const name = `watch-${phase}`;
    const place = stage.place(name);
    const made = await stage.buckets.create(name);
    await stage.kill('bridge');
    await stage.buckets.delete(name);
    const killed = stage.killAt('bridge', { wire: 'api', at: () => opening(collectionOf(place), phase) }, place);
    await stage.restart('bridge', 'started');
    await killed;
    expect(await stage.buckets.finalizers(name)).toHaveLength(1);

    await stage.restart('bridge');

    await stage.expectEnd(made);
  });
});
