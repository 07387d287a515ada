/*
 * The wall around the function of `finalizer-bridge dev`, tried with every way to the network that a handler may take, and with
 * every way out of the process that the wall is in. Each is tried in a Node.js of its own.
 */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { withWall } from '../../infra/kit/dev/reach.ts';

describe('the wall', () => {
  const ways = `
    import dgram from 'node:dgram'; import http from 'node:http'; import https from 'node:https'; import net from 'node:net'; import tls from 'node:tls';
    const ended = (emitter) => new Promise((resolve) => emitter.once('error', (e) => resolve(e.code ?? e.message)));
    const host = process.argv[1];
    const sent = (way, ...args) => new Promise((resolve) => {
      const socket = dgram.createSocket('udp4').on('error', () => {});
      socket[way](...args, host, (e) => resolve(e?.code ?? 'sent'));
      socket.unref();
    });
    console.log(JSON.stringify([
      await fetch('http://' + host + ':2/').catch((e) => e.cause?.code),
      await ended(http.get({ host, port: 2 })), await ended(https.get('https://' + host + ':2/')),
      await ended(net.connect(2, host)), await ended(net.connect({ host, port: 2 })), await ended(tls.connect({ host, port: 2 })),
      await sent('send', 'x', 2), await sent('send', Buffer.from('x'), 0, 1, 2), await sent('connect', 2),
      await ended(net.connect('/tmp/no-such-socket')),
    ]));`;
  const through = (host: string, hosts = '') => {
    const args = [...withWall(), '--input-type=module', '--eval', ways, host];
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      env: { FINALIZER_BRIDGE_DEV_HOSTS: hosts },
      encoding: 'utf8',
    });
    return { codes: z.array(z.string()).parse(JSON.parse(stdout)), told: stderr };
  };
  const blocked = 'BlockedByDev';

  it.each(['192.0.2.1', 'example.com', '127.0.0.1.example.com', '169.254.169.254', '2001:db8::1'])(
    'keeps every way to %s shut, and tells',
    (host) => {
      const { codes, told } = through(host.includes(':') ? `[${host}]` : host);
      expect(codes.filter((code) => code !== blocked)).toEqual([]);
      expect(told).toContain(`"blocked":"${host.includes(':') ? `[${host}]` : host}"`);
    },
  );

  it.each([
    ['127.0.0.1', ''],
    ['localhost', ''],
    ['named.invalid', 'other,named.invalid'],
  ])('lets a function reach %s, given "%s"', (host, hosts) => {
    const { codes } = through(host, hosts);
    expect(codes.slice(0, -1)).not.toContain(blocked);
    expect(codes.at(-1)).toBe(blocked);
  });
});

describe('localhost', () => {
  it('that a look-up of the caller’s own finds elsewhere is not reached, and told; found here it is', () => {
    const looked = `
      import http from 'node:http'; import net from 'node:net';
      const to = (address) => (_host, options, done) => options.all ? done(null, [{ address, family: 4 }]) : done(null, address, 4);
      const ended = (emitter) => new Promise((resolve) => emitter.once('error', (e) => resolve(e.code ?? e.message)));
      const host = 'localhost';
      console.log(JSON.stringify([
        await ended(net.connect({ host, port: 2, lookup: to('192.0.2.1') })),
        await ended(net.connect({ host, port: 2, lookup: to('192.0.2.1'), autoSelectFamily: false })),
        await ended(http.get({ host, port: 2, lookup: to('192.0.2.1') })),
        await ended(net.connect({ host, port: 2, lookup: to('127.0.0.1') })),
      ]));`;
    const args = [...withWall(), '--input-type=module', '--eval', looked];
    const { stdout, stderr } = spawnSync(process.execPath, args, { env: {}, encoding: 'utf8', timeout: 300_000 });
    expect(JSON.parse(stdout)).toEqual(['BlockedByDev', 'BlockedByDev', 'BlockedByDev', 'ECONNREFUSED']);
    expect(stderr).toContain('"blocked":"192.0.2.1"');
  });
});

describe('a socket for datagrams', () => {
  it('whose own look-up finds another machine, even for an address of this one, does not reach it, and tells; one here it does', () => {
    const looked = `
      import dgram, { createSocket, Socket } from 'node:dgram';
      // A socket binds itself first, to any address of this machine.
      const to = (address) => (host, _family, done) => done(null, host === '0.0.0.0' ? host : address, 4);
      const through = (make, way, ...args) => new Promise((resolve) => {
        const socket = make().on('error', () => {});
        socket[way](...args, (e) => { resolve(e?.code ?? 'sent'); socket.close(); });
      });
      const out = { type: 'udp4', lookup: to('192.0.2.1') };
      const makes = [() => createSocket(out), () => dgram.createSocket(out), () => new Socket(out), () => new (createSocket('udp4').unref().constructor)(out)];
      const here = () => createSocket({ type: 'udp4', lookup: to('127.0.0.1') });
      const codes = [];
      for (const make of makes) {
        codes.push(await through(make, 'send', 'x', 9, 'localhost'), await through(make, 'send', 'x', 9, '127.0.0.1'));
        codes.push(await through(make, 'send', 'x', 9), await through(make, 'connect', 9, '127.0.0.1'));
      }
      codes.push(await through(here, 'send', 'x', 9, 'localhost'));
      console.log(JSON.stringify(codes));`;
    const args = [...withWall(), '--input-type=module', '--eval', looked];
    const { stdout, stderr } = spawnSync(process.execPath, args, { env: {}, encoding: 'utf8', timeout: 300_000 });
    expect(JSON.parse(stdout), stderr).toEqual([...Array(16).fill('BlockedByDev'), 'sent']);
    expect(stderr).toContain('"blocked":"192.0.2.1"');
  });
});

describe('behind the wall', () => {
  const tried = `
    import childProcess, { execFile, fork, spawn, spawnSync } from 'node:child_process'; import { Worker } from 'node:worker_threads';
    import { promisify } from 'node:util';
    const of = async (attempt) => { try { await attempt(); return 'done'; } catch (e) { return e.code; } };
    const program = [process.execPath, ['-e', '']];
    console.log(JSON.stringify(await Promise.all([
      of(() => spawn(...program)), of(() => spawnSync(...program)), of(() => fork('x.mjs')), of(() => childProcess.execSync('true')),
      of(() => promisify(execFile)(...program)), of(() => new Worker('fetch("http://192.0.2.1")', { eval: true })),
      of(() => new childProcess.ChildProcess().spawn({ file: process.execPath, args: [] })),
      of(() => process.binding('spawn_sync').spawn({ file: process.execPath, args: ['node', '-e', ''] })),
      of(() => process.dlopen({ exports: {} }, 'addon.node')),
    ])));`;
  const run = (...args: readonly string[]) => {
    const { stdout, stderr } = spawnSync(process.execPath, [...args, '--input-type=module', '--eval', tried], {
      encoding: 'utf8',
    });
    return { codes: z.array(z.nullish(z.string())).parse(JSON.parse(stdout)), told: stderr };
  };

  it('no program is started and no worker, which would stand outside: it is told, and no other way is left', () => {
    const { codes, told } = run(...withWall());
    expect(codes).toEqual([
      ...Array(6).fill('BlockedByDev'),
      'ERR_ACCESS_DENIED',
      'ERR_ACCESS_DENIED',
      'ERR_DLOPEN_DISABLED',
    ]);
    expect(told).toContain('"blocked":"the program true"');
    expect(told).toContain('"blocked":"a worker thread"');
  });

  it('the network is left to the wall, on a Node.js whose permissions know of it as on any', () => {
    expect(withWall(new Set(['--allow-net']))).toContain('--allow-net');
    expect(withWall(new Set())).not.toContain('--allow-net');
  });
});
