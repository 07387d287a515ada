/*
 * An API server that comes back under another authority while the kubeconfig, which holds the authority itself, was written
 * anew: over a real TLS connection and virtual time. A Pod has a file for it, which is read each minute.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { createCredentials, loadKubeConfig } from '../../bridge/cluster-credentials.ts';
import { type Call, createHttp } from '../../bridge/cluster-http.ts';
import { createMetrics } from '../../bridge/metrics.ts';
import { HOOKS_CERTIFICATE, HOOKS_HOST, HOOKS_KEY } from '../support/hooks-certificate.ts';
import { ManualClock } from '../support/manual-clock.ts';

const GET: Call = { method: 'GET', path: '/api/v1/nodes', doing: 'getting nodes' };
const [ANOTHER = ''] = rootCertificates;

let folder: string;
let file: string;
let server: Server;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certificates-'));
  file = join(folder, 'config');
  server = createServer({ cert: HOOKS_CERTIFICATE, key: HOOKS_KEY }, (_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true });
});

/** Writes a kubeconfig that trusts an authority. */
async function trust(authority: string): Promise<void> {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    'tls-server-name': HOOKS_HOST,
    'certificate-authority-data': Buffer.from(authority).toString('base64'),
  };
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'local' },
    clusters: [{ name: 'local', cluster }],
    users: [{ name: 'bridge', user: { token: 'known' } }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'bridge' } }],
  };
  await writeFile(file, stringify(config));
}

it('K14 is trusted again once the kubeconfig names its authority, which is read at the first certificate that is not', async () => {
  await trust(ANOTHER);
  const clock = new ManualClock();
  const load = vi.fn(() => loadKubeConfig(file));
  const http = createHttp({ credentials: createCredentials(load, clock), metrics: createMetrics(), clock });
  await expect(http.ask(GET)).rejects.toThrow('getting nodes: no answer');

  await trust(HOOKS_CERTIFICATE);
  await clock.advance(2_000);
  await expect(http.ask(GET)).rejects.toThrow('getting nodes: no answer');

  expect((await http.ask(GET)).status).toBe(200);
  // Once at the start, and once for the call that failed when the last reading was not a moment ago.
  expect(load).toHaveBeenCalledTimes(2);
});

it('is not read again while nobody answers at all: what asks for credentials may be a program', async () => {
  await trust(HOOKS_CERTIFICATE);
  const clock = new ManualClock();
  const load = vi.fn(() => loadKubeConfig(file));
  const http = createHttp({ credentials: createCredentials(load, clock), metrics: createMetrics(), clock });
  await new Promise((resolve) => server.close(resolve));

  await clock.advance(2_000);
  await expect(http.ask(GET)).rejects.toThrow('getting nodes: no answer');

  expect(load).toHaveBeenCalledTimes(1);
});
