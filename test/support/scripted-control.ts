/*
 * Answers of S3 about buckets as a whole: their dates, policies and access points. Beside those of scripted-aws.ts.
 * Used by the tests of the handler s3-bucket.
 */
import { type Reply, xml } from './scripted-aws.ts';

/** The answer of ListBuckets: name and date. */
export function buckets(list: Readonly<Record<string, string>>): Reply {
  const entries = Object.entries(list).map(
    ([name, date]) => `<Bucket><Name>${name}</Name><CreationDate>${date}</CreationDate></Bucket>`,
  );
  return xml(`<ListAllMyBucketsResult><Buckets>${entries.join('')}</Buckets></ListAllMyBucketsResult>`);
}

/** The answer of ListAccessPoints. */
export function accessPoints(...names: readonly string[]): Reply {
  const entries = names.map((name) => `<AccessPoint><Name>${name}</Name></AccessPoint>`);
  return xml(
    `<ListAccessPointsResult xmlns="http://awss3control.amazonaws.com/doc/2018-08-20/"><AccessPointList>${entries.join('')}</AccessPointList></ListAccessPointsResult>`,
  );
}

/** The answer of GetBucketPolicy: the policy as it was put. */
export function policy(text: string): Reply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: text };
}
