/*
 * A small HTTP server in the place of an API server, for what a real one cannot be brought to do at will: each request is
 * answered by the test. Used by tests of the bridge's own HTTP, with real sockets.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { KubeConfig } from '@kubernetes/client-node';

/** A running server. */
export interface LocalApi {
  /** `METHOD path token` of each request, without the query. */
  readonly asked: readonly string[];
  /** A kubeconfig whose user has the token of a file, or none. */
  config(tokenFile?: string): KubeConfig;
  stop(): Promise<void>;
}

/** Starts one on a free port of 127.0.0.1. */
export async function startLocalApi(
  answer: (request: IncomingMessage, response: ServerResponse, token: string) => void,
): Promise<LocalApi> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const token = (request.headers.authorization ?? '').replace('Bearer ', '');
    asked.push(`${request.method} ${request.url?.split('?', 1)[0]} ${token}`.trim());
    answer(request, response, token);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('starting a local API: it has no port');
  return {
    asked,
    config: (tokenFile) => {
      const config = new KubeConfig();
      const authProvider =
        tokenFile === undefined ? {} : { authProvider: { name: 'tokenFile', config: { tokenFile } } };
      // The library speaks plain HTTP only where it is told not to look at certificates.
      config.loadFromOptions({
        clusters: [{ name: 'local', server: `http://127.0.0.1:${address.port}`, skipTLSVerify: true }],
        users: [{ name: 'bridge', ...authProvider }],
        contexts: [{ name: 'local', cluster: 'local', user: 'bridge' }],
        currentContext: 'local',
      });
      return config;
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
