/*
 * Starts what all end-to-end tests of a run share, one API server and one cloud emulator, and stops it after the last.
 * Named in vitest.config.ts as global set-up of the project `e2e`; tests reach both through e2e.ts.
 */
import type { TestProject } from 'vitest/node';
import { startCloud } from '../../infra/local/cloud.ts';
import { startKube } from '../../infra/local/kube.ts';
import './e2e.ts';

const stack = new AsyncDisposableStack();

export async function setup(project: TestProject): Promise<void> {
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const keep = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const server = await starting;
    stack.defer(() => server.stop());
    return server;
  };
  const starting = [keep(startKube({ say })), keep(startCloud({ say }))] as const;
  // Both are waited for, so that a failure of one leaves the other in the stack, not half started.
  await Promise.allSettled(starting);
  try {
    const [{ url, caFile, adminToken, kubeconfigFolder }, { endpoint }] = await Promise.all(starting);
    project.provide('local', { kube: { url, caFile, adminToken, kubeconfigFolder }, cloudEndpoint: endpoint });
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

export async function teardown(): Promise<void> {
  await stack.disposeAsync();
}
