/*
 * The parts of `finalizer-bridge dev` that decide: what a function may reach, which request it gets, what a line of its log
 * tells. The wall around it is tried in kit-dev-wall.slow.test.ts.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { defineHandler, gone, refused } from '../../functions/handler.ts';
import { registry } from '../../functions/registry.ts';
import { reachOf } from '../../infra/kit/dev/reach.ts';
import { readRequest } from '../../infra/kit/dev/request.ts';
import { lineOf, outcomeStep, stepOf } from '../../infra/kit/dev/timeline.ts';

const folder = mkdtempSync(join(tmpdir(), 'kit-dev-parts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const NOW = Date.parse('2030-01-01T00:00:00Z');

describe('what a first run may reach', () => {
  it('has to be said', () => {
    expect(() => reachOf({})).toThrow(/--endpoint <url> .*, --outside <module> .*, or --real-aws, which deletes real/);
  });

  it.each([
    'https://s3.eu-west-1.amazonaws.com',
    'https://my-bucket.s3.amazonaws.com/x',
    'https://ec2.cn-north-1.amazonaws.com.cn',
    'https://ec2.eu-west-1.api.aws:443',
    'https://EC2.EU-WEST-1.AMAZONAWS.COM.',
  ])('is not real AWS by its address: %s', (endpoint) => {
    expect(() => reachOf({ endpoint })).toThrow(/is real AWS, .* say --real-aws instead/);
  });

  it.each(['http://127.0.0.1:5000', 'http://localstack:4566/', 'https://amazonaws.com.example.com'])(
    'is the endpoint that was named: %s',
    (endpoint) => {
      const { hostname } = new URL(endpoint);
      expect(reachOf({ endpoint })).toEqual({
        kind: 'endpoint',
        endpoint: endpoint.replace(/\/$/, ''),
        hosts: [hostname],
      });
    },
  );

  it('is everything on the word alone, and never with an endpoint beside it', () => {
    expect(reachOf({ realAws: true })).toEqual({ kind: 'real' });
    expect(() => reachOf({ realAws: true, endpoint: 'http://127.0.0.1:1' })).toThrow('do not go together');
    expect(() => reachOf({ endpoint: 'localhost:4566' })).toThrow('is not a URL of http or https');
  });
});

describe('the request of a first run', () => {
  const thing = defineHandler({
    ...{ name: 'thing', version: '1', permissions: [], service: 'things' },
    target: z.strictObject({ id: z.string().check(z.regex(/^t-\d+$/)), size: z.int() }),
    options: z.strictObject({ hard: z.optional(z.boolean()) }),
    identity: ({ id }) => ({ names: [id], place: 'outside' }),
    connect: () => undefined,
    teardown: async () => gone('absent'),
  });
  let number = 0;
  const fileWith = (json: unknown) => {
    number += 1;
    writeFileSync(join(folder, `${number}.json`), typeof json === 'string' ? json : JSON.stringify(json));
    return { folder, request: `${number}.json` };
  };

  it('is that of the file, with values of the command line over it', () => {
    const asked = fileWith({
      target: { id: 't-1', size: 1 },
      options: { hard: true },
      ownership: { none: true },
      object: { name: 'x' },
    });
    const { request, identity, isSample } = readRequest(thing, { ...asked, target: ['id=t-22', 'size:=3'] }, NOW);
    expect([identity.names, isSample]).toEqual([['t-22'], false]);
    expect(request.data).toMatchObject({
      ...{ handler: 'thing', target: { id: 't-22', size: 3 }, options: { hard: true }, ownership: { none: true } },
      object: { name: 'x', namespace: 'team-a' },
    });
  });

  it.each(registry)('is made up for the shipped $name, whose target it can be', (handler) => {
    const made = () => readRequest(handler, { folder }, NOW);
    // Which of two alternatives a target names is not in its schema; then the words say what is missing.
    try {
      expect(made()).toMatchObject({ isSample: true, request: { data: { handler: handler.name } } });
    } catch {
      expect(made).toThrow(/^no target can be made up \(.*\): write one to dev\.request\.json, as \{"target":/);
    }
  });

  it('cannot always be made up; then the words say how to give it', () => {
    expect(() => readRequest(thing, { folder }, NOW)).toThrow(
      /^no target can be made up \(target\.id: .*\): write one to dev\.request\.json, as {"target":{"id":"sample","size":.*}}, or give --target/,
    );
  });

  it.each([
    [
      'a target that the handler refuses',
      { target: { id: 'x', size: 1 } },
      /^the request is not one for thing: target\.id: /,
    ],
    [
      'an option that it does not know',
      { target: { id: 't-1', size: 1 }, options: { soft: 1 } },
      /Unrecognized|options/,
    ],
    ['a field that a request does not have', { tarqet: {} }, /^reading \d+\.json: .*tarqet/],
    ['text that is not JSON', '{', /^reading \d+\.json: /],
  ])('is refused for %s', (_, json, words) => {
    expect(() => readRequest(thing, fileWith(json), NOW)).toThrow(words);
  });

  it.each([
    [{ request: 'none.json' }, /^there is no none\.json in /],
    [{ target: ['id'] }, /--target id: is not <key>=<text>/],
    [{ target: ['size:=many'] }, /many is not JSON/],
  ])('is refused for %j', (asked, words) => {
    expect(() => readRequest(thing, { folder, ...asked }, NOW)).toThrow(words);
  });
});

describe('the time line', () => {
  const time = '2030-01-01T00:00:00.250Z';
  const line = (json: object) => {
    const step = stepOf(JSON.stringify({ time, level: 'debug', ...json }), NOW);
    return step === undefined ? undefined : lineOf(step, NOW);
  };

  it.each([
    [{ kind: 'begins', messageIds: ['m'] }, '   250 ms  received  by the function'],
    [{ message: 'judged a request', verdict: 'answer' }, '   250 ms  guards    stopped it; the handler was not asked'],
    [
      { message: 'made a call', call: 'dns:Get', kind: 'look', means: 'done', ms: 3.4 },
      '   250 ms  call      dns:Get (look): done in 3 ms',
    ],
    [{ kind: 'threw', error: 'Error: no' }, '   250 ms  failed    Error: no'],
    [{ blocked: 'example.com' }, expect.stringMatching(/^ +250 ms {2}blocked {3}example\.com: /)],
    [
      {
        level: 'warn',
        message: 'went wrong',
        handler: 'x',
        awsRequestId: 'r',
        why: { a: 1 },
        error: { name: 'E', message: 'no' },
      },
      '   250 ms  log       warn: went wrong why={"a":1} error=no',
    ],
    [{ message: 'anything', level: 'debug' }, undefined],
    [{ message: 'gone already', level: 'info', outcome: 'refused', durationMs: 1, copies: 1 }, undefined],
    [{ kind: 'answered', deleted: ['m'], failed: [] }, undefined],
  ])('says of %j', (json, words) => {
    expect(line(json)).toEqual(words);
  });

  it('shows what a handler prints as it is, and an outcome with all that it says', () => {
    expect(stepOf('hello', NOW)).toEqual({ at: NOW, what: 'log', text: 'hello' });
    const retryAt = '2030-01-02T00:00:00Z';
    const step = outcomeStep(refused({ reason: 'Locked', message: 'until tomorrow', retryAt }), NOW, 12.6);
    expect(lineOf(step, NOW)).toBe(`     0 ms  refused   Locked, until tomorrow, again at ${retryAt}, in 13 ms`);
  });
});
