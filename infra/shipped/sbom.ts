/*
 * The bill of materials of what is shipped: a CycloneDX 1.6 document of the packages that are really in the bundles.
 * Called by build.ts. `npm sbom` knows the lock file only and dates its output; test/infra/papers.slow.test.ts holds the
 * entries here against its. Equal bundles give equal bytes.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { BundledPackage } from './bundled-packages.ts';

const root = join(import.meta.dirname, '../..');
const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  dependencies: z.record(z.string(), z.string()),
});

/** Digests by their names in the lock file. */
const DIGESTS: Readonly<Record<string, string>> = { sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };

/**
 * The document's text.
 * @param builtAt when the sources are from (SOURCE_DATE_EPOCH), seconds since 1970; without it no time is told
 */
export function sbomOf(packages: readonly BundledPackage[], builtAt: number | undefined): string {
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const self = purl(manifest);
  const direct = packages.filter(
    ({ folder, name }) => folder === `node_modules/${name}` && name in manifest.dependencies,
  );
  const contents = {
    metadata: {
      ...(builtAt === undefined ? {} : { timestamp: new Date(builtAt * 1000).toISOString() }),
      lifecycles: [{ phase: 'build' }],
      component: {
        type: 'application',
        'bom-ref': self,
        name: manifest.name,
        version: manifest.version,
        description: manifest.description,
        licenses: licensesOf(manifest.license),
        purl: self,
      },
    },
    components: packages.map(component),
    dependencies: [
      { ref: self, dependsOn: direct.map(({ folder }) => folder) },
      ...packages.map(({ folder, dependsOn }) => ({ ref: folder, dependsOn })),
    ],
  };
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(contents))}`,
    version: 1,
    ...contents,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function component(one: BundledPackage) {
  const { folder, name, version, license, integrity } = one;
  const [group, short] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const [algorithm = '', digest = ''] = integrity.split(' ')[0]?.split('-', 2) ?? [];
  return {
    type: 'library',
    'bom-ref': folder,
    ...(group === undefined ? {} : { group }),
    name: short,
    version,
    licenses: licensesOf(license),
    purl: purl(one),
    hashes: [{ alg: DIGESTS[algorithm] ?? algorithm, content: Buffer.from(digest, 'base64').toString('hex') }],
  };
}

function licensesOf(license: string) {
  return /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];
}

/** The package URL; the @ of a scope is spelled as %40 there. */
function purl({ name, version }: { readonly name: string; readonly version: string }): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** A UUID (version 8) of a text, so that the same contents have the same number. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
