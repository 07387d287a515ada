/*
 * The wall around the function of a first run: connections go to this machine and to the hosts of FINALIZER_BRIDGE_DEV_HOSTS, and
 * whatever else is tried fails and is told. Loaded by `node --import` before the function, so that it holds for fetch, http,
 * tls and every client over them, and for datagrams; a handler that ignores the endpoint it was given cannot reach the real thing by it.
 * Programs and worker threads would stand outside of it: Node's permissions refuse them (`withWall`), and here that is told.
 */
import childProcess from 'node:child_process';
import dgram, { Socket as DatagramSocket } from 'node:dgram';
import { syncBuiltinESMExports } from 'node:module';
import { isIPv4, Socket } from 'node:net';
import workerThreads from 'node:worker_threads';
import * as z from 'zod/mini';

/** Names the hosts that the function may reach, by commas. */
const HOSTS_VARIABLE = 'FINALIZER_BRIDGE_DEV_HOSTS';

const destination = z.object({ host: z.optional(z.string()), path: z.optional(z.nullable(z.string())) });
const hosts = new Set((process.env[HOSTS_VARIABLE] ?? '').split(',').filter((host) => host !== ''));

/** Whether a host is this machine or one that was named. */
function isOpen(host: string): boolean {
  const name = plain(host);
  return name === 'localhost' || isHere(name) || hosts.has(name);
}

/** Whether an address is this machine's. */
function isHere(name: string): boolean {
  return name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}

function plain(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/^::ffff:/, '');
}

/** A `lookup` of the caller's own may say that localhost is anywhere: what it found is looked at before it is reached. */
function keepHere(socket: Socket, host: string): void {
  if (plain(host) !== 'localhost') return;
  socket.prependListener('lookup', (_error: unknown, address: unknown) => {
    const found = typeof address === 'string' ? plain(address) : undefined;
    if (found !== undefined && !isHere(found) && !hosts.has(found)) socket.destroy(refusalOf(found));
  });
}

/** The host or socket that a call of `connect` goes to, in any of its forms. */
function destinationOf(args: readonly unknown[]): { readonly host: string } | { readonly path: string } {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof first === 'string' && !/^\d+$/.test(first)) return { path: first };
  if (typeof first !== 'object') return { host: typeof second === 'string' ? second : 'localhost' };
  const { data = {} } = destination.safeParse(first);
  return data.path ? { path: data.path } : { host: data.host ?? 'localhost' };
}

/** Tells what is refused, and returns the error. */
function refusalOf(place: string, doing = `reaching ${place}`): Error {
  console.error(JSON.stringify({ time: new Date().toISOString(), blocked: place }));
  const message = `${doing}: a first run reaches this machine and the named endpoint only`;
  return Object.assign(new Error(message), { code: 'BlockedByDev' });
}

const connect = Socket.prototype.connect;
Object.defineProperty(Socket.prototype, 'connect', {
  configurable: true,
  writable: true,
  value(this: Socket, ...args: unknown[]): Socket {
    const to = destinationOf(args);
    if ('host' in to && isOpen(to.host)) {
      keepHere(this, to.host);
      return Reflect.apply(connect, this, args);
    }
    const refusal = refusalOf('host' in to ? to.host : to.path);
    process.nextTick(() => this.destroy(refusal));
    return this;
  },
});

for (const way of ['connect', 'send'] as const) {
  const through = DatagramSocket.prototype[way];
  Object.defineProperty(DatagramSocket.prototype, way, {
    configurable: true,
    writable: true,
    value(this: DatagramSocket, ...args: unknown[]): void {
      // The first is the message, or a port; without an address it is this machine, or what the socket is connected to.
      const host = args.slice(1).find((one) => typeof one === 'string') ?? 'localhost';
      if (isOpen(host)) return void Reflect.apply(through, this, args);
      const refusal = refusalOf(host);
      const callback = args.at(-1);
      process.nextTick(() => {
        if (typeof callback === 'function') Reflect.apply(callback, this, [refusal]);
        else this.emit('error', refusal);
      });
    },
  });
}

const datagramOptions = z.looseObject({ lookup: z.custom<Lookup>((value) => typeof value === 'function') });
type Lookup = (
  host: string,
  family: unknown,
  done: (error: unknown, address?: unknown, family?: unknown) => void,
) => void;

/** A socket for datagrams asks the `lookup` of its maker about addresses as well, and goes where that says. */
function withinWall(type: unknown): unknown {
  const { data: options } = datagramOptions.safeParse(type);
  if (options === undefined) return type;
  const lookup: Lookup = (host, family, done) =>
    options.lookup(host, family, (error, address, itsFamily) => {
      const found = typeof address === 'string' ? plain(address) : undefined;
      // The host itself was looked at when it was named.
      const isLooked = found === undefined || found === plain(host) || hosts.has(plain(host));
      if (isLooked || isHere(found) || hosts.has(found)) done(error, address, itsFamily);
      else done(refusalOf(found));
    });
  return { ...options, lookup };
}

const WalledSocket = new Proxy(DatagramSocket, {
  apply: (target, _self, [type, ...rest]) => Reflect.construct(target, [withinWall(type), ...rest]),
  construct: (target, [type, ...rest], newTarget) => Reflect.construct(target, [withinWall(type), ...rest], newTarget),
});
for (const [holder, name, value] of [
  [dgram, 'Socket', WalledSocket],
  [DatagramSocket.prototype, 'constructor', WalledSocket],
  [dgram, 'createSocket', (type: unknown, ...rest: unknown[]) => Reflect.construct(WalledSocket, [type, ...rest])],
] as const) {
  Object.defineProperty(holder, name, { configurable: true, writable: true, value });
}

for (const way of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']) {
  Object.defineProperty(childProcess, way, {
    configurable: true,
    writable: true,
    value(command: unknown): never {
      const program = `the program ${String(command)}`;
      throw refusalOf(program, `starting ${program}`);
    },
  });
}

Object.defineProperty(workerThreads, 'Worker', {
  configurable: true,
  writable: true,
  value: class Worker {
    constructor() {
      throw refusalOf('a worker thread', 'starting a worker thread');
    }
  },
});
syncBuiltinESMExports();
