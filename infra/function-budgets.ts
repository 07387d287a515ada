/*
 * How large a function may be: Lambda loads and evaluates all of it at each cold start. Held by the tests of the build, and
 * shown beside the figures by `npm run bench:cold-start`.
 */
import type { Bundle } from './bundle.ts';

/** Most bytes, minified, of own code and of libraries without the AWS SDK and what that needs. */
export const OWN_MAX_BYTES = 80_000;

/** Most bytes with the SDK, by function. */
export const BUNDLE_MAX_BYTES: Readonly<Record<string, number>> = {
  'dead-letters': 60_000,
  'ebs-volume': 1_800_000,
  'ec2-instance': 1_800_000,
  's3-bucket': 750_000,
  'sns-notify': 400_000,
  webhook: 80_000,
};

/** Bytes of a bundle that are neither the AWS SDK nor what only that needs: own files, and the schema library. */
export function ownBytesOf({ bytesOf }: Pick<Bundle, 'bytesOf'>): number {
  const own = Object.entries(bytesOf).filter(([path]) => !/node_modules\/(?!zod\/)/.test(path));
  return own.reduce((sum, [, bytes]) => sum + bytes, 0);
}
