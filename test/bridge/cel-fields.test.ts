/*
 * Which paths of an expression a kind's schema cannot have: a table over a schema with every way of being open or closed,
 * then any schema: a path that it allows is never told, and a misspelt one always.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { schemaOfKind } from '../../bridge/kind-schema.ts';
import {
  type ApiSchema,
  bucketSchema,
  documentOf,
  manyWays,
  type Sample,
  type Step,
  samples,
} from '../support/api-schemas.ts';
import { expression } from '../support/expressions.ts';
import { holds } from '../support/property.ts';

const schema = bucketSchema(manyWays);
const told = (text: string, of = schema) =>
  expression(text)
    .unknownFields(of)
    .map(({ path }) => path);

describe('a path that can exist is not told', () => {
  it.each([
    'object.apiVersion + object.kind',
    'object.metadata.uid',
    "object.metadata.labels['app']",
    "object.metadata.annotations[?'team.example.com/on-delete'].orValue('Delete')",
    "object.metadata.ownerReferences.filter(o, o.kind == 'Machine')[0].name",
    'object.metadata.ownerReferences[?0].?uid.orValue("none")',
    "'x' in object.metadata.finalizers",
    'object.metadata.managedFields[0].fieldsV1.whatever.it.holds',
    'object.spec.region.size() > 3',
    'object.spec.port.whatever',
    'object.spec.size.whatever',
    'object.spec.zones[0]',
    'object.spec.zones.all(z, z.startsWith("a"))',
    'object.spec.disks.map(d, d.id)',
    'object.spec.disks.map(d, d.gib > 1, d.id)',
    'object.spec.disks.filter(d, d.gib > 1)[0].id',
    'object.spec.disks[size(object.spec.disks) - 1].id',
    'object.spec.tags.anything',
    "object.spec.tags['any key']",
    'object.spec.mounts.data.path',
    "object.spec.mounts['data'].path",
    'object.spec.mounts[object.spec.region].path',
    "object.spec.mounts.exists(key, key == 'data')",
    'object.spec.free.a.b[0].c',
    'object.spec.raw.known',
    'object.spec.raw.unknown.deep',
    'object.spec.untyped.a.b',
    'object.spec.empty.a',
    'object.spec.nothing.a',
    'object.spec.template.metadata.name',
    'object.spec.template.kind',
    'object.spec.template.spec.image',
    'object.spec.either.left',
    'object.spec.loose.b',
    'object.spec.mixed.whatever',
    'object.spec.tree.branches[0].branches[0].name',
    'object.spec.circle.whatever',
    'object.spec.lost.whatever',
    'object.spec.broken.whatever',
    "object.spec['odd-key'].a",
    'object.spec[object.spec.region]',
    'object.status.whatever',
    'has(object.spec.region) ? object.spec.region : object.spec.zones[0]',
    'object.spec.?region.or(object.spec.?either.?left).value()',
    'object.spec.?either.orValue({}).left',
    "{'a': object.spec.region}.b",
    '(object.spec.replicas > 1 ? object.spec.raw : object.spec.either).known',
    'dyn(object).spec.anything',
    "object.spec.raw.exists(key, key == 'known')",
  ])('%s', (text) => {
    expect(told(text)).toEqual([]);
  });
});

describe('a path that cannot exist is told, with what it could have been', () => {
  it.each([
    ['object.sepc.region', 'object.sepc'],
    ['object.metadata.uuid', 'object.metadata.uuid'],
    ['object.spec.regoin', 'object.spec.regoin'],
    ["object['spec']['regoin']", 'object.spec.regoin'],
    ['has(object.spec.regoin)', 'object.spec.regoin'],
    ["object.spec.?regoin.orValue('x')", 'object.spec.regoin'],
    ["object.?spec.regoin.orValue('x')", 'object.spec.regoin'],
    ["object.spec[?'regoin'].orValue('x')", 'object.spec.regoin'],
    ["object.spec['odd-key'].b", "object.spec['odd-key'].b"],
    ["object.spec['odd key']", "object.spec['odd key']"],
    ['object.spec.region.name', 'object.spec.region.name'],
    ['object.spec.replicas.name', 'object.spec.replicas.name'],
    ['object.spec.disks.id', 'object.spec.disks.id'],
    ['object.spec.disks[0].name', 'object.spec.disks[].name'],
    ['object.spec.disks.exists(d, d.name == "a")', 'object.spec.disks[].name'],
    ['object.spec.disks.map(d, d.gib > 1, d.name)', 'object.spec.disks[].name'],
    ['object.spec.disks.filter(d, d.gib > 1)[0].name', 'object.spec.disks[].name'],
    ['object.spec.disks.all(d, object.spec.zones.all(z, d.name == z))', 'object.spec.disks[].name'],
    ['object.spec.zones.all(object_, object_.a == object.spec.regoin)', 'object.spec.zones[].a'],
    ['object.spec.mounts.data.pth', 'object.spec.mounts.data.pth'],
    ['object.spec.mounts[object.spec.region].pth', 'object.spec.mounts[].pth'],
    ['object.spec.template.spec.imgae', 'object.spec.template.spec.imgae'],
    ['object.spec.template.metdata', 'object.spec.template.metdata'],
    ['object.spec.either.middle', 'object.spec.either.middle'],
    ['object.spec.loose.c', 'object.spec.loose.c'],
    ['object.spec.tree.branches[0].branches[1].nmae', 'object.spec.tree.branches[].branches[].nmae'],
    ['object.metadata.ownerReferences[0].namespace', 'object.metadata.ownerReferences[].namespace'],
    ['(has(object.spec.region) ? object.spec.disks[0] : object.spec.disks[1]).name', 'object.spec.disks[].name'],
    ['object.spec.?either.orValue({}).middle', 'object.spec.either.middle'],
    ['object.spec.?either.or(optional.none()).value().middle', 'object.spec.either.middle'],
    ['optional.of(object.spec).value().regoin', 'object.spec.regoin'],
    ["[string(object.spec.regoin), 'x'].join('/')", 'object.spec.regoin'],
    ["{'a': object.spec.regoin}.a", 'object.spec.regoin'],
    ["'a' + string(object.spec.regoin)", 'object.spec.regoin'],
    ["!(object.spec.regoin == 'a') || -object.spec.replicas > 1", 'object.spec.regoin'],
    ["'a' in object.spec.zonse", 'object.spec.zonse'],
    ['object.spec.region.matches(object.spec.regoin)', 'object.spec.regoin'],
    ['object.spec.free[object.spec.regoin]', 'object.spec.regoin'],
  ])('%s: %s', (text, path) => {
    expect(told(text)).toContain(path);
  });

  it('in the order of the expression, each once, with the fields that are there', () => {
    expect(
      expression('object.spec.b == object.spec.a || object.spec.b == object.metadata.x').unknownFields(schema),
    ).toEqual([
      { path: 'object.spec.b', field: 'b', within: 'a map', known: Object.keys(manyWays.properties) },
      { path: 'object.spec.a', field: 'a', within: 'a map', known: Object.keys(manyWays.properties) },
      { path: 'object.metadata.x', field: 'x', within: 'a map', known: expect.arrayContaining(['uid', 'labels']) },
    ]);
  });
});

describe('any schema', () => {
  /** The steps as one expression, fields by a dot or in brackets. */
  function written(steps: readonly Step[], inBrackets: boolean): string {
    let text = 'object.spec';
    for (const [at, step] of steps.entries()) {
      if ('each' in step) text += `.map(v${at}, v${at}`;
      else if ('index' in step) text += `[${step.index}]`;
      else text += inBrackets ? `['${step.field}']` : `.${step.field}`;
    }
    return `dyn(${text}${')'.repeat(steps.filter((step) => 'each' in step).length)}) == 'x'`;
  }

  const asked = ({ spec }: Sample, steps: readonly Step[], inBrackets: boolean) =>
    expression(written(steps, inBrackets)).unknownFields(bucketSchema(spec));

  it('never has a path told that it allows', () => {
    holds(
      fc.property(samples, fc.boolean(), (sample, inBrackets) => {
        expect(asked(sample, sample.right, inBrackets)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('has a path told that goes wrong at its end', () => {
    const seen = { wrong: 0 };
    holds(
      fc.property(samples, fc.boolean(), (sample, inBrackets) => {
        if (sample.wrong === undefined) return;
        seen.wrong += 1;
        const last = sample.wrong.at(-1);
        expect(asked(sample, sample.wrong, inBrackets)).toMatchObject([
          { field: last && 'field' in last && last.field },
        ]);
      }),
      { numRuns: 500 },
    );
    expect(seen.wrong).toBeGreaterThan(100);
  });
});

describe('a document', () => {
  const kind = { group: 'storage.example.com', version: 'v1', kind: 'Bucket' };

  it('of other kinds has no schema, and one with the kind twice none that counts', () => {
    expect(schemaOfKind(documentOf(manyWays), { ...kind, kind: 'Pail' })).toBeUndefined();
    expect(schemaOfKind(documentOf(manyWays), { ...kind, version: 'v2' })).toBeUndefined();
    const again = { 'x-kubernetes-group-version-kind': [kind] };
    expect(schemaOfKind({ components: { schemas: { A: again, B: again } } }, kind)).toBeUndefined();
  });

  it('that is none at all throws', () => {
    for (const other of [undefined, {}, { components: {} }]) expect(() => schemaOfKind(other, kind)).toThrow();
  });

  it.each<[string, ApiSchema]>([
    ['without properties', { properties: undefined }],
    ['open at its root', { 'x-kubernetes-preserve-unknown-fields': true, properties: { spec: { type: 'object' } } }],
    ['with no type', { type: undefined }],
  ])('%s lets objects have anything', (_what, root) => {
    expect(told('object.spec.a.b', bucketSchema({}, {}, root))).toEqual([]);
    expect(told('object.anything.a', bucketSchema({}, {}, root))).toEqual([]);
  });

  it('that says only what is special about the metadata lets it be whole', () => {
    const root = {
      properties: { metadata: { type: 'object', properties: { name: { maxLength: 3, type: 'string' } } } },
    };
    expect(told('object.metadata.uid + object.kind', bucketSchema({}, {}, root))).toEqual([]);
    expect(told('object.status', bucketSchema({}, {}, root))).toEqual(['object.status']);
  });
});
