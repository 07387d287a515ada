/*
 * What the documents say, held against the tree: the handler in docs/write-a-handler.md compiles, the ids that tests name can be
 * looked up, and files that are named exist.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, trackedFiles } from './support/tracked-files.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('docs/write-a-handler.md', () => {
  const [example = ''] = /(?<=^```ts\n)[\s\S]*?(?=^```$)/m.exec(read('docs/write-a-handler.md')) ?? [];

  /** What the compiler says of a handler, with the settings of the tree. */
  function complaintsOf(handler: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'docs-test-'));
    try {
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
      writeFileSync(
        join(folder, 'handler.ts'),
        handler.replaceAll("'finalizer-bridge/functions'", `'${root}/functions/index.ts'`),
      );
      const tsconfig = { extends: join(root, 'tsconfig.json'), include: [], exclude: [], files: ['handler.ts'] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      return spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  it('shows a handler that compiles as it stands', () => {
    expect(complaintsOf(example)).toBe('');
  }, 60_000);

  it('would be found out if it did not', () => {
    expect(complaintsOf(example.replace('region: regionSchema', 'region: regionsSchema'))).toContain('regionsSchema');
  }, 60_000);
});

describe('docs/promises.md', () => {
  const rows = new Set(read('docs/promises.md').match(/(?<=^\| )[KQFCVP]\d+(?= \|)/gm));
  const named = trackedFiles()
    .filter((path) => path.startsWith('test/') && path.endsWith('.ts'))
    .flatMap((path) => [...read(path).matchAll(/\b[KQFCVP]\d{1,2}\b/g)].map(([id]) => ({ id, path })));

  it('has every id that a test names', () => {
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter(({ id }) => !rows.has(id))).toEqual([]);
  });
});

describe('docs/security.md', () => {
  it('names for every claim about a threat the test or the code that holds it', () => {
    const [threats = ''] = /(?<=^## Threats\n)[\s\S]*?(?=^## )/m.exec(read('docs/security.md')) ?? [];
    const rows = threats.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| tries to'));
    expect(rows.length).toBeGreaterThan(25);
    const held = /`(?:test|bridge|\.github)\/[^`]+` \|$|`package-lock\.json`, `test\/[^`]+` \|$/;
    expect(rows.filter((row) => !held.test(row))).toEqual([]);
  });
});

it.each([
  'README.md',
  'CONTRIBUTING.md',
  'docs/benchmarks.md',
  'docs/deploy.md',
  'docs/releases.md',
  'docs/promises.md',
  'docs/leaving.md',
  'docs/security.md',
  'docs/verified.md',
])('%s names only files that exist', (document) => {
  const named = [...read(document).matchAll(/`((?:bridge|functions|infra|test|docs)\/[\w./-]*\w)`/g)];
  const paths = named.map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
