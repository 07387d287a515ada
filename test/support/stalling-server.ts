/*
 * A server over HTTP/2 in the place of an API server, behind a gate that can be shut: then it stands still, as a process that
 * is stopped or a network that is gone. It takes 64 KB of bodies over a connection before it has to read on, and answers
 * each call with 200. Used by bridge/unsent-bodies.slow.test.ts.
 */
import { once } from 'node:events';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { HOOKS_CERTIFICATE, HOOKS_KEY } from './hooks-certificate.ts';

/** A running server. */
export interface StallingServer {
  /** Its certificate is for another name. */
  readonly url: string;
  /** Calls whose end it has not seen. */
  readonly open: number;
  /** Lets nothing through, in no direction. */
  stall(): void;
  goOn(): void;
  stop(): Promise<void>;
}

/** Starts one on a free port of 127.0.0.1. */
export async function startStallingServer(): Promise<StallingServer> {
  const streams = new Set<ServerHttp2Stream>();
  const server = createSecureServer({ cert: HOOKS_CERTIFICATE, key: HOOKS_KEY });
  server.on('sessionError', () => {});
  server.on('stream', (stream) => {
    streams.add(stream);
    stream.on('error', () => {}).once('close', () => streams.delete(stream));
    stream.resume().once('end', () => {
      if (stream.writable) stream.respond({ ':status': 200 }, { endStream: true });
    });
  });
  const sockets = new Set<Socket>();
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on('error', () => {}).on('data', (chunk) => void to.write(chunk));
    from.once('close', () => to.destroy());
  };
  const gate = createServer((near) => {
    const far = connect(portOf(server), '127.0.0.1');
    pass(near, far);
    pass(far, near);
  });
  for (const each of [server, gate]) await once(each.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `https://127.0.0.1:${portOf(gate)}`,
    get open() {
      return streams.size;
    },
    stall: () => sockets.forEach((socket) => void socket.pause()),
    goOn: () => sockets.forEach((socket) => void socket.resume()),
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all([server, gate].map((each) => new Promise((resolve) => each.close(resolve))));
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('starting a stalling server: it has no port');
  return address.port;
}
