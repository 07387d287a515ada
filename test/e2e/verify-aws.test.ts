/*
 * The script for a person who has an account (infra/verify-aws.ts): that it begins nothing unless the account is named and is
 * the one of the credentials, and that its checks do what they say, as far as the emulator can show that.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { sharedCloud } from '../support/e2e.ts';
import { root } from '../support/tracked-files.ts';

const cloud = sharedCloud();

async function verify(...args: readonly string[]) {
  const env = { PATH: '', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_CONFIG_FILE: '/dev/null' };
  const entry = join(root, 'infra/verify-aws.ts');
  const child = spawn(process.execPath, [entry, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, err, code };
}

const made = async () => {
  const s3 = cloud.s3();
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({ Prefix: 'fb-verify-' }));
  s3.destroy();
  return Buckets.length;
};
const here = ['--region', cloud.region, '--endpoint', cloud.endpoint];

describe('verifying on an account', () => {
  it.each([
    ['no account is named', here],
    ['what is named is no account', [...here, '--spend-in-account', 'yes']],
    ['no region is named', ['--spend-in-account', cloud.accountId]],
  ])('says how it is used and does nothing when %s', async (_what, args) => {
    const { out, err, code } = await verify(...args);
    expect([code, out, err.split('\n')[0]]).toEqual([
      ...[2, ''],
      'usage: node infra/boot.mjs infra/verify-aws.ts --spend-in-account <12 digits> --region <region> [options]',
    ]);
  });

  it('does nothing when the credentials are of another account than the one that is named', async () => {
    const { out, err, code } = await verify(...here, '--spend-in-account', '999999999999');
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(`the credentials are of ${cloud.accountId}, not of 999999999999`);
    expect(await made()).toBe(0);
  });

  it('runs its checks, tells the one that fails with what was seen, and leaves nothing behind', async () => {
    // The emulator compares no owner.
    const ids = ['s3-2', 'S1-owner', 'S2-deny-writes', 'S4-mark', 'ebs-2', 'V6-snapshot', 'E1-scaling-group'];
    const only = ['--only', ids.join(','), '--image', 'ami-12c6146b'];
    const { out, err, code } = await verify(...here, '--spend-in-account', cloud.accountId, ...only);
    const said = out.split('\n').filter((line) => /^(ok|FAILED) /.test(line));
    expect(said.map((line) => line.split(/ +/).slice(0, 2).join(' '))).toEqual(
      ids.map((id) => `${id === 'S1-owner' ? 'FAILED' : 'ok'} ${id}`),
    );
    expect(out).toMatch(/S1-owner.*\n {7}[\s\S]*\n6 ok, 1 failed\n$/);
    expect([code, err]).toEqual([1, '']);
    expect(await made()).toBe(0);
  });
});
