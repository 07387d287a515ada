/*
 * What a rule says to the handler s3-bucket: target and options, as closed schemas. The guards read them before any look.
 * Used by s3-bucket.ts and its steps.
 */
import type { S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod/mini';
import type { TeardownContext } from '../../handler.ts';
import { accountSchema, regionSchema } from '../../places.ts';

/** Names that end so are other kinds of buckets, or aliases. */
const otherKinds = /(--x-s3|--ol-s3|--table-s3|-s3alias|\.mrap)$/;
const bucketName = z.string().check(
  z.refine(
    (name) => !name.endsWith('--x-s3'),
    'a directory bucket; this handler takes down general purpose buckets only',
  ),
  z.regex(/^(?!.*\.\.)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'not the name of an S3 bucket'),
  z.refine((name) => !otherKinds.test(name), 'not a general purpose bucket'),
);

/** The bucket; region and account are never guessed. */
export const targetSchema = z.strictObject({ bucket: bucketName, region: regionSchema, account: accountSchema });

const choice = z.optional(z.boolean());
/**
 * - `denyWrites` (true unless told): while it is emptied, the bucket's policy denies writes to everybody;
 * - `retentionBypass`: versions under governance retention are deleted as well; needs the word of the function (`allow.options`);
 * - `detachAccessPoints`: the bucket's access points are deleted with it; needs it as well.
 */
export const optionsSchema = z.strictObject({
  denyWrites: choice,
  retentionBypass: choice,
  detachAccessPoints: choice,
});

/** A run of this handler. */
export type Context = TeardownContext<z.output<typeof targetSchema>, z.output<typeof optionsSchema>, S3Client>;
