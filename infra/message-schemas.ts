/*
 * JSON Schemas of the messages, made from the contract, for authors of handlers in other languages.
 * Used by schemas.ts (`npm run schemas`) and by the tests that keep docs/schemas from drifting.
 */
import * as z from 'zod/mini';
import { REQUEST_TYPE, RESULT_TYPE, requestSchema, resultSchema } from '../bridge/contract.ts';
import type { GeneratedFile } from './generated.ts';

const MESSAGES = [
  {
    path: 'docs/schemas/request.v1.schema.json',
    schema: requestSchema,
    title: `Request (${REQUEST_TYPE})`,
    description:
      'An object whose deletion is pending: take its target down. A CloudEvent in structured JSON mode. Not said by the ' +
      'schema: targetDigest, ruleDigest and id are recomputed from the data and must agree; a target text has at most ' +
      '1024 bytes in UTF-8; the whole message has at most 65536.',
  },
  {
    path: 'docs/schemas/result.v1.schema.json',
    schema: resultSchema,
    title: `Result (${RESULT_TYPE})`,
    description:
      'What was found or done for one request. A CloudEvent in structured JSON mode. Not said by the schema: requestId ' +
      'is recomputed from the data and must agree; the whole message has at most 65536 bytes.',
  },
] as const;

/** All generated schemas. Unknown further fields are allowed: readers drop them. */
export function messageSchemas(): readonly GeneratedFile[] {
  return MESSAGES.map(({ path, schema, title, description }) => {
    const { $schema, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
    const id = `https://finalizer-bridge.dev/${path.replace('docs/', '')}`;
    return { path, text: `${JSON.stringify({ $schema, $id: id, title, description, ...rest }, null, 2)}\n` };
  });
}
