/*
 * Free TCP ports on 127.0.0.1. Between asking and listening another process may take one: callers retry.
 * Used by kube and cloud, whose servers cannot pick a port themselves and tell.
 */
import { createServer } from 'node:net';

/** `count` different ports that were free a moment ago. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            if (address !== null && typeof address === 'object') resolve(address.port);
            else reject(new Error('finding a free port: the server has no address'));
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
  return ports;
}
