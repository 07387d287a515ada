/*
 * Entry of `node infra/boot.mjs infra/release.ts <tag>`, the first step of .github/workflows/release.yml: holds the tag of a
 * release against every place that names its version, and prints what the changelog says of it, for the release's notes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { runEntry } from './tool.ts';

const root = join(import.meta.dirname, '..');

/** Texts of the files that name the version. */
export interface VersionedFiles {
  readonly packageJson: string;
  readonly dockerfile: string;
  readonly chart: string;
  readonly changelog: string;
}

const manifestSchema = z.object({ version: z.string() });
const chartSchema = z.object({ version: z.string(), appVersion: z.string() });

/**
 * The notes of a release.
 * @throws Error with every place that says something else than the tag
 */
export function releaseNotes(tag: string, files: VersionedFiles): string {
  const version = /^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/.exec(tag)?.[1];
  if (version === undefined) throw new Error(`releasing ${tag}: a tag is v and a version, as in v0.1.0`);
  const chart = chartSchema.parse(parse(files.chart));
  const said = [
    ['package.json', manifestSchema.parse(JSON.parse(files.packageJson)).version],
    ['ARG VERSION of bridge/Dockerfile', /^ARG VERSION=(\S+)$/m.exec(files.dockerfile)?.[1]],
    ['version of infra/chart/Chart.yaml', chart.version],
    ['appVersion of infra/chart/Chart.yaml', chart.appVersion],
  ] as const;
  const faults = said.filter(([, one]) => one !== version).map(([where, one]) => `${where} says ${one}`);
  const notes = sectionOf(files.changelog, version);
  if (notes === '') faults.push(`CHANGELOG.md has no section ## [${version}] with anything in it`);
  if (faults.length > 0) throw new Error(`releasing ${tag}: ${faults.join('; ')}`);
  return notes;
}

/** What stands between the heading of a version and the next one. */
function sectionOf(changelog: string, version: string): string {
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`[${version}]`)) ?? '';
  return section.slice(section.indexOf('\n') + 1).trim();
}

async function main(): Promise<number> {
  const [tag = ''] = process.argv.slice(2);
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const notes = releaseNotes(tag, {
    packageJson: read('package.json'),
    dockerfile: read('bridge/Dockerfile'),
    chart: read('infra/chart/Chart.yaml'),
    changelog: read('CHANGELOG.md'),
  });
  console.log(notes);
  return 0;
}

if (import.meta.main) await runEntry(main);
