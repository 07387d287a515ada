/*
 * Answers of SQS that do not come, not whole, or too large, to a function's own calls: given up in time, and named. What is
 * signed, and what is tried again, is in sqs-client.test.ts.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Server } from 'node:http';
import { createServer as createNetServer, type Server as NetServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { benchAt } from './sqs-bench.ts';

function endpointOf(server: NetServer): string {
  const address = server.address();
  return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
}

describe('an answer that does not come', () => {
  let server: Server;
  let asked = 0;
  let endpoint = '';
  beforeAll(async () => {
    server = createServer((_request, response) => {
      asked += 1;
      // The second answer begins, and does not end.
      if (asked % 2 === 0) response.writeHead(200).write('{');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    endpoint = endpointOf(server);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('is waited for 5 s, three times, begun or not', async () => {
    const { ask, clock } = benchAt(endpoint);
    const failed = expect(ask()).rejects.toThrow('no answer in 5000 ms');
    for (const attempt of [1, 2, 3]) {
      await eventually('it is asked', () => asked === attempt && clock.due.length === 1);
      await clock.advance(5_000);
    }
    await failed;
    expect([asked, clock.due]).toEqual([3, []]);
  });

  it('is told as a time-out in the middle of it as well, not as a lost connection', async () => {
    const begun = createServer((_request, response) => {
      response.writeHead(200).write('{');
    });
    await new Promise<void>((resolve) => begun.listen(0, '127.0.0.1', resolve));
    const { ask, clock } = benchAt(endpointOf(begun));
    let heads = 0;
    const count = () => {
      heads += 1;
    };
    subscribe('http.client.response.finish', count);
    const failed = ask().catch((error: unknown) => error);
    for (const attempt of [1, 2, 3]) {
      await eventually('its head was read', () => heads === attempt && clock.due.length === 1);
      await clock.advance(5_000);
    }
    expect(await failed).toMatchObject({ code: 'ETIMEDOUT', message: 'asking SQS: no answer in 5000 ms' });
    unsubscribe('http.client.response.finish', count);
    begun.closeAllConnections();
    begun.close();
  });

  it('to an end is read up to a size, given up with its connection, and not asked for again', async () => {
    let requests = 0;
    const endless = createServer((_request, response) => {
      requests += 1;
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(16_384)));
      };
      response.writeHead(200).on('drain', more);
      more();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    const { ask, clock } = benchAt(endpointOf(endless));
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'AnswerTooLarge', message: expect.stringContaining('more than 65536 char') });
    expect([requests, clock.due]).toEqual([1, []]);
    await eventually('its connection is closed', async () => {
      const count = await new Promise((resolve) => void endless.getConnections((_error, open) => resolve(open)));
      return count === 0;
    });
    endless.close();
  });

  it('as another protocol is begun, which nobody asked for, is no answer', async () => {
    const switching = createNetServer((socket) => {
      socket
        .on('error', () => {})
        .once('data', () => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n');
        });
    });
    await new Promise<void>((resolve) => switching.listen(0, '127.0.0.1', resolve));
    const { ask, clock } = benchAt(endpointOf(switching));
    await expect(ask()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(clock.due).toEqual([]);
    switching.close();
  });
});
