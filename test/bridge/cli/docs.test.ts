/*
 * The examples of docs/cli.md: each is run, one after the other in one scene, and says what stands there. Run with
 * UPDATE_DOCS=1 to write what it says now. The scene has a real bridge over fakes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../../bridge/cli/commands.ts';
import type { KubeObject } from '../../../bridge/ports.ts';
import { CommandLine } from '../../support/command-line.ts';
import { commandsOf, pagesFor } from '../../support/document-blocks.ts';
import { RuleScene } from '../../support/rule-scene.ts';
import { root } from '../../support/tracked-files.ts';

const DOCUMENT = join(root, 'docs/cli.md');
const PROTECTION = 'kubernetes.io/pvc-protection';
/** What takes a moment; what takes minutes is told in words. */
const EXAMPLED = ['status', 'explain', 'retry', 'release', 'approve', 'adopt'];
const text = readFileSync(DOCUMENT, 'utf8');
const EXAMPLE = /(?<=^```console\n)\$ finalizer-bridge (.*)\n([\s\S]*?)(?=^```$)/gm;

/** Two buckets that are being deleted, one refused and one over budget, and one live. */
async function scene(): Promise<RuleScene> {
  const made = await RuleScene.start();
  await made.apply({ budget: { limit: 1, window: '1h' } });
  await made.create('live');
  await made.create('logs', { uid: '0b9d2f5a-7c55-4a4e-8a35-5d4f3d0a9c01' });
  await made.create('more', { uid: '6f0b2c1e-90aa-4d0c-9c0e-2f8a7b1d3e55' });
  made.cluster.change('logs', ({ metadata, ...rest }): KubeObject => {
    const fieldsV1 = { 'f:metadata': { 'f:finalizers': { [`v:"${PROTECTION}"`]: {} } } };
    const managedFields = [{ manager: 'kube-apiserver', time: '2026-03-02T09:30:00Z', fieldsV1 }];
    const finalizers = [...(metadata.finalizers ?? []), PROTECTION];
    return { ...rest, metadata: Object.assign({ ...metadata, finalizers }, { managedFields }) };
  });
  await made.delete('logs');
  const message = 'tag finalizer-bridge.dev/owner-uid is missing';
  await made.answer('logs', { outcome: 'refused', reason: 'NotOwned', message });
  await made.delete('more');
  await made.clock.advance(12 * 60_000);
  return made;
}

it('docs/cli.md shows every command, and each says what stands there', async () => {
  const made = await scene();
  const line = new CommandLine(made);
  const examples = [...text.matchAll(EXAMPLE)].map(([, command = '']) => command);
  const pages = pagesFor(import.meta.filename);
  const shown = examples.flatMap(() => commandsOf(pages.next('docs/cli.md')));
  expect([shown, pages.left()]).toEqual([examples.map((example) => `finalizer-bridge ${example}`), []]);
  const headings = [...text.matchAll(/(?<=^## )[a-z-]+$/gm)].map(([name]) => name);
  expect(headings.sort(), 'a heading for each command').toEqual(commands.map(({ name }) => name).sort());
  expect(new Set(examples.map((example) => example.split(' ')[0]))).toEqual(new Set(EXAMPLED));
  const said = new Map<string, string>();
  for (const example of examples) {
    const words = [...example.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
    const { out, err } = await line.run('', ...words);
    said.set(example, [err, out].filter(Boolean).join('\n'));
  }
  await made.stop();
  const now = text.replace(EXAMPLE, (_, command: string) => `$ finalizer-bridge ${command}\n${said.get(command)}\n`);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(DOCUMENT, now);
  expect(now).toBe(readFileSync(DOCUMENT, 'utf8'));
});
