/*
 * A value that a schema may take, made up: for the first run of a handler whose author has not written a request yet.
 * Called by request.ts, which holds what comes out against the handler itself. Patterns are met by trying usual values.
 */
import * as z from 'zod/mini';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../../local/places.ts';

/** What of a JSON Schema is looked at. */
const shape = z.object({
  type: z.optional(z.string()),
  const: z.optional(z.json()),
  enum: z.optional(z.array(z.json())),
  anyOf: z.optional(z.array(z.unknown())),
  properties: z.optional(z.record(z.string(), z.unknown())),
  required: z.optional(z.array(z.string())),
  items: z.optional(z.unknown()),
  pattern: z.optional(z.string()),
  allOf: z.optional(z.array(z.object({ pattern: z.optional(z.string()) }))),
  minLength: z.optional(z.number()),
  minimum: z.optional(z.number()),
});
type Shape = z.output<typeof shape>;

const TEXTS = [
  'sample',
  'sample-1',
  'sample.example.com',
  'sample.example.com.',
  'https://sample.example.com/',
  'Sample1',
  '1',
  LOCAL_ACCOUNT_ID,
  LOCAL_REGION,
  ...['i', 'vol', 'eipalloc', 'snap', 'sg', 'subnet', 'vpc', 'eni', 'ami'].map((kind) => `${kind}-0123456789abcdef0`),
  '00000000-0000-4000-8000-000000000001',
  '2030-01-01T00:00:00Z',
  `arn:aws:sns:${LOCAL_REGION}:${LOCAL_ACCOUNT_ID}:sample`,
];

/** A value for a schema; one that no usual text fits may not be taken. */
export function sampleOf(schema: z.core.$ZodType): unknown {
  return madeOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), '');
}

function madeOf(schema: unknown, key: string): unknown {
  const { data } = shape.safeParse(schema);
  if (data === undefined) return null;
  if (data.const !== undefined) return data.const;
  if (data.enum !== undefined) return data.enum[0];
  if (data.anyOf !== undefined) return madeOf(data.anyOf[0], key);
  switch (data.type) {
    case 'object': {
      const { required = [], properties = {} } = data;
      return Object.fromEntries(required.map((name) => [name, madeOf(properties[name], name)]));
    }
    case 'array':
      return [madeOf(data.items, key)];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return data.minimum ?? 1;
    default:
      return textOf(data, key);
  }
}

function textOf({ pattern, allOf = [], minLength = 0 }: Shape, key: string): string {
  const patterns = [pattern, ...allOf.map((part) => part.pattern)].flatMap((one) => (one ? [new RegExp(one)] : []));
  const fits = (text: string) => text.length >= minLength && patterns.every((one) => one.test(text));
  const first = key === 'region' ? [LOCAL_REGION] : key === 'account' ? [LOCAL_ACCOUNT_ID] : [];
  return [...first, ...TEXTS].find(fits) ?? 'sample';
}
