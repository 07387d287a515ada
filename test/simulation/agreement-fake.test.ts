/*
 * The fake API server of the unit tests against the model, which the end-to-end tests hold against a real one: every script about
 * deletions, patches, lists, watches and sizes, and drawn ones. What it has none of (rights, definitions, admission, history that is
 * forgotten) stays with the model.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApiFake } from './agreement/api-fake.ts';
import { createApiModel } from './agreement/api-model.ts';
import { randomScripts } from './agreement/api-random.ts';
import { runApiScript } from './agreement/api-run.ts';
import type { ApiScript } from './agreement/api-script.ts';
import { deletionScripts } from './agreement/scripts-deletions.ts';
import { sizeScripts } from './agreement/scripts-limits.ts';
import { patchScripts } from './agreement/scripts-patches.ts';
import { watchScripts } from './agreement/scripts-watches.ts';

const RUNS = 100;
const SEED = 20_260_301;

async function both(script: ApiScript) {
  const unit = 'agreed-1';
  return {
    fake: await runApiScript(createApiFake(), script, unit),
    model: await runApiScript(createApiModel(), script, unit),
  };
}

describe('the fake API server and its model agree:', () => {
  it.each([...deletionScripts, ...patchScripts, ...watchScripts, ...sizeScripts])('$title', async (script) => {
    const seen = await both(script);
    expect(seen.fake).toEqual(seen.model);
  });

  it(`whatever ${RUNS} drawn scripts do to three objects`, async () => {
    await fc.assert(
      fc.asyncProperty(randomScripts, async (script) => {
        const seen = await both(script);
        expect(seen.fake).toEqual(seen.model);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});
