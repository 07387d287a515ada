/*
 * The licences of the libraries in a bundle, as one text file that is shipped beside it. Called by build.ts.
 * Each text stands once, under the names of all packages that carry exactly it. A package whose licence is not one of
 * those that ask for no more than this file stops the build: a person has to look.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { BundledPackage } from './bundled-packages.ts';

const root = join(import.meta.dirname, '../..');

/** Licences that ask for nothing but their text and the notices of their authors. */
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense'];
const LICENSE_FILE = /^(licen[cs]e|notice|copying)/i;
const RULER = '='.repeat(80);

const personSchema = z.union([z.string(), z.object({ name: z.optional(z.string()) })]);
const manifestSchema = z.object({ author: z.optional(personSchema) });

/** The MIT licence below its line of copyright, for a package that names it and carries no text. */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;

/**
 * The text of the file.
 * @param within notices that stand in the sources themselves, as the bundler collected them
 * @throws Error naming the package whose licence nobody has looked at, or that has none
 */
export function noticesOf(packages: readonly BundledPackage[], within: readonly string[]): string {
  const byText = new Map<string, string[]>();
  for (const one of packages) {
    const text = licenseText(one);
    byText.set(text, [...(byText.get(text) ?? []), `${one.name} ${one.version} (${one.license})`]);
  }
  return [
    'Finalizer Bridge is licensed under the Apache License 2.0. Its bundles hold parts of the libraries below.',
    ...[...byText].map(([text, names]) => `${RULER}\n${[...new Set(names)].join('\n')}\n\n${text}`),
    ...within.map((text) => `${RULER}\nNotices within the sources\n\n${text.trim()}`),
    '',
  ].join('\n\n');
}

function licenseText({ folder, name, license }: BundledPackage): string {
  if (!PERMISSIVE.includes(license)) {
    throw new Error(`collecting the licences: ${name} has ${license}, which is none of ${PERMISSIVE.join(', ')}`);
  }
  const files = readdirSync(join(root, folder)).filter((file) => LICENSE_FILE.test(file));
  if (files.length === 0) return standardText(folder, name, license);
  const texts = files.sort().map((file) => readFileSync(join(root, folder, file), 'utf8'));
  return texts.map((text) => text.replaceAll('\r\n', '\n').trim()).join('\n\n');
}

/** What a package means that names its licence in its package.json and carries no text of it. */
function standardText(folder: string, name: string, license: string): string {
  if (license === 'Apache-2.0') return readFileSync(join(root, 'LICENSE'), 'utf8').trim();
  if (license !== 'MIT') throw new Error(`collecting the licences: ${name} carries no text of its ${license}`);
  const { author } = manifestSchema.parse(JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')));
  const whose = typeof author === 'string' ? author : author?.name;
  return `The MIT License\n\nCopyright (c) ${whose ?? `the authors of ${name}`}\n\n${MIT.trim()}`;
}
