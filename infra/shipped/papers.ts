/*
 * The papers that go with a bundle wherever it is shipped: the licences of the libraries in it and its bill of materials.
 * Called by build.ts for the npm package and by image.ts for the image.
 */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bundle } from '../bundle.ts';
import { packagesOf } from './bundled-packages.ts';
import { noticesOf } from './notices.ts';
import { sbomOf } from './sbom.ts';

/** The licence texts of the libraries. */
const NOTICES_FILE = 'THIRD-PARTY-LICENSES.txt';
/** The bill of materials; by this ending scanners know CycloneDX. */
const SBOM_FILE = 'sbom.cdx.json';

/** What the papers are about. */
export interface PapersRequest {
  readonly bundles: readonly Bundle[];
  /** The folder to write into; it must exist. */
  readonly folder: string;
  /** When the sources are from, in seconds since 1970; without it the bill of materials tells no time. */
  readonly builtAt?: number | undefined;
}

/** Writes both papers. */
export async function writePapers({ bundles, folder, builtAt }: PapersRequest): Promise<void> {
  const packages = packagesOf(bundles);
  const within = bundles.map(({ file }) => `${file}.LEGAL.txt`).filter((file) => existsSync(file));
  const notices = noticesOf(
    packages,
    within.map((file) => readFileSync(file, 'utf8')),
  );
  await writeFile(join(folder, NOTICES_FILE), notices);
  await writeFile(join(folder, SBOM_FILE), sbomOf(packages, builtAt));
}
