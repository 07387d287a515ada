/*
 * An API server that comes back under another authority while the kubeconfig, which holds the authority itself, was written
 * anew: over a real TLS connection and virtual time. A Pod has a file for it, which is read each minute.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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

const HERE = () => {
  const address = server.address();
  return `https://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`;
};

/** Writes a kubeconfig that trusts an authority. */
async function trust(authority: string, at = HERE(), user: object = { token: 'known' }): Promise<void> {
  const cluster = {
    server: at,
    'tls-server-name': HOOKS_HOST,
    'certificate-authority-data': Buffer.from(authority).toString('base64'),
  };
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'local' },
    clusters: [{ name: 'local', cluster }],
    users: [{ name: 'bridge', user }],
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

it('is asked for ever less often while that changes nothing: it may be a program that is asked', async () => {
  await trust(ANOTHER);
  const clock = new ManualClock();
  const load = vi.fn(() => loadKubeConfig(file));
  const http = createHttp({ credentials: createCredentials(load, clock), metrics: createMetrics(), clock });
  for (let second = 0; second < 70; second += 1) {
    await expect(http.ask(GET)).rejects.toThrow('getting nodes: no answer');
    await clock.advance(1_000);
  }
  // Once at the start, and at 1, 3, 7, 15, 31 and 63 s.
  expect(load.mock.calls.length).toBeGreaterThan(5);
  expect(load.mock.calls.length).toBeLessThan(9);
});

it('K14 an address that was cut short while it was written is not called for good', async () => {
  await trust(HOOKS_CERTIFICATE, 'https://127.0.0.1:1');
  const clock = new ManualClock();
  const credentials = createCredentials(() => loadKubeConfig(file), clock);
  const http = createHttp({ credentials, metrics: createMetrics(), clock });
  await expect(http.ask(GET)).rejects.toThrow('getting nodes: no answer');

  await trust(HOOKS_CERTIFICATE);
  await clock.advance(2_000);
  await expect(http.ask(GET)).rejects.toThrow('getting nodes: no answer');

  expect((await http.ask(GET)).status).toBe(200);
});

it('no program is asked again while nobody answers and the kubeconfig is as it was', async () => {
  const [command, runs] = [join(folder, 'plug-in'), join(folder, 'runs')];
  const said = JSON.stringify({
    ...{ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' },
    status: { token: 'known' },
  });
  await writeFile(command, `#!/bin/sh\necho run >> ${runs}\necho '${said}'\n`, { mode: 0o755 });
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never' };
  await trust(HOOKS_CERTIFICATE, 'https://127.0.0.1:1', { exec });
  const clock = new ManualClock();
  const credentials = createCredentials(() => loadKubeConfig(file), clock);
  const http = createHttp({ credentials, metrics: createMetrics(), clock });
  for (let second = 0; second < 20; second += 1) {
    await expect(http.ask(GET)).rejects.toThrow('getting nodes: no answer');
    await clock.advance(1_000);
  }
  expect(await readFile(runs, 'utf8')).toBe('run\n');
});
