/*
 * Whatever text stands in the bridge's two files: it is a configuration that says nothing else than the text, or it is refused with
 * the place of each fault. Nothing is dropped without a word, and nothing throws: a bridge that does not start says why.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type LoadedConfig, loadConfig } from '../../bridge/config.ts';
import { parseRules } from '../../bridge/rules.ts';
import { HANDLER, SENDER } from '../support/bridge-builders.ts';
import { holds } from '../support/property.ts';
import { fullestSpec, leastSpec } from '../support/rule-corpus.ts';
import { anyJson, spoilt } from '../support/spoilt.ts';

const good = {
  cluster: { name: 'production-eu' },
  kinds: [{ group: 'storage.example.com', version: 'v1', resource: 'buckets' }],
  namespaces: ['team-a', 'team-b'],
  leavingNamespaces: ['team-c'],
  queues: { region: 'eu-central-1', endpoint: 'https://queues', results: 'https://queues/results' },
  handlers: { [HANDLER]: { queue: `https://queues/${HANDLER}`, sender: SENDER } },
  deadLetters: { sender: 'AROALETTERS' },
  server: { host: '127.0.0.1', port: 8080 },
  log: { level: 'warn' },
};
const rules = [
  { metadata: { name: 'one', uid: 'uid-one' }, spec: leastSpec },
  { metadata: { name: 'two' }, spec: { ...leastSpec, paused: true } },
];

/** Text that YAML has something to say about. */
const yamlish = fc
  .array(
    fc.constantFrom(...'a: - \n \t{ } [ ] , " \' # | > & * ! % @ ` ? --- ... ~ null <<: *x &x é 😀 \u0000'.split(' ')),
  )
  .map((tokens) => tokens.join(' '));
const damaged = (text: string) =>
  fc
    .tuple(fc.nat(text.length), fc.nat(3), yamlish)
    .map(([at, less, by]) => text.slice(0, at) + by + text.slice(at + less));

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-config-fuzz-'));
  file = join(folder, 'bridge.yaml');
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function loaded(text: string): Promise<LoadedConfig> {
  await writeFile(file, text);
  const outcome = await loadConfig(file);
  if (outcome.ok) return outcome;
  expect(outcome.faults.length).toBeGreaterThan(0);
  for (const { path, message } of outcome.faults)
    expect([path.startsWith(file), message]).toEqual([true, expect.stringMatching(/./)]);
  return outcome;
}

describe('a configuration', () => {
  it('that is right or spoilt anywhere is taken as it stands there, or refused with what is wrong and where', async () => {
    const seen = new Set<boolean>();
    const property = fc.asyncProperty(spoilt(good), async (written) => {
      const outcome = await loaded(stringify(written));
      seen.add(outcome.ok);
      if (!outcome.ok) return;
      const { rules: none, ...config } = outcome.config;
      expect(none).toBeUndefined();
      // Everything that was written is in it, and what was not is a default.
      expect(config).toMatchObject(JSON.parse(JSON.stringify(written)));
      expect(Object.keys(config).every((key) => Object.hasOwn(good, key) || key === 'kubeconfig')).toBe(true);
    });
    await fc.assert(property, { numRuns: 150 });
    expect(seen.size).toBe(2);
  });

  it('of any text is one or none, and never throws', async () => {
    const text = fc.oneof(yamlish, fc.string({ unit: 'binary' }), damaged(stringify(good)));
    const property = fc.asyncProperty(text, async (written) => {
      const outcome = await loaded(written);
      if (outcome.ok) expect(outcome.config.queues.results).toMatch(/^https?:/);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});

describe('a file of rules', () => {
  const named = ({ rules: list }: { readonly rules: readonly { readonly name: string }[] }) =>
    list.map(({ name }) => name);

  it('of any text gives all of its rules or none, with what is wrong and where', () => {
    const whole = stringify({ rules });
    const seen = new Set<boolean>();
    holds(
      fc.property(fc.oneof(yamlish, fc.string({ unit: 'binary' }), damaged(whole)), (text) => {
        const parsed = parseRules(text, 'rules.yaml');
        seen.add(parsed.ok);
        if (parsed.ok) expect(new Set(named(parsed)).size).toBe(parsed.rules.length);
        else for (const { path } of parsed.faults) expect(path).toMatch(/^rules\.yaml/);
        if (!parsed.ok) expect(parsed.faults.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
    expect(seen.size).toBe(2);
  });

  it('says the same as YAML and as JSON, and any value in it is a rule or a fault', () => {
    const one = {
      metadata: { name: 'one', uid: 'uid-one' },
      spec: { ...fullestSpec, match: leastSpec.match, budget: undefined },
    };
    holds(
      fc.property(fc.oneof(spoilt(JSON.parse(JSON.stringify(one))), anyJson), (written) => {
        const [json, yaml] = [JSON.stringify([written]), stringify([written])].map((text) => parseRules(text, 'rules'));
        expect(json?.ok).toBe(yaml?.ok);
        if (json?.ok && yaml?.ok) expect(named(json)).toEqual(named(yaml));
      }),
      { numRuns: 150 },
    );
  });
});
