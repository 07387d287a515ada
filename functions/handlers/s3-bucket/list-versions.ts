/*
 * Lists the versions and delete markers of a bucket for delete-versions.ts. A listing that goes on and on is split into the
 * prefixes in which the rest of the keys lies, and several of them are listed at a time. Splitting only makes it faster:
 * whatever it overlooks is found by the next pass.
 */
import type { ListObjectVersionsCommandInput } from '@aws-sdk/client-s3';
import { gone } from '../../handler.ts';
import { createMarks } from '../../marks.ts';
import { type Bucket, decodeKey, eachBounded, type Pass, type Version } from './bucket.ts';
import { listVersionsCommand } from './page-commands.ts';

const LISTS_IN_FLIGHT = 4;
/** Pages of 1,000 after which a listing that runs alone is split. */
const PAGES_BEFORE_SPLIT = 8;
const PARTS_MAX = 16;
/** Sorts after every key that begins with what stands before it. */
const LAST = '\u{10ffff}';

/** A part of a listing: which keys, and after which version. */
export type Range = Pick<ListObjectVersionsCommandInput, 'Prefix' | 'KeyMarker' | 'VersionIdMarker'>;

/** What to do with a page, and when to stop. */
export interface Walk {
  /** Resolves when there is room for the next page. */
  readonly onPage: (page: readonly Version[]) => Promise<void>;
  readonly isEnded: () => boolean;
}

/** Walks all versions once. @throws CallFailed, OutOfTime */
export async function walkVersions(bucket: Bucket, pass: Pass, { onPage, isEnded }: Walk): Promise<void> {
  let running = 0;
  const walk = async (range: Range): Promise<void> => {
    let parts: readonly Range[] = [];
    running += 1;
    try {
      const mark = createMarks(`listing versions of ${bucket.name}`);
      let next: Range | undefined = range;
      for (let pages = 1; next !== undefined && !isEnded(); pages += 1) {
        const { page, after }: ListedPage = await listPage(bucket, pass, next);
        if (page.length > 0) await onPage(page);
        next = after;
        if (next !== undefined) mark(JSON.stringify(next));
        if (next === undefined || running > 1 || pages % PAGES_BEFORE_SPLIT !== 0 || isEnded()) continue;
        parts = await split(bucket, next);
        if (parts.length > 1) break;
      }
    } finally {
      running -= 1;
    }
    if (parts.length > 1) await eachBounded(parts, LISTS_IN_FLIGHT, walk);
  };
  await walk({});
}

interface ListedPage {
  readonly page: readonly Version[];
  readonly after: Range | undefined;
}

/** One page; both markers are paged, keys come url-encoded. */
async function listPage(bucket: Bucket, pass: Pass, range: Range): Promise<ListedPage> {
  const answer = await list(bucket, { ...range, MaxKeys: 1000 });
  if (answer.means === 'gone') pass.stop ??= gone('deleted');
  if (answer.means === 'gone') return { page: [], after: undefined };
  if (answer.means !== 'done') throw new Error(`listing versions of ${bucket.name}: ${answer.code}`);
  const { IsTruncated, NextKeyMarker, NextVersionIdMarker, EncodingType } = answer.value;
  const page = versionsOf(answer.value);
  pass.seen += page.length;
  if (!IsTruncated || NextKeyMarker === undefined) return { page, after: undefined };
  const KeyMarker = decodeKey(NextKeyMarker, EncodingType);
  return { page, after: { ...range, KeyMarker, VersionIdMarker: NextVersionIdMarker || undefined } };
}

function list({ look, objects }: Bucket, range: Range & { readonly MaxKeys: number }) {
  return look('s3:ListObjectVersions', listVersionsCommand({ ...objects, ...range, EncodingType: 'url' }));
}

interface ListedVersion {
  readonly Key?: string | undefined;
  readonly VersionId?: string | undefined;
}

interface Listed {
  readonly Versions?: readonly ListedVersion[] | undefined;
  readonly DeleteMarkers?: readonly ListedVersion[] | undefined;
  readonly EncodingType?: string | undefined;
}

function versionsOf({ Versions = [], DeleteMarkers = [], EncodingType }: Listed): readonly Version[] {
  return [...Versions, ...DeleteMarkers].flatMap(({ Key, VersionId }) =>
    Key === undefined ? [] : [{ Key: decodeKey(Key, EncodingType), VersionId }],
  );
}

/**
 * The parts in which the rest of a range lies: the shortest prefixes of equal length that tell its keys apart, found by
 * asking for one key each. One part, or none, if there is nothing to split.
 */
async function split(bucket: Bucket, range: Range): Promise<readonly Range[]> {
  const { Prefix, KeyMarker = '' } = range;
  const here = [...KeyMarker];
  const firstAfter = async (prefix: string): Promise<string | undefined> => {
    const answer = await list(bucket, { Prefix, KeyMarker: prefix + LAST, MaxKeys: 1 });
    return answer.means === 'done' ? versionsOf(answer.value)[0]?.Key : undefined;
  };
  const start = (key: readonly string[], length: number) => key.slice(0, length).join('');
  // The longer the prefix, the more lies after it: the shortest one that anything lies after is looked for.
  let [shortest, longest] = [[...(Prefix ?? '')].length + 1, here.length];
  let next = await firstAfter(start(here, longest));
  if (next === undefined) return [];
  while (shortest < longest) {
    const middle = Math.floor((shortest + longest) / 2);
    const found = await firstAfter(start(here, middle));
    if (found === undefined) shortest = middle + 1;
    else [longest, next] = [middle, found];
  }
  const parts: Range[] = [{ ...range, Prefix: start(here, longest) }];
  while (next !== undefined && parts.length < PARTS_MAX) {
    const prefix: string = start([...next], longest);
    parts.push({ Prefix: prefix });
    next = await firstAfter(prefix);
  }
  const last = parts.at(-1)?.Prefix ?? '';
  return next === undefined ? parts : [...parts, { Prefix, KeyMarker: last + LAST }];
}
