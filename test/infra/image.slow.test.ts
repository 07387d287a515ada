/*
 * The files of the image as `npm run image` lays them out: which, with what modes and times, and the same bytes each time.
 * That bridge/Dockerfile makes these very files of them is shown in test/infra/dockerfile.slow.test.ts.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../bridge/contract.ts';
import { buildImage, sourceDate } from '../../infra/image.ts';

const folder = mkdtempSync(join(tmpdir(), 'image-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const BUILD_TIME_MS = 600_000;
/** 2026-02-03T04:05:06Z */
const EPOCH = 1_770_091_506;

const facts = (outDir: string, files: readonly string[]) =>
  files.map((file) => {
    const { mode, mtimeMs } = statSync(join(outDir, file));
    return [file, (mode & 0o777).toString(8), mtimeMs / 1000, sha256Hex(readFileSync(join(outDir, file), 'utf8'))];
  });

describe('the files of the image', () => {
  it(
    'are two bundles, licences and a bill of materials, the same in bytes, modes and times when they are made again',
    async () => {
      const [first, second] = [join(folder, 'first'), join(folder, 'second')];
      const files = await buildImage({ outDir: first, builtAt: EPOCH });
      expect(files).toEqual([
        'app/LICENSE',
        'app/THIRD-PARTY-LICENSES.txt',
        'app/cli/main.mjs',
        'app/main.mjs',
        'app/sbom.cdx.json',
      ]);
      const made = facts(first, files);
      expect(made.map(([, mode, time]) => [mode, time])).toEqual(files.map(() => ['444', EPOCH]));
      const folderOf = statSync(join(first, 'app'));
      // Who is not root could not remove them otherwise, nor make them again.
      expect([(folderOf.mode & 0o777).toString(8), folderOf.mtimeMs / 1000]).toEqual(['755', EPOCH]);
      expect(facts(second, await buildImage({ outDir: second, builtAt: EPOCH }))).toEqual(made);
      // What is shipped tells when its sources are from, and nothing of when or where it was made.
      expect(readFileSync(join(first, 'app/sbom.cdx.json'), 'utf8')).toContain(
        '"timestamp": "2026-02-03T04:05:06.000Z"',
      );
    },
    BUILD_TIME_MS,
  );

  it.each([
    [undefined, undefined],
    ['', undefined],
    ['1770091506', EPOCH],
  ])('take SOURCE_DATE_EPOCH %s for %s', (text, seconds) => {
    expect(sourceDate({ SOURCE_DATE_EPOCH: text })).toBe(seconds);
  });

  it.each(['yesterday', '-1', '1.5'])('are not made with SOURCE_DATE_EPOCH %s', (text) => {
    expect(() => sourceDate({ SOURCE_DATE_EPOCH: text })).toThrow('is no number of seconds');
  });
});
