/*
 * Every link from one document of the tree to another: the file must exist, and so must the heading behind a `#`, by the
 * rules by which forges make anchors of headings.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { root, trackedFiles } from './support/tracked-files.ts';

const documents = trackedFiles().filter((path) => path.endsWith('.md'));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** As a heading is linked to: lower case, without what is neither letter, digit, dash nor blank, blanks as dashes. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = read(path)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .match(/^#+ .*$/gm);
  const names = (headings ?? []).map((heading) =>
    heading
      .replace(/^#+ /, '')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replace(/ /g, '-'),
  );
  return new Set(names.map((name, at) => (names.indexOf(name) === at ? name : `${name}-1`)));
}

interface Link {
  readonly from: string;
  readonly to: string;
  readonly anchor: string;
}

function linksOf(from: string): readonly Link[] {
  const found = read(from)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)/g);
  return [...found].map(([, path = '', anchor = '']) => ({
    from,
    to: path === '' ? from : join(dirname(from), path),
    anchor,
  }));
}

it('links between documents lead to files and headings that exist', () => {
  const links = documents.flatMap(linksOf);
  expect(links.length).toBeGreaterThan(30);
  const isBroken = ({ to, anchor }: Link) =>
    !existsSync(join(root, to)) || (anchor !== '' && to.endsWith('.md') && !anchorsOf(to).has(anchor));
  expect(links.filter(isBroken)).toEqual([]);
});
