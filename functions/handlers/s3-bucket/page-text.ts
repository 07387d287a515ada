/*
 * A page of versions, out of the text of a listing and into the text of a delete call. Pure. Used by page-commands.ts.
 * Only the plain form is read here, which is what S3 writes: whatever else there is stays in the rest of the text, for the SDK.
 */
import type { Version } from './bucket.ts';

/** What comes before the first element inside of the root. */
const START = /^\ufeff?(?:<\?[^<>]*\?>)?\s*<(\w+)[^<>]*>/;
/**
 * An element inside of the root, without attributes: a version or a delete marker, whose elements hold text or such elements, which
 * are no key and no version id; or another one, which holds text.
 */
const ELEMENT =
  /\s*<(?:(Version|DeleteMarker)>(?:\s*<(?:\w+ ?\/>|(\w+)>(?:[^<]*|(?:\s*<(?!Key>|VersionId>)(\w+)>[^<]*<\/\3>)+\s*)<\/\2>))*\s*<\/\1>|\w+ ?\/>|(\w+)>[^<]*<\/\4>)/gy;
/** Text without markup, and without white space, which XML or the SDK read as something else; an encoded key has none. */
const VALUE = /^>([^<&\s]*)<\//;

/** What was read of a listing, keys as they are encoded there. */
export interface PageText {
  readonly versions: readonly Version[];
  /** The listing without them. */
  readonly rest: string;
}

/**
 * Takes the versions and delete markers out of a listing. Whether it came to its end shows in the rest, which is all of it where
 * anything in it stands otherwise than S3 writes it.
 */
export function takeVersions(listing: string): PageText {
  const [start = '', root] = START.exec(listing) ?? [];
  const inside = listing.slice(start.length);
  const versions: Version[] = [];
  let rest = start;
  let end = 0;
  for (const [text, kind] of inside.matchAll(ELEMENT)) {
    end += text.length;
    const Key = valueIn(text, '<Key');
    const VersionId = valueIn(text, '<VersionId');
    if (kind === undefined || Key === undefined || VersionId === undefined) rest += text;
    else versions.push({ Key, VersionId });
  }
  const after = inside.slice(end);
  return after.trim() === `</${root}>` ? { versions, rest: rest + after } : { versions: [], rest: listing };
}

/** The value of what an entry has once. */
function valueIn(entry: string, tag: string): string | undefined {
  const [, rest, more] = entry.split(tag);
  return rest === undefined || more !== undefined ? undefined : VALUE.exec(rest)?.[1];
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
