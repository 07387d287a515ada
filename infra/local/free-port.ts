/*
 * Free TCP ports on 127.0.0.1, for servers that cannot pick a port themselves and tell. Between asking and listening another
 * process may take one: so they lie where systems seldom take ports from by themselves, and are spoken for among all that
 * ask here. Who can tries again all the same. Used by whatever starts servers.
 */
import { createServer, type ListenOptions } from 'node:net';

/** Below the ports that Linux gives to whoever does not name one. */
const FIRST = 15_000;
const PORTS = 17_000;
const TRIES = 200;

/** `count` different ports that were free a moment ago, and that nobody else is given here while this process lives. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries += 1) {
    if (tries === count + TRIES) throw new Error(`finding a free port: ${TRIES} tries were in vain`);
    const port = FIRST + Math.floor(Math.random() * PORTS);
    if ((await isSpokenFor(port)) || !(await isFree(port))) continue;
    ports.push(port);
  }
  return ports;
}

/**
 * Speaks for a port by listening on a name that only Linux has (an abstract socket, which goes with its process); elsewhere
 * nobody can, and every port is left to luck.
 */
async function isSpokenFor(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const word = await listening({ path: `\0finalizer-bridge-port-${port}` });
  word?.unref();
  return word === undefined;
}

async function isFree(port: number): Promise<boolean> {
  const server = await listening({ host: '127.0.0.1', port });
  if (server === undefined) return false;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return true;
}

/** A server that listens there; undefined if somebody else does. */
async function listening(where: ListenOptions) {
  const server = createServer();
  return await new Promise<typeof server | undefined>((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(where, () => resolve(server));
  });
}
