/*
 * Starts what all end-to-end tests of a lane share, and stops it after the last: a cloud emulator, and an API server unless
 * each file has one of its own. The set-ups that vitest.config.ts names are made of it; tests reach both through e2e.ts.
 */
import type { TestProject } from 'vitest/node';
import { startCloud } from '../../infra/local/cloud.ts';
import { startKube } from '../../infra/local/kube.ts';
import type { KubeFacts } from '../../infra/local/kube-client.ts';
import './e2e.ts';

/** What vitest calls before the first file of a lane and after its last. */
export interface SetUp {
  readonly setup: (project: TestProject) => Promise<void>;
  readonly teardown: () => Promise<void>;
}

/** The servers of a lane. */
export function sharedServers({ withKube }: { readonly withKube: boolean }): SetUp {
  const stack = new AsyncDisposableStack();
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const keep = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const server = await starting;
    stack.defer(() => server.stop());
    return server;
  };
  return {
    async setup(project) {
      const starting = [withKube ? keep(startKube({ say })) : undefined, keep(startCloud({ say }))] as const;
      // Both are waited for, so that a failure of one leaves the other in the stack, not half started.
      await Promise.allSettled(starting);
      try {
        const [kube, { endpoint }] = await Promise.all(starting);
        project.provide('local', { cloudEndpoint: endpoint, ...(kube === undefined ? {} : { kube: factsOf(kube) }) });
      } catch (error) {
        await stack.disposeAsync();
        throw error;
      }
    },
    teardown: () => stack.disposeAsync(),
  };
}

function factsOf({ url, caFile, adminToken, kubeconfigFolder }: KubeFacts): KubeFacts {
  return { url, caFile, adminToken, kubeconfigFolder };
}
