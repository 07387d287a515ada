/*
 * The definition of TeardownRule without a server: its files are current, its shape is that of the bridge's schema, and
 * all of it is bounded and explained. What both take and refuse is compared on the real API server (e2e/crd-agreement).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { teardownRuleSpec } from '../../bridge/rule-schema.ts';
import { DEFINITION_PATH, ruleDefinition, ruleSchema } from '../../infra/crd/definition.ts';
import { ruleFiles } from '../../infra/crd/files.ts';
import type { Schema } from '../../infra/crd/schema.ts';
import { specSchema } from '../../infra/crd/spec-schema.ts';

const root = join(import.meta.dirname, '../..');

/** A node with its path, and all below it. */
function nodesOf(schema: Schema, path = 'rule'): readonly (readonly [path: string, node: Schema])[] {
  return [
    [path, schema],
    ...Object.entries(schema.properties ?? {}).flatMap(([key, node]) => nodesOf(node, `${path}.${key}`)),
    ...(schema.items ? nodesOf(schema.items, `${path}[]`) : []),
    ...(schema.additionalProperties ? nodesOf(schema.additionalProperties, `${path}.*`) : []),
  ];
}

const shape = z.looseObject({
  type: z.optional(z.string()),
  enum: z.optional(z.array(z.unknown())),
  required: z._default(z.array(z.string()), []),
  properties: z.optional(z.record(z.string(), z.unknown())),
  items: z.optional(z.unknown()),
  additionalProperties: z.optional(z.unknown()),
});

/** Types, fields, required fields and choices of a schema, whoever wrote it; what is in options is open. */
function outline(schema: unknown): unknown {
  const { type, enum: words, required, properties, items, additionalProperties } = z.parse(shape, schema);
  const isMap = typeof additionalProperties === 'object' && !properties;
  const fields = Object.entries(properties ?? {}).map(([key, node]) => [
    key,
    key === 'options' ? 'open' : outline(node),
  ]);
  return {
    type,
    ...(words && { words }),
    ...(required.length > 0 && { required: [...required].sort() }),
    ...(fields.length > 0 && { fields: Object.fromEntries(fields) }),
    ...(items !== undefined && { items: outline(items) }),
    ...(isMap && { values: outline(additionalProperties) }),
  };
}

const nodes = nodesOf(ruleSchema);
const ours = nodes.filter(([path]) => !/^rule\.(metadata|apiVersion|kind)$/.test(path));

describe('the definition', () => {
  it.each(ruleFiles())('has not drifted from $path: else run npm run crd', ({ path, text }) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });

  it('is among the generated files, for the kind that rules have', () => {
    expect(ruleFiles().map(({ path }) => path)).toContain(DEFINITION_PATH);
    expect(ruleDefinition.metadata.name).toBe('teardownrules.finalizer-bridge.dev');
  });

  it("has the bridge's fields, required fields, types and choices", () => {
    expect(outline(specSchema)).toEqual(outline(z.toJSONSchema(teardownRuleSpec, { io: 'input' })));
  });

  it('has defaults that mean what the bridge takes for granted', () => {
    const { match, handler, target } = {
      match: { group: '', version: 'v1', resource: 'pods' },
      handler: 'h',
      target: { a: 'object.a' },
    };
    const defaults = Object.entries(specSchema.properties ?? {}).flatMap(([key, node]) =>
      node.default === undefined ? [] : [[key, node.default]],
    );
    const least = { match, handler, target };
    const parsed = (spec: unknown): unknown => JSON.parse(JSON.stringify(teardownRuleSpec.parse(spec)));
    expect(parsed({ ...least, ...Object.fromEntries(defaults) })).toEqual(parsed(least));
    expect(defaults.map(([key]) => key)).toEqual(
      Object.keys(teardownRuleSpec.parse(least)).filter((key) => !(key in least)),
    );
  });
});

describe('every part of the definition', () => {
  it.each(ours)('%s is explained in whole sentences', (_path, { description = '' }) => {
    expect(description).toMatch(/^["`A-Z].*\.$/s);
  });

  it.each(ours)('%s is bounded, so that checking it costs little', (path, node) => {
    if (node.type === 'string' && node.enum === undefined && node.format === undefined) {
      expect(node.maxLength).toBeGreaterThan(0);
    }
    if (node.type === 'array') expect(node.maxItems).toBeGreaterThan(0);
    if (node.additionalProperties) expect(node.maxProperties).toBeGreaterThan(0);
    if (node['x-kubernetes-preserve-unknown-fields']) {
      expect(['rule.spec.options', 'rule.status.lastAccepted.spec']).toContain(path);
    }
  });

  it.each(
    ours.flatMap(([path, node]) =>
      (node['x-kubernetes-validations'] ?? []).map((validation) => ({ path, ...validation })),
    ),
  )('$path says in words what is wrong: $message', ({ message }) => {
    expect(message).toMatch(/ /);
    expect(message).not.toMatch(/self|matches\(|\^/);
  });
});
