/*
 * The bridge's CEL against the API server's own, over a corpus of expressions and objects: what compiles, what comes
 * out, and whether it fails. The few differences there are on purpose are sections of their own.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepare } from '../../bridge/cel/object.ts';
import { type CelOutcome, compile } from '../../bridge/cel.ts';
import { exampleObject, functionFacts } from '../../infra/crd/expressions.ts';
import { sections, subjects } from '../support/cel-corpus.ts';
import { celServer, type Probe, type ServerOutcome } from '../support/cel-server.ts';
import { sharedKube } from '../support/e2e.ts';
import { expression } from '../support/expressions.ts';

const kube = sharedKube();
let cel: Awaited<ReturnType<typeof celServer>>;
beforeAll(async () => {
  cel = await celServer(kube, 'cel-corpus');
});
afterAll(async () => {
  await cel.remove();
  await kube.close();
});

/** What both say of one expression over one object. */
interface Pair {
  readonly text: string;
  readonly subject: number;
  readonly bridge: CelOutcome;
  readonly server: ServerOutcome;
}

/** Values that no rule can use: the server has no such limit. */
const UNUSABLE = /neither a string|is a double|is null|something else than strings|not a safe integer/;

function agree({ bridge, server }: Pair): boolean {
  if (bridge.kind === 'value')
    return server.kind === 'value' && JSON.stringify(bridge.value) === JSON.stringify(server.value);
  if (bridge.kind === 'invalid' && UNUSABLE.test(bridge.detail)) return server.kind === 'other';
  return server.kind === 'error';
}

/** Whether "missing" is said of the same errors. The bridge says it of maps only, the server of whatever has no keys. */
function agreeOnMissing({ bridge, server }: Pair): boolean {
  if (server.kind !== 'error') return true;
  const missing = server.message.startsWith('no such key');
  if (bridge.kind === 'missing') return missing;
  return !missing || (bridge.kind === 'invalid' && bridge.detail.startsWith('selecting from'));
}

async function compared(texts: readonly string[], over: readonly object[] = subjects): Promise<readonly Pair[]> {
  const probes: Probe[] = texts.map((text) => ({
    expression: text,
    subjects: expression(text).constant ? over.slice(0, 1) : over,
  }));
  const answers = await cel.evaluate(probes);
  return probes.flatMap(({ expression: text, subjects: of }, at) =>
    of.map((subject, index): Pair => {
      const server = answers[at]?.[index];
      if (server === undefined || typeof subject !== 'object' || subject === null)
        throw new Error(`no answer to ${text}`);
      return { text, subject: index, bridge: expression(text).evaluate(prepare({ ...subject })), server };
    }),
  );
}

describe('expressions that both take', () => {
  const agreeing = sections('agree');
  let pairs: readonly Pair[];
  beforeAll(async () => {
    pairs = await compared(agreeing.flatMap(({ expressions }) => expressions));
  });

  it.each(agreeing)('$title: have one result, or fail in both', ({ expressions }) => {
    const own = pairs.filter(({ text }) => expressions.includes(text));
    expect(own.length).toBeGreaterThanOrEqual(expressions.length);
    expect(own.filter((pair) => !agree(pair))).toEqual([]);
  });

  it('miss the same keys, but for what is no map', () => {
    expect(pairs.filter((pair) => !agreeOnMissing(pair))).toEqual([]);
    expect(pairs.filter(({ bridge }) => bridge.kind === 'missing').length).toBeGreaterThan(100);
  });

  it('include all examples of the reference, with the results that it states', async () => {
    const examples = functionFacts.flatMap((fact) => fact.examples);
    const found = await compared(
      examples.map(([text]) => text),
      [exampleObject],
    );
    expect(found.map(({ server }) => server)).toEqual(examples.map(([, value]) => ({ kind: 'value', value })));
    expect(found.filter((pair) => !agree(pair))).toEqual([]);
  });
});

describe('expressions that one refuses', () => {
  it('are refused by both, or their constants are', async () => {
    const texts = [...sections('refused by both'), ...sections('an error of its own')].flatMap(
      (one) => one.expressions,
    );
    expect([...(await cel.refused(texts)).keys()].sort()).toEqual([...texts].sort());
  });

  it('are refused by the API server where the bridge finds no value in any object', async () => {
    const texts = sections('only the API server refuses').flatMap((one) => one.expressions);
    expect([...(await cel.refused(texts)).keys()]).toEqual(texts);
  });

  it('are taken by the API server where the bridge alone refuses them', async () => {
    const texts = sections('only the bridge refuses').flatMap(({ expressions }) => expressions);
    expect([...(await cel.refused(texts))]).toEqual([]);
    expect(texts.filter((text) => compile(text).ok)).toEqual([]);
  });

  it('that fail in the bridge alone give no other value there', async () => {
    const pairs = await compared(sections('only the bridge fails').flatMap(({ expressions }) => expressions));
    expect(pairs.filter((pair) => pair.bridge.kind === 'value' && !agree(pair))).toEqual([]);
    expect(new Set(pairs.filter((pair) => !agree(pair)).map(({ text }) => text)).size).toBe(
      new Set(pairs.map(({ text }) => text)).size,
    );
  });
});

describe('labels and annotations that an object does not have', () => {
  const texts = [
    "object.metadata.annotations[?'on-delete'].orValue('Delete')",
    "'tier' in object.metadata.labels",
    'size(object.metadata.labels)',
    "object.metadata.labels['tier']",
    'has(object.metadata.labels)',
  ];
  const without = { metadata: { name: 'x', uid: 'u' } };
  const wrapped = { metadata: { ...without.metadata, labels: {}, annotations: {} } };

  it('are empty maps to the bridge, missing keys to the API server', async () => {
    const pairs = await compared(texts, [without]);
    expect(pairs.filter(agree).map(({ text }) => text)).toEqual(["object.metadata.labels['tier']"]);
  });

  it('are the same to both once the object says that it has none', async () => {
    const pairs = await compared(texts, [wrapped]);
    expect(pairs.filter((pair) => !agree(pair))).toEqual([]);
    const bridge = texts.map((text) => expression(text).evaluate(prepare(without)));
    expect(pairs.map((pair) => pair.bridge)).toEqual(bridge);
  });
});
