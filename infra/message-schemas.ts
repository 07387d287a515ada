/*
 * JSON Schemas of the messages, made from the contract, for authors of handlers in other languages.
 * Used by schemas.ts (`npm run schemas`) and by the tests that keep docs/schemas from drifting.
 */
import * as z from 'zod/mini';
import {
  attemptNumber,
  integer,
  optionsSchema,
  REQUEST_TYPE,
  RESULT_TYPE,
  requestSchema,
  resultSchema,
  retryNumber,
  tagKey,
  tagsSchema,
  tagValue,
  targetKey,
  targetSchema,
  targetValue,
  timestamp,
} from '../bridge/contract.ts';
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

/** What the contract says leanly (bridge/contract/lean.ts), as the schema library says it. */
const SAID = new Map<z.core.$ZodType, z.core.$ZodType>([
  [timestamp, z.iso.datetime()],
  [integer, z.int()],
  [attemptNumber, z.int().check(z.nonnegative())],
  [retryNumber, z.int().check(z.positive())],
  [targetSchema, z.record(targetKey, targetValue)],
  [tagsSchema, z.record(tagKey, tagValue)],
  [optionsSchema, z.record(z.string(), z.unknown())],
]);

/** All generated schemas. Unknown further fields are allowed: readers drop them. */
export function messageSchemas(): readonly GeneratedFile[] {
  return MESSAGES.map(({ path, schema, title, description }) => {
    const { $schema, ...rest } = jsonSchemaOf(schema);
    const id = `https://finalizer-bridge.dev/${path.replace('docs/', '')}`;
    return { path, text: `${JSON.stringify({ $schema, $id: id, title, description, ...rest }, null, 2)}\n` };
  });
}

function jsonSchemaOf(schema: z.core.$ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const said = SAID.get(zodSchema);
      if (said === undefined) return;
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
      const { $schema: _, ...rest } = jsonSchemaOf(said);
      Object.assign(jsonSchema, rest);
    },
  });
}
