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
import { drawnFrom } from '../simulation/agreement/drawn.ts';
import { createLeaseModel, leaseScripts, runLeaseScript } from '../simulation/agreement/lease-script.ts';
import { birthScripts } from '../simulation/agreement/scripts-births.ts';
import { deletionScripts } from '../simulation/agreement/scripts-deletions.ts';
import { guardScripts } from '../simulation/agreement/scripts-guards.ts';
import { excessScripts, sizeScripts } from '../simulation/agreement/scripts-limits.ts';
import { patchScripts } from '../simulation/agreement/scripts-patches.ts';
import { rightsScripts } from '../simulation/agreement/scripts-rights.ts';
import { losingScripts, watchScripts } from '../simulation/agreement/scripts-watches.ts';
import type { Shown } from '../simulation/agreement/transcript.ts';

let kube: Kube;
let real: ApiReal;
let units = 0;

const { runs: RUNS, seed: SEED } = drawnFrom(process.env);
/** For all drawn scripts, and for making one that fails small. */
const PATIENCE_MS = 120_000 + RUNS * 2_000;
const standing = [
  ...[...deletionScripts, ...patchScripts, ...watchScripts],
  ...[...birthScripts, ...guardScripts, ...sizeScripts],
];
/** Each takes away what the others need. */
const taking = [...excessScripts, ...losingScripts, ...rightsScripts];
const all = [...standing, ...taking];
/** By title, what the server has shown: a script runs there once, whatever models are held against it. */
const shown = new Map<string, Promise<Ran>>();

interface Ran {
  readonly unit: string;
  readonly saw: readonly Shown[];
}

beforeAll(async () => {
  // One call never ends for as long as others are refused.
  kube = await startKube({ say: () => undefined, requestTimeout: '1h' });
  real = await createApiReal(kube);
});
afterAll(async () => {
  await real?.stop();
  await kube?.stop();
});

async function onServer(script: ApiScript): Promise<Ran> {
  units += 1;
  const unit = script.unit ?? `agreed-${units}`;
  return { unit, saw: await runApiScript(real, script, unit) };
}

async function onServerOnce(script: ApiScript): Promise<Ran> {
  const ran = shown.get(script.title) ?? onServer(script);
  shown.set(script.title, ran);
  return await ran;
}

async function onModel(script: ApiScript, { unit }: Ran, mistake?: Mistake) {
  return await runApiScript(createApiModel(mistake), script, unit);
}

describe('the model of the API server and a real one agree:', () => {
  it.each(standing)('$title', async (script) => {
    const ran = await onServerOnce(script);
    expect(await onModel(script, ran)).toEqual(ran.saw);
  });

  it(`whatever ${RUNS} drawn scripts do to three objects`, { timeout: PATIENCE_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(randomScripts, async (script) => {
        const ran = await onServer(script);
        expect(await onModel(script, ran)).toEqual(ran.saw);
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

// After all others.
describe('the model of the API server and a real one agree on what is taken away:', () => {
  it.each(taking)('$title', async (script) => {
    const ran = await onServerOnce(script);
    expect(await onModel(script, ran)).toEqual(ran.saw);
  });
});

describe('a model of the API server', () => {
  it.each(apiMistakes)('that $what does not agree', async ({ noticedBy, ...mistake }) => {
    const script = all.find(({ title }) => title === noticedBy);
    if (script === undefined) throw new Error(`there is no script "${noticedBy}"`);
    const ran = await onServerOnce(script);
    expect(await onModel(script, ran, mistake)).not.toEqual(ran.saw);
  });
});
