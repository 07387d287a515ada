/*
 * The way to a webhook: its name is resolved once, every address is looked at, and the connection goes to an address that
 * was looked at, never to the name again: a name that answers differently the second time (DNS rebinding) gains nothing.
 * Called by exchange.ts. The certificate has to be for the name.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { isPublicAddress } from './addresses.ts';

/** Where to connect to. */
export interface Destination {
  /** A literal IP address. */
  readonly address: string;
  readonly port: number;
  /** The name that the certificate has to be for. */
  readonly hostname: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The network, as far as webhooks need it. */
export interface Network {
  /** All addresses of a name. */
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
  /** An encrypted connection to the address whose other end has proven to be the name. */
  readonly open: (to: Destination) => Promise<Duplex>;
}

/** A connection, or the addresses that forbid one. */
export type Reached =
  | { readonly kind: 'open'; readonly socket: Duplex }
  | { readonly kind: 'closed'; readonly addresses: readonly string[] };

/**
 * Connects to a host that has public addresses only, IPv4 first, trying each once.
 * @throws the last error if none of them takes the connection, or the signal's reason.
 */
export async function reach(network: Network, to: Omit<Destination, 'address'>): Promise<Reached> {
  const addresses = await abortable(network.resolve(to.hostname), to.signal);
  const closed = addresses.filter((address) => !isPublicAddress(address));
  if (closed.length > 0) return { kind: 'closed', addresses: closed };
  let failure: unknown = Object.assign(new Error(`resolving ${to.hostname}: no address`), { code: 'ENOTFOUND' });
  for (const address of addresses.toSorted((left, right) => isIP(left) - isIP(right))) {
    try {
      return { kind: 'open', socket: await network.open({ ...to, address }) };
    } catch (error) {
      to.signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

/** The internet. */
export const internet: Network = {
  resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
  open: (to) => openTls(to),
};

/** Connects to exactly that address. `ca` is whom to trust instead of the public authorities. */
export function openTls({ address, port, hostname, timeoutMs, signal }: Destination, ca?: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...{ host: address, port, servername: hostname, ALPNProtocols: ['http/1.1'] },
      // Said aloud, so that no environment variable can take it away.
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca }),
    });
    const abort = () => socket.destroy(new Error(`connecting to ${hostname}: aborted`, { cause: signal.reason }));
    const settle = (done: () => void) => {
      signal.removeEventListener('abort', abort);
      socket.setTimeout(0);
      done();
    };
    socket.setTimeout(timeoutMs, () =>
      socket.destroy(
        Object.assign(new Error(`connecting to ${hostname}: no answer in ${timeoutMs} ms`), { code: 'ETIMEDOUT' }),
      ),
    );
    socket.once('secureConnect', () => settle(() => resolve(socket)));
    // For good: whoever uses the connection next may not listen yet when it breaks.
    socket.on('error', (error) => settle(() => reject(error)));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

/** Looking a name up cannot be stopped; waiting for it can. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
