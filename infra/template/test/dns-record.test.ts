/*
 * The handler held to the contract by the conformance suite, against the server in dev/; and what is special about it.
 * `npm test` runs it on Node.js alone.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { type ConformanceHarness, clientsFor, conformance, systemClock, tryTeardown } from 'finalizer-bridge/testing';
import { start, ZONE } from '../dev/dns-server.ts';
import { dnsRecord } from '../handlers/dns-record.ts';

const server = await start([]);
after(() => server.stop());

const uid = randomUUID();
const OWNER = { 'finalizer-bridge.dev/owner-uid': uid };
const settings = { url: 'https://dns.example.com', secret: 'key' };

/** A record of its own for each scene; without tags it is not there. */
async function scene(tags?: Readonly<Record<string, string>>) {
  const name = `${randomUUID()}.${ZONE}`;
  const comments = Object.entries(tags ?? {}).map(([key, value]) => ({ content: `${key}=${value}` }));
  if (tags !== undefined) server.put({ name, type: 'A', comments });
  return { target: { zone: ZONE, name, type: 'A' }, exists: async () => server.has(name) };
}

const harness: ConformanceHarness = {
  ...{ account: '111122223333', region: 'eu-west-1', uid, ownership: { tags: OWNER }, settings, clock: systemClock },
  aws: clientsFor(server.endpoint),
  absent: () => scene(),
  owned: () => scene(OWNER),
  foreign: () => scene({ 'finalizer-bridge.dev/owner-uid': 'somebody-else' }),
  kept: () => scene({ ...OWNER, 'finalizer-bridge.dev/keep': 'yes' }),
};

describe('dns-record keeps the contract: it', () => {
  for (const { title, run } of conformance(dnsRecord, harness)) it(title, run);
});

describe('dns-record', () => {
  const target = { zone: ZONE, name: `shop.${ZONE}`, type: 'A' };

  it('refuses a zone that the server does not have, and never takes it for gone', async () => {
    const elsewhere = { zone: 'other.example.com.', name: 'shop.other.example.com.', type: 'A' };
    const { outcome } = await tryTeardown({
      handler: dnsRecord,
      target: elsewhere,
      settings,
      endpoint: server.endpoint,
    });
    assert.deepEqual([outcome.outcome, 'reason' in outcome && outcome.reason], ['refused', 'NoSuchZone']);
  });

  it('leaves a record of the same name and another type alone', async () => {
    server.put({ name: target.name, type: 'TXT', comments: [] });
    const { outcome, calls } = await tryTeardown({ handler: dnsRecord, target, settings, endpoint: server.endpoint });
    assert.deepEqual(outcome, { outcome: 'gone', evidence: 'absent' });
    assert.deepEqual(calls, [{ call: 'dns:GetZone', kind: 'look' }]);
    assert.equal(server.has(target.name), true);
  });

  it('tries again when the server refuses the key: that is no answer about the record', async () => {
    const denied = Object.assign(new Error('Unauthorized'), { $metadata: { httpStatusCode: 401 } });
    const { outcome } = await tryTeardown({
      handler: dnsRecord,
      target,
      settings,
      answers: { 'dns:GetZone': [denied] },
    });
    assert.deepEqual([outcome.outcome, 'reason' in outcome && outcome.reason], ['pending', 'AccessDenied']);
  });

  it('does not take a target whose name is outside its zone', () => {
    assert.equal(dnsRecord.prepare({ ...target, zone: 'other.example.com.' }, {}).ok, false);
  });
});
