/*
 * What end-to-end tests share: handles on the API server and the cloud emulator that e2e-servers.ts started.
 * One API server serves all files of a run, so each file uses namespaces and rule names of its own.
 */
import { inject } from 'vitest';
import { type CloudClient, connectCloud } from '../../infra/local/cloud.ts';
import { connectKube, type KubeClient, type KubeFacts } from '../../infra/local/kube-client.ts';

/** Handed from the set-up to the test processes; plain data. */
export interface LocalFacts {
  /** Absent where each file has an API server of its own. */
  readonly kube?: KubeFacts;
  readonly cloudEndpoint: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    local: LocalFacts;
  }
}

/** The run's API server, as admin. Close the client when the file is done. */
export function sharedKube(): KubeClient {
  const { kube } = inject('local');
  if (kube === undefined) throw new Error('reaching the API server of the run: in this lane each file has its own');
  return connectKube(kube);
}

/** The run's S3 and EC2. */
export function sharedCloud(): CloudClient {
  return connectCloud(inject('local').cloudEndpoint);
}
