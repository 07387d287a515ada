/*
 * The papers that go with the bundles: the bill of materials, held against what npm says of the same packages, and the
 * licences of all that is in them.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Bundle } from '../../infra/bundle.ts';
import { type BundledPackage, packagesOf } from '../../infra/shipped/bundled-packages.ts';
import { noticesOf } from '../../infra/shipped/notices.ts';
import { sbomOf } from '../../infra/shipped/sbom.ts';
import { bridgeBundle, cliBundle } from '../support/made-once.ts';
import { root } from '../support/tracked-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'papers-test-'));
let bundles: readonly Bundle[];
let packages: readonly BundledPackage[];
beforeAll(async () => {
  const made = [await bridgeBundle(), await cliBundle()];
  bundles = made.flatMap((one) => one.bundles);
  packages = packagesOf(bundles);
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const componentSchema = z.object({
  group: z.optional(z.string()),
  name: z.string(),
  version: z.string(),
  purl: z.string(),
  hashes: z.array(z.object({ alg: z.string(), content: z.string() })),
  licenses: z.array(z.json()),
});
const bomSchema = z.object({
  bomFormat: z.literal('CycloneDX'),
  serialNumber: z
    .string()
    .check(z.regex(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)),
  components: z.array(z.extend(componentSchema, { 'bom-ref': z.string() })),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
const npmSchema = z.object({ components: z.array(componentSchema) });

describe('the bill of materials', () => {
  it('lists what is in the bundles, and none of the packages that only build them', () => {
    const names = bomSchema.parse(JSON.parse(sbomOf(packages, undefined))).components.map(({ purl }) => purl);
    for (const { name, bytesOf } of bundles) {
      const inside = Object.entries(bytesOf).filter(([path, bytes]) => bytes > 0 && path.includes('node_modules/zod/'));
      expect(inside.length, name).toBeGreaterThan(0);
    }
    const has = (name: string) => names.some((purl) => purl.startsWith(`pkg:npm/${name}@`));
    expect(['zod', 'undici', '%40aws-sdk/client-sqs', 'commander'].filter((name) => !has(name))).toEqual([]);
    expect(['esbuild', 'vitest', 'typescript', '%40aws-sdk/client-ec2'].filter(has)).toEqual([]);
  });

  it('says of each what npm says of it', () => {
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(root, file), join(folder, file));
    const asked = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    const npm = new Map(npmSchema.parse(JSON.parse(asked.stdout)).components.map((one) => [one.purl, one]));
    const { components } = bomSchema.parse(JSON.parse(sbomOf(packages, undefined)));
    expect(components.length).toBeGreaterThan(50);
    for (const { group, name, purl, hashes, licenses } of components) {
      const full = group === undefined ? name : `${group}/${name}`;
      expect(npm.get(purl), purl).toMatchObject({ name: full, hashes, licenses });
    }
  }, 600_000);

  it('says who needs whom, each by a name that is listed', () => {
    const { components, dependencies } = bomSchema.parse(JSON.parse(sbomOf(packages, undefined)));
    const refs = new Set(components.map((one) => one['bom-ref']));
    expect(refs.size).toBe(components.length);
    expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);
    const [self] = dependencies;
    expect(self?.ref).toMatch(/^pkg:npm\/finalizer-bridge@/);
    expect(self?.dependsOn).toContain('node_modules/undici');
  });

  it('means the package within where one is there twice, and leaves out what gave no byte', () => {
    const [outer, inner] = ['node_modules/@fastify/ajv-compiler', 'node_modules/fast-uri'];
    const bytesOf = {
      [`${outer}/a.js`]: 1,
      [`${outer}/${inner}/a.js`]: 1,
      [`${inner}/a.js`]: 1,
      'node_modules/ajv/a.js': 0,
    };
    const made = packagesOf([{ name: 'made', file: '', bytes: 3, bytesOf }]);
    expect(made.map(({ folder, dependsOn }) => [folder, dependsOn])).toEqual([
      [outer, [`${outer}/${inner}`]],
      [`${outer}/${inner}`, []],
      [inner, []],
    ]);
  });

  it('has another number for other contents, and tells a time only when it is given one', () => {
    const numberOf = (text: string) => bomSchema.parse(JSON.parse(text)).serialNumber;
    expect(sbomOf(packages, undefined)).not.toContain('timestamp');
    expect(numberOf(sbomOf(packages, undefined))).toBe(numberOf(sbomOf(packages, undefined)));
    expect(numberOf(sbomOf(packages.slice(1), undefined))).not.toBe(numberOf(sbomOf(packages, undefined)));
  });
});

describe('the licences', () => {
  it('name every package in the bundles with a text', () => {
    const notices = noticesOf(packages, ['/*! one line */']);
    const missing = packages.filter(
      ({ name, version, license }) => !notices.includes(`${name} ${version} (${license})\n`),
    );
    expect(missing).toEqual([]);
    expect(notices).toContain('Permission is hereby granted');
    expect(notices).toContain('Notices within the sources\n\n/*! one line */');
  });

  it('have the text that a package without a licence file names, with its author', () => {
    const bytesOf = { 'node_modules/abstract-logging/index.js': 1, 'node_modules/@aws-sdk/nested-clients/a.js': 1 };
    const notices = noticesOf(packagesOf([{ name: 'made', file: '', bytes: 2, bytesOf }]), []);
    expect(notices).toMatch(
      /abstract-logging 2\.[\d.]+ \(MIT\)\n\nThe MIT License\n\nCopyright \(c\) .+\n\nPermission/,
    );
    expect(notices).toMatch(/nested-clients 3[\d.]+ \(Apache-2\.0\)\n\n\s*Apache License\n/);
  });

  it('stop the build at a licence that asks for more', () => {
    const [one] = packages;
    expect(() => noticesOf(one === undefined ? [] : [{ ...one, license: 'AGPL-3.0-only' }], [])).toThrow(
      /@aws-sdk\/client-sqs has AGPL-3\.0-only, which is none of/,
    );
  });
});
