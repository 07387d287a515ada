/*
 * Ports for servers that cannot pick one themselves, as kube-apiserver and moto: free, different from each other, and given
 * once. That other processes are not given them either is seen where lanes of tests run beside each other.
 */
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { freePorts } from '../../infra/local/free-port.ts';

it('gives no port twice, and each can be listened on', async () => {
  const ports = [...(await freePorts(50)), ...(await Promise.all([freePorts(50), freePorts(50)])).flat()];
  expect(new Set(ports).size).toBe(150);
  const [port = 0] = ports;
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  await new Promise((resolve) => server.close(resolve));
});
