/*
 * The model of the API server against a real one: the same scripts are run against both, and what the bridge and others are
 * answered must be the same, step by step (docs/simulation.md).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Kube, startKube } from '../../infra/local/kube.ts';
import { createApiModel } from '../simulation/agreement/api-model.ts';
import { type ApiReal, createApiReal } from '../simulation/agreement/api-real.ts';
import { runApiScript } from '../simulation/agreement/api-run.ts';
import type { ApiScript } from '../simulation/agreement/api-script.ts';
import { deletionScripts } from '../simulation/agreement/scripts-deletions.ts';
import { patchScripts } from '../simulation/agreement/scripts-patches.ts';
import { losingScripts, watchScripts } from '../simulation/agreement/scripts-watches.ts';

let kube: Kube;
let real: ApiReal;
let units = 0;

beforeAll(async () => {
  kube = await startKube({ say: () => undefined });
  real = await createApiReal(kube);
});
afterAll(async () => {
  await real?.stop();
  await kube?.stop();
});

async function both(script: ApiScript) {
  units += 1;
  const unit = script.unit ?? `agreed-${units}`;
  return {
    model: await runApiScript(createApiModel(), script, unit),
    real: await runApiScript(real, script, unit),
  };
}

describe('the model of the API server and a real one agree:', () => {
  it.each([...deletionScripts, ...patchScripts, ...watchScripts, ...losingScripts])('$title', async (script) => {
    const seen = await both(script);
    expect(seen.model).toEqual(seen.real);
  });
});
