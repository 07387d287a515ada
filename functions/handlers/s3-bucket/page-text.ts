/*
 * A page of versions, out of the text of a listing and into the text of a delete call. Pure. Used by page-commands.ts.
 * Only the plain form is read here, which is what S3 writes: whatever else there is stays in the rest of the text, for the SDK.
 */
import type { Version } from './bucket.ts';

const ENTRY = /<(Version|DeleteMarker)>(.*?)<\/\1>/gs;
/** Text without markup, and without white space, which XML or the SDK read as something else; an encoded key has none. */
const KEY = /<Key>([^<&\s]*)<\/Key>/;
const VERSION_ID = /<VersionId>([^<&\s]*)<\/VersionId>/;
/** How comments and CDATA sections begin, in which what looks like a version is none. */
const HIDING = '<!';

/** What was read of a listing, keys as they are encoded there. */
export interface PageText {
  readonly versions: readonly Version[];
  /** The listing without them. */
  readonly rest: string;
}

/** Takes the versions and delete markers out of a listing. Whether it came to its end shows in the rest. */
export function takeVersions(listing: string): PageText {
  if (listing.includes(HIDING)) return { versions: [], rest: listing };
  const versions: Version[] = [];
  const rest = listing.replace(ENTRY, (entry) => {
    const [, Key] = KEY.exec(entry) ?? [];
    const [, VersionId] = VERSION_ID.exec(entry) ?? [];
    if (Key === undefined || VersionId === undefined) return entry;
    versions.push({ Key, VersionId });
    return '';
  });
  return { versions, rest };
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' },
  ...{ '\r': '&#x0D;', '\n': '&#x0A;', '\u0085': '&#x85;', '\u2028': '&#x2028;' },
};

/** The body of a delete call that answers with errors only. */
export function deletionText(versions: readonly Version[]): string {
  const objects = versions.map(({ Key, VersionId }) => {
    const version = VersionId === undefined ? '' : `<VersionId>${escaped(VersionId)}</VersionId>`;
    return `<Object><Key>${escaped(Key)}</Key>${version}</Object>`;
  });
  const root = '<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">';
  return `<?xml version="1.0" encoding="UTF-8"?>${root}${objects.join('')}<Quiet>true</Quiet></Delete>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"'\r\n\u0085\u2028]/g, (character) => ESCAPES[character] ?? character);
}
