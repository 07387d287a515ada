/*
 * What the release workflow holds a tag against: every place that names the version, and the changelog. The tree of today
 * is held against itself as well, so that a version is not raised in one place only.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { releaseNotes } from '../../infra/release.ts';
import { root } from '../support/tracked-files.ts';

const files = {
  packageJson: '{"version":"1.2.3"}',
  dockerfile: 'FROM x\nARG VERSION=1.2.3\n',
  chart: 'version: 1.2.3\nappVersion: 1.2.3\n',
  changelog:
    '# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-02\n\n### Added\n\n- One.\n\n## [1.2.2]\n\n- Old.\n',
};

describe('a release', () => {
  it('has the notes of its section in the changelog', () => {
    expect(releaseNotes('v1.2.3', files)).toBe('### Added\n\n- One.');
  });

  it.each([
    ['package.json', { packageJson: '{"version":"1.2.4"}' }, 'package.json says 1.2.4'],
    ['the Dockerfile', { dockerfile: 'ARG VERSION=1.2.2' }, 'ARG VERSION of bridge/Dockerfile says 1.2.2'],
    ['the Dockerfile, without any', { dockerfile: 'FROM x' }, 'ARG VERSION of bridge/Dockerfile says undefined'],
    ['the chart', { chart: 'version: 1.2.3\nappVersion: 1.2.2\n' }, 'appVersion of infra/chart/Chart.yaml says 1.2.2'],
    ['the changelog', { changelog: '## [Unreleased]\n- One.\n' }, 'has no section ## [1.2.3]'],
    ['an empty section', { changelog: '## [1.2.3]\n\n## [1.2.2]\n- Old.\n' }, 'has no section ## [1.2.3]'],
  ])('is stopped by %s that says otherwise', (_, other, fault) => {
    expect(() => releaseNotes('v1.2.3', { ...files, ...other })).toThrow(fault);
  });

  it.each(['1.2.3', 'v1.2', 'latest', ''])('is not made of the tag %s', (tag) => {
    expect(() => releaseNotes(tag, files)).toThrow('a tag is v and a version');
  });

  it('could be made of the tree, once the changelog has a section: all else agrees', () => {
    const read = (path: string) => readFileSync(join(root, path), 'utf8');
    const packageJson = read('package.json');
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(packageJson));
    const changelog = `## [${version}]\n\n- One.\n`;
    const tree = {
      packageJson,
      dockerfile: read('bridge/Dockerfile'),
      chart: read('infra/chart/Chart.yaml'),
      changelog,
    };
    expect(releaseNotes(`v${version}`, tree)).toBe('- One.');
  });
});
