/*
 * Zips one function's bundle for Lambda. Called by infra/package for each handler, before the framework runs.
 * Done here and not by the framework, which would search the whole tree (node_modules too) once per function.
 * Equal bundles give equal bytes, so that an unchanged function is not deployed again.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import yazl from 'yazl';

/** Before the earliest date that a zip can hold: it is written as that, the same in every time zone. */
const BUNDLE_TIME = new Date(0);
/** World-readable: Lambda runs the code as another user. */
const BUNDLE_MODE = 0o100644;

/** A zip with one file in it. */
export interface Archive {
  /** The file to pack. */
  readonly bundle: string;
  /** Its name inside. */
  readonly entry: string;
  /** The zip to write; its folder must exist. */
  readonly archive: string;
}

/** Writes a zip with one file in it; equal contents give equal bytes. */
export async function writeArchive({ bundle, entry, archive }: Archive): Promise<void> {
  const zip = new yazl.ZipFile();
  zip.addBuffer(await readFile(bundle), entry, {
    mtime: BUNDLE_TIME,
    mode: BUNDLE_MODE,
    compress: true,
    forceDosTimestamp: true,
  });
  zip.end();
  await writeFile(archive, await buffer(zip.outputStream));
}
