/*
 * The bundle of a function of somebody else's project holds what the project wrote: nothing that is known of this project's own
 * files is believed of theirs.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bundle } from '../../infra/bundle.ts';
import { root } from '../support/tracked-files.ts';

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'kit-bundle-'));
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

it('keeps a file of the project that is called as one that our own bundles leave out', async () => {
  const file = join(project, 'functions/handlers/thing/permissions.ts');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "export const permissions = ['only what is theirs'];");
  const text = "export { permissions } from './functions/handlers/thing/permissions.ts';";
  const outfile = join(project, 'build/thing/index.mjs');
  await bundle({ name: 'thing', folder: project, entry: { text }, outfile });
  expect(await import(pathToFileURL(outfile).href)).toMatchObject({ permissions: ['only what is theirs'] });
});

it('takes nothing out of the folder that it writes into but an earlier bundle of the same name', async () => {
  const names = ['diary.txt', 'index.mjs', 'index.mjs.LEGAL.txt', 'index.mjs.map'];
  for (const name of names) writeFileSync(join(project, name), 'of earlier');
  mkdirSync(join(project, 'work'));
  const entry = { text: 'export const made = true;' };
  await bundle({ name: 'thing', folder: project, entry, outfile: join(project, 'index.mjs') });
  expect(readdirSync(project).sort()).toEqual(['diary.txt', 'index.mjs', 'index.mjs.map', 'node_modules', 'work']);
});
