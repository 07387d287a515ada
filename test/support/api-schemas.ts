/*
 * OpenAPI v3 documents as API servers publish them, small: one kind with every way in which a schema says what may be in
 * a place, and schemas made at random with the paths that they allow. Used by the tests of unknown fields.
 */
import * as fc from 'fast-check';
import { type KindSchema, schemaOfKind } from '../../bridge/kind-schema.ts';

/** A node of a document. */
export type ApiSchema = Readonly<Record<string, unknown>>;

const KIND = { group: 'storage.example.com', version: 'v1', kind: 'Bucket' };
const text = { type: 'string' };
const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const objectMeta = {
  type: 'object',
  properties: {
    ...{ name: text, namespace: text, uid: text, creationTimestamp: { type: 'string', format: 'date-time' } },
    labels: { type: 'object', additionalProperties: { type: 'string', default: '' } },
    annotations: { type: 'object', additionalProperties: { type: 'string', default: '' } },
    finalizers: { type: 'array', items: { type: 'string', default: '' } },
    ownerReferences: { type: 'array', items: { allOf: [refTo('OwnerReference')], default: {} } },
    managedFields: {
      type: 'array',
      items: { type: 'object', properties: { manager: text, fieldsV1: refTo('FieldsV1') } },
    },
  },
};

/** A document of one kind, whose fields below `spec` and `status` are given. */
export function documentOf(spec: ApiSchema, status: ApiSchema = { type: 'object' }, root: ApiSchema = {}): unknown {
  const schemas = {
    Bucket: {
      type: 'object',
      description: 'A bucket.',
      properties: { apiVersion: text, kind: text, metadata: { allOf: [refTo('ObjectMeta')] }, spec, status },
      'x-kubernetes-group-version-kind': [KIND],
      ...root,
    },
    BucketList: {
      type: 'object',
      properties: { items: { type: 'array', items: refTo('Bucket') } },
      'x-kubernetes-group-version-kind': [{ ...KIND, kind: 'BucketList' }],
    },
    ObjectMeta: objectMeta,
    OwnerReference: { type: 'object', properties: { kind: text, name: text, uid: text } },
    FieldsV1: { description: 'Anything.', type: 'object' },
    Tree: { type: 'object', properties: { name: text, branches: { type: 'array', items: refTo('Tree') } } },
    Circle: refTo('Circle'),
    Quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  };
  return { openapi: '3.0.0', paths: {}, components: { schemas } };
}

/** The schema of the kind of a document. */
export function bucketSchema(...parts: Parameters<typeof documentOf>): KindSchema {
  const schema = schemaOfKind(documentOf(...parts), KIND);
  if (schema === undefined) throw new Error('reading the schema of a test: the document has none');
  return schema;
}

/** A schema with one field for each way of being open or closed. */
export const manyWays = {
  type: 'object',
  required: ['region'],
  properties: {
    region: text,
    replicas: { type: 'integer', format: 'int32' },
    port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    size: refTo('Quantity'),
    zones: { type: 'array', items: text },
    disks: { type: 'array', items: { type: 'object', properties: { id: text, gib: { type: 'integer' } } } },
    tags: { type: 'object', additionalProperties: text },
    mounts: { type: 'object', additionalProperties: { type: 'object', properties: { path: text } } },
    free: { type: 'object', additionalProperties: true },
    raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: text } },
    untyped: { 'x-kubernetes-preserve-unknown-fields': true },
    empty: { type: 'object' },
    nothing: {},
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object', properties: { image: text } } },
    },
    either: {
      type: 'object',
      oneOf: [{ required: ['left'] }, { required: ['right'] }],
      properties: { left: text, right: text },
    },
    loose: { type: 'object', properties: { a: text }, anyOf: [{ properties: { b: text } }, { required: ['a'] }] },
    mixed: { type: 'object', properties: { a: text }, allOf: [{ anyOf: [refTo('OwnerReference')] }] },
    tree: refTo('Tree'),
    circle: refTo('Circle'),
    lost: refTo('Nowhere'),
    broken: { type: ['object', 'null'], properties: { a: text } },
    'odd-key': { type: 'object', properties: { a: text } },
  },
} as const;

/** A schema, a path that it allows, and one that it does not; both as steps below `object.spec`. */
export interface Sample {
  readonly spec: ApiSchema;
  readonly right: readonly Step[];
  readonly wrong: readonly Step[] | undefined;
}

/** A field by its name, an item of a list, or each item in a macro. */
export type Step = { readonly field: string } | { readonly index: number } | { readonly each: true };

const FIELDS = ['name', 'size', 'zone', 'id'];
const field = fc.constantFrom(...FIELDS);

/** A place: its schema, a way below it, and a way below it that goes wrong at its end. */
interface Draft {
  readonly schema: ApiSchema;
  readonly right: readonly Step[];
  readonly wrong: readonly Step[] | undefined;
}

const leaf: fc.Arbitrary<Draft> = fc.oneof(
  fc.constantFrom('string', 'integer', 'number', 'boolean').map((type) => ({
    schema: { type },
    right: [],
    wrong: [{ field: 'name' }],
  })),
  fc
    .constantFrom<ApiSchema>(
      { 'x-kubernetes-preserve-unknown-fields': true },
      { type: 'object' },
      { type: 'object', additionalProperties: true },
      {},
      refTo('Nowhere'),
    )
    .map((schema) => ({ schema, right: [{ field: 'what' }, { field: 'ever' }], wrong: undefined })),
);

const { place } = fc.letrec<{ place: Draft }>((tie) => ({
  place: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc
      .tuple(tie('place'), field, fc.constantFrom<ApiSchema>({}, { oneOf: [{ required: ['x'] }] }))
      .map(([inner, name, more]) => ({
        schema: { type: 'object', properties: { other: { type: 'string' }, [name]: inner.schema }, ...more },
        right: [{ field: name }, ...inner.right],
        wrong: inner.wrong === undefined ? [{ field: `${name}x` }] : [{ field: name }, ...inner.wrong],
      })),
    fc.tuple(tie('place'), fc.constantFrom<Step>({ index: 0 }, { each: true })).map(([inner, step]) => ({
      schema: { type: 'array', items: inner.schema },
      right: [step, ...inner.right],
      wrong: inner.wrong === undefined ? [{ field: 'name' }] : [step, ...inner.wrong],
    })),
    fc.tuple(tie('place'), field).map(([inner, name]) => ({
      schema: { type: 'object', additionalProperties: inner.schema },
      right: [{ field: name }, ...inner.right],
      wrong: inner.wrong === undefined ? undefined : [{ field: name }, ...inner.wrong],
    })),
    fc.tuple(tie('place'), field).map(([inner, name]) => ({
      schema: { type: 'object', properties: { [name]: inner.schema }, 'x-kubernetes-preserve-unknown-fields': true },
      right: [{ field: `${name}x` }, { field: 'what' }],
      wrong: inner.wrong === undefined ? undefined : [{ field: name }, ...inner.wrong],
    })),
  ),
}));

/** Any of these. */
export const samples: fc.Arbitrary<Sample> = place.map(({ schema, right, wrong }) => ({
  spec: { type: 'object', properties: { at: schema } },
  right: [{ field: 'at' }, ...right],
  wrong: wrong === undefined ? undefined : [{ field: 'at' }, ...wrong],
}));
