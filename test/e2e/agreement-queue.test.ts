/*
 * The model of the queue against an emulator of SQS: the same scripts are run against both, and what functions and others are
 * answered must be the same, step by step. What the emulator is known to do otherwise than SQS is listed (docs/simulation.md).
 */
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Queues, startQueues } from '../../infra/local/queues.ts';
import { drawnFrom } from '../simulation/agreement/drawn.ts';
import { queueMistakes } from '../simulation/agreement/queue-mistakes.ts';
import { createQueueModel } from '../simulation/agreement/queue-model.ts';
import { randomQueueScripts } from '../simulation/agreement/queue-random.ts';
import {
  connectSenders,
  createQueueReal,
  type QueueClients,
  SENDERS_BY_KEY,
} from '../simulation/agreement/queue-real.ts';
import { type QueueDriver, type QueueScript, runQueueScript } from '../simulation/agreement/queue-script.ts';
import { differing, queueScripts } from '../simulation/agreement/scripts-queues.ts';
import type { Shown } from '../simulation/agreement/transcript.ts';

const { runs: RUNS, seed: SEED } = drawnFrom(process.env);
/** Runs of one script at most. */
const TRIES = 5;
/** For all drawn scripts, and for making one that fails small. */
const PATIENCE_MS = 120_000 + RUNS * 2_000;

let queues: Queues;
let clients: QueueClients;
let made = 0;
/** By title, what the server showed. All at once: some scripts wait for a visibility to end. */
let shown: ReadonlyMap<string, readonly Shown[]>;

beforeAll(async () => {
  queues = await startQueues({ senders: SENDERS_BY_KEY });
  clients = connectSenders(queues);
  const all = [...queueScripts, ...differing].map(async (script) => [script.title, await onServer(script)] as const);
  shown = new Map(await Promise.all(all));
});
afterAll(async () => {
  for (const client of Object.values(clients ?? {})) client.destroy();
  await queues?.stop();
});

const optionsOf = ({ options }: QueueScript) => ({ visibilitySeconds: 600, maxReceiveCount: 100, ...options });

/** A script in which a time was over before the step that comes before its end is run again: the machine stood still. */
async function onServer(script: QueueScript): Promise<readonly Shown[]> {
  for (let tries = 1; ; tries += 1) {
    made += 1;
    const queue = await createQueueReal({ queues, clients }, `agreed-${made}`, optionsOf(script));
    const { driver, wasInTime } = watched(queue);
    const saw = await runQueueScript(driver, script);
    if (wasInTime() || tries === TRIES) return saw;
  }
}

/** The same queue, and whether all that was hidden for some seconds still was when it was hidden for longer. */
function watched(queue: QueueDriver): { readonly driver: QueueDriver; readonly wasInTime: () => boolean } {
  const until = new Map<string, number>();
  let isInTime = true;
  const hide: QueueDriver['hide'] = async (receipts, seconds) => {
    const began = performance.now();
    try {
      await queue.hide(receipts, seconds);
    } finally {
      for (const receipt of receipts) {
        isInTime &&= performance.now() < (until.get(receipt) ?? Number.POSITIVE_INFINITY);
        if (seconds > 0) until.set(receipt, began + seconds * 1_000);
        else until.delete(receipt);
      }
    }
  };
  return { driver: { ...queue, hide }, wasInTime: () => isInTime };
}

describe('the model of the queue and a server agree:', () => {
  it.each(queueScripts)('$title', async (script) => {
    expect(await runQueueScript(createQueueModel(optionsOf(script)), script)).toEqual(shown.get(script.title));
  });

  it(`whatever ${RUNS} drawn scripts do to three messages`, { timeout: PATIENCE_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(randomQueueScripts, async (script) => {
        const model = await runQueueScript(createQueueModel(optionsOf(script)), script);
        expect(model).toEqual(await onServer(script));
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});

describe('the model of the queue follows the documentation of SQS where the emulator does not:', () => {
  it.each(differing)('$title', async ({ documented, ...script }) => {
    const model = await runQueueScript(createQueueModel(optionsOf(script)), script);
    expect(model.at(-1)?.saw).toEqual(documented);
    // Once this fails, the emulator has been mended, and the script belongs to those above.
    expect(shown.get(script.title)).not.toEqual(model);
  });
});

describe('a model of the queue', () => {
  it.each(queueMistakes)('that $what does not agree', async ({ noticedBy, Queue }) => {
    const script = queueScripts.find(({ title }) => title === noticedBy);
    if (script === undefined) throw new Error(`there is no script "${noticedBy}"`);
    expect(await runQueueScript(createQueueModel(optionsOf(script), Queue), script)).not.toEqual(shown.get(noticedBy));
  });
});
