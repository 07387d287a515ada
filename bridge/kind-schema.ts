/*
 * What objects of a kind can have, taken from the API server's OpenAPI v3 document of its group and version. Pure.
 * Made by cluster-schemas.ts, asked by cel/fields.ts whether a path can exist. Only what is surely impossible is told:
 * whatever is open, unknown or not understood in a schema may hold anything.
 */
import * as z from 'zod/mini';

/** A place in a schema. `ref` names another schema of the document. */
export type Shape =
  | { readonly is: 'anything' }
  | { readonly is: 'ref'; readonly name: string }
  | { readonly is: 'list'; readonly items: Shape }
  | { readonly is: 'map'; readonly fields: ReadonlyMap<string, Shape>; readonly others: Shape | undefined }
  | { readonly is: 'scalar'; readonly type: string };

/** A place with its reference followed. */
export type Place = Exclude<Shape, { readonly is: 'ref' }>;

/** The schema of one kind. */
export interface KindSchema {
  readonly root: Shape;
  place(shape: Shape): Place;
}

const ANYTHING = { is: 'anything' } as const;
const SCALARS = new Set(['string', 'integer', 'number', 'boolean']);
const REF_PREFIX = '#/components/schemas/';
/** What every object has, also where its schema does not say so. */
const OBJECT_FIELDS = ['apiVersion', 'kind', 'metadata'];
/** A reference to a reference; more than this is a circle. */
const HOPS_MAX = 16;

const document = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) });
const named = z.looseObject({
  'x-kubernetes-group-version-kind': z.array(z.object({ group: z.string(), version: z.string(), kind: z.string() })),
});
const list = z.optional(z.array(z.unknown()));
const node = z.object({
  $ref: z.optional(z.string()),
  type: z.optional(z.string()),
  properties: z.optional(z.record(z.string(), z.unknown())),
  additionalProperties: z.optional(z.unknown()),
  items: z.optional(z.unknown()),
  ...{ allOf: list, anyOf: list, oneOf: list },
  'x-kubernetes-preserve-unknown-fields': z.optional(z.boolean()),
  'x-kubernetes-int-or-string': z.optional(z.boolean()),
  'x-kubernetes-embedded-resource': z.optional(z.boolean()),
});
type Node = z.output<typeof node>;

/** Finds the schema of a kind in a document; undefined when it has none, or more than one. Throws ZodError. */
export function schemaOfKind(
  text: unknown,
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
): KindSchema | undefined {
  const { schemas } = document.parse(text).components;
  const isKind = (schema: unknown) =>
    named
      .safeParse(schema)
      .data?.['x-kubernetes-group-version-kind'].some(
        (of) => of.group === group && of.version === version && of.kind === kind,
      );
  const [found, another] = Object.entries(schemas).filter(([, schema]) => isKind(schema));
  if (found === undefined || another !== undefined) return undefined;
  const shapes = shapesFrom(found[0], new Map(Object.entries(schemas)));
  return {
    root: withObjectFields(shapes.get(found[0]) ?? ANYTHING),
    place: (shape) => placeOf(shape, shapes),
  };
}

function placeOf(shape: Shape, shapes: ReadonlyMap<string, Shape>): Place {
  let at = shape;
  for (let hops = 0; at.is === 'ref'; hops += 1) {
    at = hops < HOPS_MAX ? (shapes.get(at.name) ?? ANYTHING) : ANYTHING;
  }
  return at;
}

/** The shapes of a schema and of all that it refers to; the rest of the document is not kept. */
function shapesFrom(root: string, schemas: ReadonlyMap<string, unknown>): ReadonlyMap<string, Shape> {
  const shapes = new Map<string, Shape>();
  const open = [root];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (shapes.has(name)) continue;
    const shape = shapeOf(schemas.get(name));
    shapes.set(name, shape);
    for (const ref of refsIn(shape)) open.push(ref);
  }
  return shapes;
}

function refsIn(shape: Shape): readonly string[] {
  switch (shape.is) {
    case 'ref':
      return [shape.name];
    case 'list':
      return refsIn(shape.items);
    case 'map':
      return [...shape.fields.values(), ...(shape.others === undefined ? [] : [shape.others])].flatMap(refsIn);
    case 'anything':
    case 'scalar':
      return [];
    default:
      return shape satisfies never;
  }
}

function shapeOf(schema: unknown): Shape {
  const parsed = node.safeParse(schema);
  if (!parsed.success) return ANYTHING;
  const { $ref, type, properties, allOf, items } = parsed.data;
  if ($ref !== undefined) {
    return $ref.startsWith(REF_PREFIX) ? { is: 'ref', name: $ref.slice(REF_PREFIX.length) } : ANYTHING;
  }
  // A reference with a default or a description beside it is written as the only member of `allOf`.
  if (type === undefined && properties === undefined && allOf?.length === 1) return shapeOf(allOf[0]);
  if (type === undefined || parsed.data['x-kubernetes-int-or-string'] === true) return ANYTHING;
  if (SCALARS.has(type)) return { is: 'scalar', type };
  if (type === 'array') return { is: 'list', items: shapeOf(items) };
  return type === 'object' ? mapOf(parsed.data) : ANYTHING;
}

function mapOf(schema: Node): Shape {
  const { properties = {}, additionalProperties } = schema;
  const fields = new Map(Object.entries(properties).map(([key, inner]) => [key, shapeOf(inner)]));
  const variants = variantsOf(schema);
  // A variant names fields only to say which values go together; what it names may be there.
  for (const { properties: further = {} } of variants) {
    for (const key of Object.keys(further)) if (!fields.has(key)) fields.set(key, ANYTHING);
  }
  const isOpen = [schema, ...variants].some((of) => of['x-kubernetes-preserve-unknown-fields'] === true);
  const isOther = variants.some((of) => of.$ref !== undefined || of.additionalProperties !== undefined);
  if (isOpen || isOther || additionalProperties === true) return { is: 'map', fields, others: ANYTHING };
  if (typeof additionalProperties === 'object') return { is: 'map', fields, others: shapeOf(additionalProperties) };
  // Without any field it is not told what an object holds: raw extensions are written like that.
  if (fields.size === 0) return ANYTHING;
  const map: Shape = { is: 'map', fields, others: undefined };
  return schema['x-kubernetes-embedded-resource'] === true ? withObjectFields(map) : map;
}

/** Members of `allOf`, `anyOf` and `oneOf`, at any depth; one that cannot be read may allow anything. */
function variantsOf({ allOf = [], anyOf = [], oneOf = [] }: Node): readonly Node[] {
  return [...allOf, ...anyOf, ...oneOf].flatMap((variant) => {
    const parsed = node.safeParse(variant);
    if (!parsed.success) return [{ 'x-kubernetes-preserve-unknown-fields': true }];
    return [parsed.data, ...variantsOf(parsed.data)];
  });
}

function withObjectFields(shape: Shape): Shape {
  if (shape.is !== 'map') return shape;
  const fields = new Map(shape.fields);
  for (const key of OBJECT_FIELDS) if (!fields.has(key)) fields.set(key, ANYTHING);
  // Where a schema says only what is special about the metadata, the rest of it is there all the same.
  const metadata = fields.get('metadata');
  if (metadata?.is === 'map' && !metadata.fields.has('uid')) fields.set('metadata', ANYTHING);
  return { ...shape, fields };
}
