/*
 * The commands by which s3-bucket lists and deletes pages, beside the SDK's own: whatever S3 answers, both read the same, and
 * what they send is the same, byte by byte. Against a scripted S3.
 */
import {
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  S3Client,
} from '@aws-sdk/client-s3';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { deleteVersionsCommand, listVersionsCommand } from '../../functions/handlers/s3-bucket/page-commands.ts';
import { takeVersions } from '../../functions/handlers/s3-bucket/page-text.ts';
import { deleteResult, type Reply, s3Error, versions, xml } from '../support/scripted-aws.ts';
import { REGION } from './fixtures.ts';
import { scriptedAws } from './scripted.ts';

const RUNS = 60;
const Bucket = 'team-a-logs';

const aws = await scriptedAws();
const s3 = new S3Client({ endpoint: aws.endpoint, region: REGION, forcePathStyle: true, maxAttempts: 1 });
afterAll(() => s3.destroy());

const pairs = (list: readonly { readonly Key?: string | undefined; readonly VersionId?: string | undefined }[] = []) =>
  list.map(({ Key, VersionId }) => JSON.stringify([Key, VersionId])).sort();

/** What was read of an answer: versions and delete markers together, markers for paging, or the error's name. */
async function read(answer: Promise<ListObjectVersionsCommandOutput>): Promise<unknown> {
  try {
    const { Versions, DeleteMarkers, IsTruncated, NextKeyMarker, NextVersionIdMarker, EncodingType } = await answer;
    const listed = [...pairs(Versions), ...pairs(DeleteMarkers)].sort();
    return { listed, IsTruncated, NextKeyMarker, NextVersionIdMarker, EncodingType };
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
}

async function bothRead(reply: Reply): Promise<readonly [ours: unknown, theirs: unknown]> {
  aws.on('s3:ListObjectVersions', reply);
  const ours = await read(s3.send(listVersionsCommand({ Bucket })));
  return [ours, await read(s3.send(new ListObjectVersionsCommand({ Bucket })))];
}

const listing = (inside: string) =>
  xml(`<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inside}</ListVersionsResult>`);
const entry = (inside: string, name = 'Version') => `<${name}>${inside}</${name}>`;
const plain = entry('<ETag>&quot;e&quot;</ETag><Key>a/b</Key><Size>1</Size><VersionId>v1</VersionId>');

describe('a listing', () => {
  it('gives its plain versions and delete markers away, and leaves nothing of them to the SDK', () => {
    const list = Array.from({ length: 1000 }, (_, at) => ({ key: `k ${at}`, versionId: 'v', isMarker: at % 3 === 0 }));
    const reply = versions(list, { key: 'k 999', versionId: 'v' });
    const page = takeVersions(reply === 'hangUp' ? '' : reply.body);
    expect(page.versions).toHaveLength(1000);
    expect(page.rest).not.toContain('<Key>');
    expect(page.rest).toContain('<NextKeyMarker>k+999</NextKeyMarker>');
  });

  it('is asked for by a command that has the SDK read nothing else of a version', async () => {
    aws.on('s3:ListObjectVersions', listing(plain));
    const { Versions } = await s3.send(listVersionsCommand({ Bucket }));
    expect(Versions).toEqual([{ Key: 'a/b', VersionId: 'v1' }]);
  });

  it.each([
    ['of both kinds', `${plain}${entry('<Key>b</Key><VersionId>null</VersionId>', 'DeleteMarker')}`],
    ['with a key that is escaped', entry('<Key>a&amp;b&#x3C;</Key><VersionId>v</VersionId>')],
    ['with a key in a CDATA section', entry('<Key><![CDATA[<Key>x</Key></Version>]]></Key><VersionId>v</VersionId>')],
    ['with a version in a comment', `<!-- ${plain} -->${plain}`],
    ['over several lines', plain.replaceAll('><', '>\r\n  <')],
    ['with a carriage return in a key', entry('<Key>a\r\nb\rc</Key><VersionId>v</VersionId>')],
    ['with a key of white space alone', entry('<Key>\n</Key><VersionId>\n</VersionId>')],
    ['without a version id', entry('<Key>a</Key>')],
    ['with an empty version id', `${entry('<Key>a</Key><VersionId/>')}${entry('<Key>b</Key><VersionId></VersionId>')}`],
    ['without a key', entry('<VersionId>v</VersionId>')],
    ['with attributes', entry('<Key a="1">a</Key><VersionId>v</VersionId>')],
    [
      'with an owner',
      entry('<Key>a</Key><VersionId>v</VersionId><Owner><ID>i</ID><DisplayName>d</DisplayName></Owner>'),
    ],
    ['with prefixes', `<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>${plain}`],
    ['with letters beyond the alphabet', entry('<Key>ä/é/😀</Key><VersionId>v</VersionId>')],
    [
      'with a key of dots',
      ['.', '..', 'a/../b'].map((key) => entry(`<Key>${key}</Key><VersionId>v</VersionId>`)).join(''),
    ],
    ['with an empty key', entry('<Key></Key><VersionId>v</VersionId>')],
    ['with an empty element for a key', entry('<Key/><VersionId>v</VersionId>')],
    ['with an empty element for a version', `<Version/>${plain}`],
    ['with keys that look like other values', entry('<Key>00123</Key><VersionId>false</VersionId>')],
    ['with a key named as what objects inherit', entry('<Key>__proto__</Key><VersionId>constructor</VersionId>')],
    ['with quotes and brackets in a key', entry(`<Key>a>b"c'd</Key><VersionId>v</VersionId>`)],
    ['with white space that is no ASCII', entry('<Key>a\u00a0b\u0085c</Key><VersionId>v</VersionId>')],
    ['with a namespace prefix on some', `${plain}<s3:Version><Key>x</Key><VersionId>v</VersionId></s3:Version>`],
    ['with a namespace prefix on a key', entry('<s3:Key>x</s3:Key><VersionId>v</VersionId>')],
    ['with a namespace of its own', '<Version xmlns="x"><Key>x</Key><VersionId>v</VersionId></Version>'],
    ['with white space in tags', '<Version ><Key >x</Key ><VersionId >v</VersionId ></Version >'],
    ['with an entity that nobody declares', entry('<Key>a</Key><VersionId>v</VersionId><ETag>&e;</ETag>')],
    [
      'that is encoded, with encoded markers',
      `<EncodingType>url</EncodingType><NextKeyMarker>a%2Fb+c</NextKeyMarker>${entry('<Key>a%zz+b</Key><VersionId>v</VersionId>')}`,
    ],
    ['that is empty', ''],
  ])('%s is read as the SDK reads it', async (_what, inside) => {
    const [ours, theirs] = await bothRead(listing(`<IsTruncated>false</IsTruncated>${inside}`));
    expect(ours).toEqual(theirs);
    expect(ours).toHaveProperty('listed');
  });

  it.each([
    ['an error in an answer of 200', xml('<Error><Code>InternalError</Code></Error>')],
    ['a listing that ends in the middle', xml(`<ListVersionsResult>${plain}<Version><Key>b`)],
    ['a listing that ends in its last tag', xml(`<ListVersionsResult>${plain}</ListVersionsRes`)],
    ['a listing that ends between two versions', xml(`<ListVersionsResult>${plain}`)],
    ['an error', s3Error(404, 'NoSuchBucket')],
  ])('%s is no page', async (_what, reply) => {
    const [ours, theirs] = await bothRead(reply);
    expect(ours).toBe(theirs);
    expect(ours).toBeTypeOf('string');
  });

  it.each([
    ['after a byte order mark', (text: string) => `\ufeff${text}`],
    ['with a line end after each tag', (text: string) => text.replaceAll('>', '>\r\n')],
    ['with a prefix on each tag', (text: string) => text.replaceAll(/<(\/?)(?=[A-Z])/g, '<$1s3:')],
  ])('%s is read as the SDK reads it', async (_what, written) => {
    const { body, ...rest } = Object(listing(`${plain}<IsTruncated>true</IsTruncated>`));
    const [ours, theirs] = await bothRead({ ...rest, body: written(body) });
    expect(ours).toEqual(theirs);
  });

  it.each([
    ['with a version in a processing instruction', `<?x ${plain}?>${plain}`],
    ['with a key in one', entry('<?x <Key>q</Key>?><Key>a</Key><VersionId>v</VersionId>')],
    ['with a version in another', `<Version>${plain}<Key>x</Key><VersionId>w</VersionId></Version>`],
    ['with a version in a prefix', `<CommonPrefixes>${plain}</CommonPrefixes>`],
    ['with a delete marker in a version', entry(`<Key>x</Key>${entry('<Key>m</Key>', 'DeleteMarker')}`)],
    ['with a key in its owner', entry('<Owner><Key>o</Key></Owner><Key>x</Key><VersionId>v</VersionId>')],
    ['with a key in its owner alone', entry('<Owner><Key>o</Key></Owner><VersionId>v</VersionId>')],
    ['with elements in a key', entry('<Key><ID>o</ID></Key><VersionId>v</VersionId>')],
    ['with two keys', entry('<Key>x</Key><Key>y</Key><VersionId>v</VersionId>')],
    ['with a key and an empty element for one', entry('<Key/><Key>y</Key><VersionId>v</VersionId>')],
    ['with two version ids', entry('<Key>x</Key><VersionId>v</VersionId><VersionId>w</VersionId>')],
    ['with white space in the tag that ends a version', `${plain.replace('</Version>', '</Version >')}${plain}`],
    ['with what looks like a version in an attribute', `<Name a="${plain}">n</Name>${plain}`],
    ['with a version that does not end', `<Version><Key>a</Key>${plain}`],
    ['with a version in a second root', `</ListVersionsResult><ListVersionsResult>${plain}`],
    ['that ends as it did not begin', `${plain}</ListVersionsResult><Other>x</Other>`],
  ])('%s, as no store is known to write, is read as the SDK reads it or left alone', async (_what, inside) => {
    const [ours, theirs] = await bothRead(listing(inside));
    expect(ours).toEqual(theirs);
  });

  it.each(['<Version>', '<Version><Key>a', `${plain}<Version>`, '<a>b</a>', '<Version/>', '\n', '<a><b>c</b></a>'])(
    'that says %j very often takes no more time than it is long',
    (often) => {
      const taken = (times: number) => {
        const began = performance.now();
        for (let round = 0; round < 16; round += 1) takeVersions(Object(listing(often.repeat(times))).body);
        return performance.now() - began;
      };
      taken(1_000);
      expect(taken(40_000)).toBeLessThan(600 + 6 * taken(10_000));
    },
  );

  it('is read as the SDK reads it, however it is written', async () => {
    const word = fc.constantFrom(
      'a',
      '%2F',
      '+',
      '&amp;',
      '\n',
      ' ',
      'é',
      '<!--x-->',
      '<![CDATA[<Key>b</Key>]]>',
      '<?x <Key>b</Key>?>',
      '<Key>c</Key>',
      '\r',
    );
    const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(''));
    const gap = fc.constantFrom('', '\n', '\r\n  ', '<!-- <Key>c</Key> -->');
    const version = fc
      .tuple(fc.shuffledSubarray(['Key', 'VersionId', 'ETag', 'Size', 'x']), text, gap, fc.boolean())
      .map(([names, of, between, isMarker]) => {
        const elements = names.map((name) => `${between}<${name}>${of}</${name}>`).join('');
        return entry(`${elements}${between}`, isMarker ? 'DeleteMarker' : 'Version');
      });
    const whole = fc.array(fc.oneof(version, fc.constant(plain), gap), { maxLength: 5 }).map((all) => all.join(''));
    await fc.assert(
      fc.asyncProperty(whole, async (inside) => {
        const [ours, theirs] = await bothRead(listing(inside));
        expect(ours).toEqual(theirs);
      }),
      { numRuns: RUNS },
    );
  });
});

it('a delete call is written as the SDK writes it, and signed', async () => {
  const version = fc.record({ Key: fc.string({ unit: 'binary' }), VersionId: fc.string() }, { requiredKeys: ['Key'] });
  await fc.assert(
    fc.asyncProperty(fc.array(version, { minLength: 1, maxLength: 3 }), async (list) => {
      aws.reset();
      aws.on('s3:DeleteObjects', deleteResult());
      await s3.send(deleteVersionsCommand({ Bucket }, list));
      await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [...list], Quiet: true } }));
      const [ours, theirs] = aws.seen;
      expect(ours?.body).toBe(theirs?.body);
      for (const name of ['content-length', 'x-amz-checksum-crc32', 'x-amz-content-sha256', 'content-type']) {
        expect(ours?.headers[name], name).toBe(theirs?.headers[name]);
        expect(ours?.headers[name], name).toBeDefined();
      }
    }),
    { numRuns: RUNS },
  );
});
