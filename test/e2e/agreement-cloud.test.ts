/*
 * The model of the cloud against an emulator of S3: the same scripts are run against both, and what a handler would see must be
 * the same, step by step (docs/simulation.md).
 */
import type { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CloudDriver,
  cloudScripts,
  createCloudModel,
  createCloudReal,
  runCloudScript,
} from '../simulation/agreement/cloud-script.ts';
import { sharedCloud } from '../support/e2e.ts';

let s3: S3Client;
let units = 0;

beforeAll(() => {
  s3 = sharedCloud().s3();
});
afterAll(() => s3?.destroy());

function real(): CloudDriver {
  units += 1;
  return createCloudReal(s3, `agreed-${units}`);
}

describe('the model of the cloud and a server agree:', () => {
  it.each(cloudScripts)('$title', async (script) => {
    expect(await runCloudScript(createCloudModel(), script)).toEqual(await runCloudScript(real(), script));
  });
});

describe('a model of the cloud', () => {
  const mistakes: readonly { readonly what: string; readonly mistaken: (model: CloudDriver) => CloudDriver }[] = [
    { what: 'finds what is gone', mistaken: (model) => ({ ...model, find: async () => ({ owner: 'uid-1' }) }) },
    { what: 'deletes nothing', mistaken: (model) => ({ ...model, delete: async () => true }) },
    {
      what: 'gives a name that is taken to the next',
      mistaken: (model) => ({ ...model, create: async (...made) => (await model.create(...made)) || true }),
    },
  ];
  it.each(mistakes)('that $what does not agree', async ({ mistaken }) => {
    const models = cloudScripts.map((script) => runCloudScript(mistaken(createCloudModel()), script));
    const servers = cloudScripts.map((script) => runCloudScript(real(), script));
    expect(await Promise.all(models)).not.toEqual(await Promise.all(servers));
  });
});
