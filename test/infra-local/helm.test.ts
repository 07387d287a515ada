/*
 * Where helm comes from: one that is named, one on the PATH, none that is too old. The commands only say a version; the real
 * one, built from its Go module, is what the tests of the chart run.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findHelm } from '../../infra/local/helm.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'finalizer-bridge-helm-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function commandSaying(name: string, version: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  return file;
}

const say = () => {};
const nowhere = { PATH: '/nowhere', XDG_CACHE_HOME: '' };

describe('helm', () => {
  it('is the one that the environment names', async () => {
    const HELM = await commandSaying('named', 'v4.0.1');

    expect(await findHelm({ say, env: { HELM } })).toBe(HELM);
  });

  it('is not taken when it is too old, and the message says which is needed', async () => {
    const HELM = await commandSaying('old', 'v3.16.4');

    await expect(findHelm({ say, env: { HELM } })).rejects.toThrow('v3.16.4 is older than 3.17');
  });

  it('is the one on the PATH', async () => {
    await commandSaying('helm', 'v3.17.0');

    expect(await findHelm({ say, env: { PATH: `${folder}:/bin` } })).toBe('helm');
  });

  it('is asked for when there is neither one nor a way to build it', async () => {
    const env = { ...nowhere, HOME: folder };

    await expect(findHelm({ say, env })).rejects.toThrow('install helm 3.17 or newer');
  });
});
