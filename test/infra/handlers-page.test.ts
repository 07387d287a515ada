/*
 * docs/handlers.md held to the handlers: its facts are those of today's schemas, permissions and sources, and each handler
 * has more than facts. The messages that it shows are of the shape that is sent.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { registry } from '../../functions/registry.ts';
import { factsOf, HANDLERS_PAGE, handlersPage, withFacts } from '../../infra/handlers-page.ts';
import { root } from '../support/tracked-files.ts';
import { askedSchema } from '../support/webhook-endpoint.ts';

const page = readFileSync(join(root, HANDLERS_PAGE), 'utf8');
const sections = new Map(page.split('\n## ').map((section) => [section.split('\n')[0], section]));

it('has the facts that the sources give; npm run schemas writes them', () => {
  expect(handlersPage().text).toBe(page);
});

it.each(registry)('says more of $name than its facts', ({ name }) => {
  const written = sections.get(name)?.split(/<!-- [\s\S]*?-->[\s\S]*?<!-- end [\s\S]*? -->/) ?? [];
  expect(written).toHaveLength(2);
  for (const text of written) expect(text.length).toBeGreaterThan(60);
});

it('would show another field, permission, reason, and a handler without a section', () => {
  const [first] = registry;
  if (first === undefined) throw new Error('reading the registry: it is empty');
  const field = z.strictObject({ ids: z.record(z.string(), z.strictObject({ a: z.optional(z.string()) })) });
  const changed = {
    ...first,
    schemas: { ...first.schemas, target: field },
    permissions: [{ actions: ['thing:Delete'], resources: () => ['*'] }],
    errors: { 'thing:Delete': { Locked: { means: 'refused', reason: 'ThingLocked' } } },
  } as const;
  const said = factsOf(changed);
  for (const fact of ['`ids.<name>.a?`', '`thing:Delete`', '`ThingLocked`']) expect(said).toContain(fact);
  expect(handlersPage([changed]).text).not.toBe(page);
  expect(withFacts('# Handlers\n', changed)).toBe(
    `# Handlers\n\n## ${first.name}\n\n<!-- facts of ${first.name}: made by npm run schemas -->\n${said}<!-- end of the facts of ${first.name} -->\n`,
  );
});

it('shows a request to a webhook as it is sent', () => {
  const [, example = ''] = /```json\n(\{\n {2}"type": "dev\.finalizer-bridge\.webhook[\s\S]*?)```/.exec(page) ?? [];
  expect(askedSchema.safeParse(JSON.parse(example)).error).toBeUndefined();
});
