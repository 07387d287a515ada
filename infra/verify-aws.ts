/*
 * Entry of `node infra/boot.mjs infra/verify-aws.ts`: shows on a real AWS account what no emulator can show of the handlers. It
 * makes and deletes buckets, volumes, snapshots, topics and, where an image is named, instances and a scaling group; that costs
 * a few cents. It refuses to begin unless the account is named as an argument and is the one that the credentials are of.
 * docs/verified.md says which behaviour each check shows. What comes next are the checks in verify-aws/.
 */
import { parseArgs } from 'node:util';
import { runEntry } from './tool.ts';
import { openAccount, type Site } from './verify-aws/account.ts';
import { bucketChecks } from './verify-aws/buckets.ts';
import type { Check } from './verify-aws/harness.ts';
import { instanceChecks } from './verify-aws/instances.ts';
import { volumeChecks } from './verify-aws/volumes.ts';

const USAGE = `usage: node infra/boot.mjs infra/verify-aws.ts --spend-in-account <12 digits> --region <region> [options]

Makes, uses and deletes things in a real AWS account, with the credentials of the environment. Everything is named
fb-verify-* and tagged finalizer-bridge.dev/owner-uid=fb-verify; what a check leaves behind is deleted at the end.

  --image <ami id>     also checks instances and a scaling group, started from this image as t3.nano
  --only <ids>         runs these checks, with commas between
  --list               names the checks and ends
  --endpoint <url>     asks a server there instead of AWS, such as an emulator`;

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'spend-in-account': { type: 'string' },
      region: { type: 'string' },
      image: { type: 'string' },
      only: { type: 'string' },
      list: { type: 'boolean' },
      endpoint: { type: 'string' },
    },
  });
  const { 'spend-in-account': account = '', region = '', image, only, endpoint } = values;
  if (values.list !== true && (!/^\d{12}$/.test(account) || region === '')) {
    console.error(USAGE);
    return 2;
  }
  // Only to be listed, checks need no real place.
  const site = openAccount({ account, region: region === '' ? 'us-east-1' : region, image, endpoint });
  const checks = checksOf(site).filter(({ id }) => only === undefined || only.split(',').includes(id));
  if (values.list === true) {
    for (const { id, title } of checks) console.log(`${id.padEnd(20)} ${title}`);
    return 0;
  }
  await site.confirm();
  try {
    const failed = await runAll(checks);
    console.log(`${checks.length - failed} ok, ${failed} failed`);
    return failed === 0 && checks.length > 0 ? 0 : 1;
  } finally {
    for (const left of await site.sweep()) console.error(`left behind, delete it by hand: ${left}`);
  }
}

/** All checks; those about instances only where an image is named. */
function checksOf(site: Site): readonly Check[] {
  return [...bucketChecks(site), ...volumeChecks(site), ...(site.image === undefined ? [] : instanceChecks(site))];
}

/** Runs the checks one after the other, and says of each how it went; resolves with how many failed. */
async function runAll(checks: readonly Check[]): Promise<number> {
  let failed = 0;
  for (const { id, title, run } of checks) {
    const fault = await run().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    console.log(`${fault === undefined ? 'ok    ' : 'FAILED'} ${id.padEnd(20)} ${title}`);
    if (fault === undefined) continue;
    failed += 1;
    console.log(`       ${fault.split('\n').join('\n       ')}`);
  }
  return failed;
}

await runEntry(() => main(process.argv.slice(2)));
