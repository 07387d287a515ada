/*
 * The model of the API server against a real one: the same scripts are run against both, and what the bridge and others are
 * answered must be the same, step by step (docs/simulation.md).
 */
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Kube, startKube } from '../../infra/local/kube.ts';
import { apiMistakes } from '../simulation/agreement/api-mistakes.ts';
import { createApiModel, type Mistake } from '../simulation/agreement/api-model.ts';
import { randomScripts } from '../simulation/agreement/api-random.ts';
import { type ApiReal, createApiReal } from '../simulation/agreement/api-real.ts';
import { runApiScript } from '../simulation/agreement/api-run.ts';
import type { ApiScript } from '../simulation/agreement/api-script.ts';
import { createLeaseModel, leaseScripts, runLeaseScript } from '../simulation/agreement/lease-script.ts';
import { birthScripts } from '../simulation/agreement/scripts-births.ts';
import { deletionScripts } from '../simulation/agreement/scripts-deletions.ts';
import { guardScripts } from '../simulation/agreement/scripts-guards.ts';
import { patchScripts } from '../simulation/agreement/scripts-patches.ts';
import { rightsScripts } from '../simulation/agreement/scripts-rights.ts';
import { losingScripts, watchScripts } from '../simulation/agreement/scripts-watches.ts';

let kube: Kube;
let real: ApiReal;
let units = 0;

const RUNS = Number(process.env.AGREEMENT_RUNS ?? 40);
/** For all drawn scripts, and for making one that fails small. */
const PATIENCE_MS = 120_000 + RUNS * 2_000;
const SEED = Number(process.env.AGREEMENT_SEED ?? 20_260_301);
const standing = [...deletionScripts, ...patchScripts, ...watchScripts, ...birthScripts, ...guardScripts];

beforeAll(async () => {
  kube = await startKube({ say: () => undefined });
  real = await createApiReal(kube);
});
afterAll(async () => {
  await real?.stop();
  await kube?.stop();
});

async function both(script: ApiScript, mistake?: Mistake) {
  units += 1;
  const unit = script.unit ?? `agreed-${units}`;
  return {
    model: await runApiScript(createApiModel(mistake), script, unit),
    real: await runApiScript(real, script, unit),
  };
}

describe('the model of the API server and a real one agree:', () => {
  it.each(standing)('$title', async (script) => {
    const seen = await both(script);
    expect(seen.model).toEqual(seen.real);
  });

  it(`whatever ${RUNS} drawn scripts do to three objects`, { timeout: PATIENCE_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(randomScripts, async (script) => {
        const seen = await both(script);
        expect(seen.model).toEqual(seen.real);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});

describe('the model of the lease and a real one agree:', () => {
  it.each(leaseScripts)('$title', async (script) => {
    await real.lease.delete();
    expect(await runLeaseScript(createLeaseModel(), script)).toEqual(await runLeaseScript(real.lease, script));
  });
});

describe('a model of the API server', () => {
  it.each(apiMistakes)('that $what does not agree', async ({ noticedBy, ...mistake }) => {
    const script = standing.find(({ title }) => title === noticedBy);
    if (script === undefined) throw new Error(`there is no script "${noticedBy}"`);
    const seen = await both(script, mistake);
    expect(seen.model).not.toEqual(seen.real);
  });
});

// Last, as they take away what the others need.
describe('the model of the API server and a real one agree on what is taken away:', () => {
  it.each([...losingScripts, ...rightsScripts])('$title', async (script) => {
    const seen = await both(script);
    expect(seen.model).toEqual(seen.real);
  });
});
