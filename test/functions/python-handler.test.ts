/*
 * A handler in Python over the golden samples: it reads every released request, recomputes what the schema cannot say, refuses
 * what was changed on the way, and answers what the bridge reads. With the real bridge: test/e2e/python-handler.test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { decodeRequest, decodeResult } from '../../bridge/contract.ts';
import { goldenBytes } from '../support/golden.ts';
import { runPython } from '../support/python-process.ts';
import { root, trackedFiles } from '../support/tracked-files.ts';

const requests = trackedFiles().flatMap((path) => /^test\/golden\/v1\/(request-.*)$/.exec(path)?.[1] ?? []);
const answerSchema = z.array(z.string());

/** What Python makes of each body: a result for its outcome, or what is wrong. */
async function answersTo(bodies: readonly string[]): Promise<readonly string[]> {
  const program = `
import handler, json, sys
record = {"messageId": "m-1", "attributes": {"ApproximateReceiveCount": "1"}}
outcome = {"outcome": "refused", "reason": "NotOwned", "message": "it is somebody else's: \\u00fc \\U0001f4a7"}
answers = []
for body in json.load(sys.stdin):
    try:
        request = handler.decode(body)
        assert handler.canonical(json.loads(body)) == body, "canonical JSON differs"
        answers.append(handler.canonical(handler.result_of(request, outcome, record, 1772445600.25, 0.25)))
    except ValueError as error:
        answers.append("refused: " + str(error))
print(json.dumps(answers))`;
  const { out, err } = await runPython(['-c', program], JSON.stringify(bodies));
  expect(err).toBe('');
  return answerSchema.parse(JSON.parse(out));
}

const changed = (change: (request: string) => string) => change(goldenBytes('request-plain.json'));

describe('a handler in Python', () => {
  it('writes numbers as ECMAScript does, which the digests of options need', async () => {
    const numbers = [
      0, -0.5, 1, 0.25, 1e21, 1.5e21, 1e20, 123456789012345680000, 1e-6, 1.5e-7, 2.5e-10, -1e300, 5e-324,
    ];
    const program =
      'import handler, json, sys\nprint(json.dumps([handler.canonical(float(n)) for n in json.load(sys.stdin)]))';
    const { out } = await runPython(['-c', program], JSON.stringify(numbers));
    expect(JSON.parse(out)).toEqual(numbers.map((one) => JSON.stringify(one)));
  });

  it('reads every golden request, writes the same canonical JSON, and answers what the bridge reads', async () => {
    expect(requests.length).toBeGreaterThanOrEqual(8);
    const bodies = requests.map(goldenBytes);
    const answers = await answersTo(bodies);
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    const schema = JSON.parse(readFileSync(join(root, 'docs/schemas/result.v1.schema.json'), 'utf8'));
    const isResult = ajv.compile(schema);
    for (const [index, answer] of answers.entries()) {
      const request = decodeRequest(bodies[index] ?? '');
      const result = decodeResult(answer);
      expect([requests[index], result.ok, request.ok]).toEqual([requests[index], true, true]);
      expect(isResult(JSON.parse(answer)), JSON.stringify(isResult.errors)).toBe(true);
      expect(result.ok && request.ok && result.message.data.requestId).toBe(request.ok && request.message.id);
    }
  });

  it.each([
    ['another target', changed((text) => text.replace('team-a-logs', 'team-b-logs')), 'targetDigest'],
    ['another option', changed((text) => text.replace('"options":{}', '"options":{"hard":true}')), 'ruleDigest'],
    ['another owner', changed((text) => text.replace('owner-uid":"5', 'owner-uid":"6')), 'ruleDigest'],
    ['another attempt', changed((text) => text.replace('"attempt":0', '"attempt":1')), 'id does not match'],
    ['another type', changed((text) => text.replace('pending.v1', 'pending.v2')), 'not a request of this version'],
    ['no JSON', '{', 'Expecting'],
  ])('refuses a request with %s, as our own functions do', async (_, body, words) => {
    expect(decodeRequest(body).ok).toBe(false);
    const [answer] = await answersTo([body]);
    expect(answer).toMatch(/^refused: /);
    expect(answer).toContain(words);
  });
});
