/*
 * The commands that `adopt` prints: the right tags on the right target, quoted so that no value of an object becomes more
 * than a word, run by a real shell with an `aws` that only notes its words. Nothing is ever run by adopt itself.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { commandOf, isPrintable } from '../../../bridge/cli/shell.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { ENTRY, RULE } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';
import { holds } from '../../support/property.ts';
import { ruleSpec } from '../../support/rule-objects.ts';

const ACCOUNT = '111122223333';
const folder = mkdtempSync(join(tmpdir(), 'adopt-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(
  join(folder, 'aws'),
  `#!/bin/sh
case "$1 $2" in
sts*) echo "\${ACCOUNT}" ;;
*get-resources | *describe-tags) for word; do printf '%s\\n' "$word"; done >"\${LOOKED}"; printf '%s' "\${CARRIES}"; exit "\${STATUS}" ;;
*) for word; do printf '%s\\n' "$word"; done ;;
esac
`,
);
chmodSync(join(folder, 'aws'), 0o755);

/** Runs a script with that `aws`, as a person of an account, where the resource has such tags; the words of the call that tags. */
function run(script: string, account = ACCOUNT, { carries = '', status = 0 } = {}): readonly string[] {
  const path = `${folder}:/usr/bin:/bin`;
  const env = {
    PATH: path,
    ACCOUNT: account,
    CARRIES: carries,
    STATUS: String(status),
    LOOKED: join(folder, 'looked'),
  };
  return execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    .split('\n')
    .slice(0, -1);
}

let line: CommandLine;
beforeEach(() => {
  line = new CommandLine();
});

function rule(spec = {}, name = RULE): void {
  line.cluster.create({ name, kind: TEARDOWN_RULES, spec: ruleSpec(spec) });
}
const bucket = (name: string, bucketName: string, finalizers = [ENTRY]) =>
  line.cluster.create({ name, finalizers, spec: { bucket: bucketName } });

describe('adopt', () => {
  it('prints a script that tags a bucket and leaves its other tags alone', async () => {
    rule();
    bucket('logs', 'team-a-logs');
    const { exit, out } = await line.run('adopt bucket/logs');
    expect(exit).toBe(0);
    expect(run(out)).toEqual([
      'resourcegroupstaggingapi',
      'tag-resources',
      '--region=eu-central-1',
      '--resource-arn-list=arn:aws:s3:::team-a-logs',
      '--tags={"finalizer-bridge.dev/owner-uid":"uid-logs"}',
    ]);
  });

  it('tags nothing that carries the proof of something else, or of which that cannot be told, unless it is asked to', async () => {
    rule();
    bucket('logs', 'team-a-logs');
    const { out } = await line.run('adopt bucket/logs');
    expect(run(out, ACCOUNT, { carries: 'finalizer-bridge.dev/owner-uid\tuid-other' })).toEqual([]);
    expect(run(out, ACCOUNT, { status: 254 })).toEqual([]);
    const anew = (await line.run('adopt bucket/logs --anew')).out;
    expect(run(anew, ACCOUNT, { carries: 'finalizer-bridge.dev/owner-uid\tuid-other' })).toContain('tag-resources');
    expect(run(anew, '999999999999')).toEqual([]);
  });

  it.each([
    ['s3-bucket', 'bucket', 'team-a-logs', '--resource-arn-list=arn:aws-cn:s3:::team-a-logs'],
    ['ec2-instance', 'instanceId', 'i-0123456789abcdef0', '--filters=Name=resource-id,Values=i-0123456789abcdef0'],
    ['ebs-volume', 'volumeId', 'vol-0123456789abcdef0', '--filters=Name=resource-id,Values=vol-0123456789abcdef0'],
  ])('looks first at what %s takes down', async (handler, key, id, which) => {
    rule({ handler, target: { [key]: 'object.spec.bucket', region: "'cn-north-1'", account: `'${ACCOUNT}'` } });
    bucket('vm', id);
    run((await line.run('adopt bucket/vm')).out);
    const looked = readFileSync(join(folder, 'looked'), 'utf8');
    for (const word of ['--region=cn-north-1', which, '--output=text']) expect(looked.split('\n')).toContain(word);
    expect(looked).toContain('Tags[] | [?(Key==`"finalizer-bridge.dev/owner-uid"` && Value!=`"uid-vm"`)].[Key,Value]');
  });

  it('does nothing with the credentials of another account', async () => {
    rule();
    bucket('logs', 'team-a-logs');
    expect(run((await line.run('adopt bucket/logs')).out, '999999999999')).toEqual([]);
  });

  it.each([
    ['ec2-instance', 'instanceId', 'i-0123456789abcdef0'],
    ['ebs-volume', 'volumeId', 'vol-0123456789abcdef0'],
  ])('tags what %s takes down', async (handler, key, id) => {
    rule({ handler, target: { [key]: 'object.spec.bucket', region: "'cn-north-1'", account: `'${ACCOUNT}'` } });
    bucket('vm', id);
    expect(run((await line.run('adopt bucket/vm')).out)).toEqual([
      ...['ec2', 'create-tags', '--region=cn-north-1', `--resources=${id}`],
      '--tags=[{"Key":"finalizer-bridge.dev/owner-uid","Value":"uid-vm"}]',
    ]);
  });

  it('has no command for instances that a rule chooses by their tags, and says why', async () => {
    const target = { tags: "['team=a']", region: "'cn-north-1'", account: `'${ACCOUNT}'` };
    rule({ handler: 'ec2-instance', target });
    bucket('vm', 'unused');
    const { exit, out, err } = await line.run('adopt bucket/vm');
    expect([exit, err]).toEqual([1, expect.stringContaining('the target chooses instances by their tags')]);
    expect(run(out)).toEqual([]);
  });

  it('names bucket and partition as that part of AWS does', async () => {
    const target = { bucket: 'object.spec.bucket', region: "'us-gov-west-1'", account: `'${ACCOUNT}'` };
    rule({ target });
    bucket('logs', 'team-a-logs');
    expect(run((await line.run('adopt bucket/logs')).out)).toContain(
      '--resource-arn-list=arn:aws-us-gov:s3:::team-a-logs',
    );
  });

  it.each(['$(touch pwned)', "a'; touch pwned; '", 'file:///etc/passwd', '-x', 'UPPER', 'a\nb'])(
    'makes no command of a bucket named %j',
    async (name) => {
      rule();
      bucket('logs', name);
      const { exit, out, err } = await line.run('adopt bucket/logs');
      expect([exit, err]).toEqual([1, expect.stringContaining(`no command for rule ${RULE}`)]);
      expect(run(out)).toEqual([]);
    },
  );

  it.each(['$(touch pwned)`id`', `it's "x" \\ $HOME`, '--region=eu-west-1', ' * '])(
    'hands on a tag value of %j as it is',
    async (value) => {
      rule({ ownership: { tags: { 'owner/id': 'object.metadata.uid + object.metadata.labels.tag' } } });
      line.cluster.create({
        name: 'logs',
        finalizers: [ENTRY],
        labels: { tag: value },
        spec: { bucket: 'team-a-logs' },
      });
      const words = run((await line.run('adopt bucket/logs')).out);
      expect(JSON.parse(words.at(-1)?.replace('--tags=', '') ?? '')).toEqual({ 'owner/id': `uid-logs${value}` });
    },
  );

  it.each(['\u200b', '\u200d', '\u{e0041}', '\u3164', '\u202e'])(
    'makes no command of a tag with %j in it, which nobody would see',
    async (character) => {
      rule({ ownership: { tags: { 'owner/id': 'object.metadata.uid + object.metadata.labels.tag' } } });
      const labels = { tag: `a${character}b` };
      line.cluster.create({ name: 'logs', finalizers: [ENTRY], labels, spec: { bucket: 'team-a-logs' } });
      const { exit, out, err } = await line.run('adopt bucket/logs');
      expect([exit, err]).toEqual([1, expect.stringContaining('characters that do not show as what they are')]);
      expect(run(out)).toEqual([]);
    },
  );

  it('says which tags to set where it knows no command for a handler', async () => {
    rule({ handler: 'webhook', target: { id: 'object.spec.bucket' } });
    bucket('tenant', 'tenant-7');
    const { exit, out, err } = await line.run('adopt bucket/tenant');
    expect(exit).toBe(1);
    expect(out).toContain('# target: {"id":"tenant-7"}');
    expect(out).toContain('# tag: "finalizer-bridge.dev/owner-uid" = "uid-tenant"');
    expect(err).toContain('set the tags where the resource is made');
  });

  it('says that there is nothing to tag where the rule needs no proof', async () => {
    rule({ ownership: { none: true } });
    bucket('logs', 'team-a-logs');
    const { exit, out } = await line.run('adopt bucket/logs');
    expect([exit, out]).toEqual([0, expect.stringContaining('needs no proof of ownership')]);
  });

  it('says which part of the rule the object does not answer', async () => {
    rule();
    line.cluster.create({ name: 'young', finalizers: [ENTRY] });
    const { exit, err } = await line.run('adopt bucket/young');
    expect([exit, err]).toEqual([1, expect.stringContaining('target bucket: ')]);
  });

  it('takes every rule that holds the object, or the one that is named', async () => {
    rule();
    rule({}, 'other');
    bucket('logs', 'team-a-logs', [ENTRY, 'finalizer-bridge.dev/other']);
    const rulesOf = async (options: string) =>
      JSON.parse((await line.run(`adopt bucket/logs -o json ${options}`)).out).rules.map(
        ({ rule: name }: { rule: string }) => name,
      );
    expect(await rulesOf('')).toEqual([RULE, 'other']);
    expect(await rulesOf('--rule other')).toEqual(['other']);
  });

  it('takes the rules that select an object which has no entry yet', async () => {
    rule({ match: { ...(ruleSpec().match as object), labelSelector: { matchLabels: { team: 'a' } } } });
    line.cluster.create({ name: 'ours', labels: { team: 'a' }, spec: { bucket: 'team-a-logs' } });
    line.cluster.create({ name: 'theirs', labels: { team: 'b' }, spec: { bucket: 'team-b-logs' } });
    expect((await line.run('adopt bucket/ours')).out).toContain('arn:aws:s3:::team-a-logs');
    expect((await line.run('adopt bucket/theirs')).err).toContain('and none selects it');
  });

  it('has a shape for programs', async () => {
    rule();
    bucket('logs', 'team-a-logs');
    expect(JSON.parse((await line.run('adopt bucket/logs -o json')).out)).toEqual({
      ...{ object: 'buckets.storage.example.com/logs', namespace: 'team-a', uid: 'uid-logs' },
      rules: [
        {
          ...{ rule: RULE, handler: 's3-bucket', needless: false, account: ACCOUNT },
          target: { bucket: 'team-a-logs', region: 'eu-central-1', account: ACCOUNT },
          tags: { 'finalizer-bridge.dev/owner-uid': 'uid-logs' },
          look: expect.stringMatching(/^aws resourcegroupstaggingapi get-resources /),
          command: expect.stringMatching(/^aws resourcegroupstaggingapi tag-resources /),
        },
      ],
    });
  });

  it('fails for a rule that is not there', async () => {
    bucket('logs', 'team-a-logs');
    expect(await line.run('adopt bucket/logs')).toMatchObject({
      exit: 1,
      err: `error: there is no TeardownRule ${RULE}`,
    });
  });
});

describe('quoting for a shell', () => {
  it('gives back every printable text as one word', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((value) => value !== '' && isPrintable(value));
    const property = fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (words) => {
      expect(run(commandOf('aws', ...words)).join('\n')).toBe(words[0] === 'sts' ? ACCOUNT : words.join('\n'));
    });
    holds(property, { numRuns: 40 });
  });
});
