/*
 * `finalizer-bridge dev` as a person who writes a handler runs it: in the repository that init makes, from the packed package,
 * with queues and the function's own bundle on this machine.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type PackedKit, packKit, type Ran } from '../support/kit-project.ts';

const OUTSIDE = ['--outside', 'dev/dns-server.ts'];
const reportShape = z.object({
  outcome: z.looseObject({ outcome: z.string() }),
  steps: z.array(z.object({ what: z.string(), text: z.string() })),
});

let kit: PackedKit;
let folder: string;
beforeAll(async () => {
  kit = await packKit();
  folder = await made('mine');
}, 600_000);
afterAll(() => kit?.remove());

/** A repository, made by the command line of the package. */
async function made(name: string, leftOut: readonly string[] = []): Promise<string> {
  const start = kit.folder(`start-${name}`);
  kit.install(start, leftOut);
  const { code, err } = kit.run(start, 'finalizer-bridge', ['init', name, '--package', kit.tarball]);
  expect([code, err]).toEqual([0, '']);
  kit.install(join(start, name), leftOut);
  return join(start, name);
}

/** The steps that the function itself tells, which are in order; what others tell of may come anywhere between. */
const ofFunction = (lines: readonly string[]) =>
  lines.filter((line) => / ms {2}(guards|call|gone|refused) /.test(line));

const dev = (...args: readonly string[]): Ran => kit.run(folder, 'finalizer-bridge', ['dev', ...args]);

describe('a first run', () => {
  it('tells step by step what becomes of the request, and ends with 0 for gone', () => {
    const { code, out, err } = kit.run(folder, 'npm', ['run', '--silent', 'dev']);
    expect([code, err]).toEqual([0, '']);
    const [head, sent, ...rest] = out.trimEnd().split('\n');
    expect(head).toMatch(/^dns-record 0\.1\.0: shop\.team-a\.apps\.example\.com\., at http:\/\/127\.0\.0\.1:\d+$/);
    expect(sent).toMatch(/^ +0 ms {2}sent {6}request \S+\/0$/);
    expect(rest.filter((line) => !/^ +\d+ ms {2}[a-z]/.test(line))).toEqual([]);
    expect(rest.filter((line) => / ms {2}received {2}by the function$/.test(line))).toHaveLength(1);
    expect(ofFunction(rest)).toEqual([
      expect.stringMatching(/ ms {2}guards {4}passed: /),
      expect.stringMatching(/ ms {2}call {6}dns:GetZone \(look\): done in \d+ ms$/),
      expect.stringMatching(/ ms {2}call {6}dns:PatchZone \(destroy\): done in \d+ ms$/),
      expect.stringMatching(/ ms {2}gone {6}deleted, in \d+ ms$/),
    ]);
    expect(rest.at(-1)).toContain('  gone  ');
  });

  it('has one document for programs, with values of the command line in the request', () => {
    const { code, out } = dev(...OUTSIDE, '--target', 'name=other.team-a.apps.example.com.', '--json');
    const { outcome, steps } = reportShape.parse(JSON.parse(out));
    expect([code, outcome]).toEqual([0, { outcome: 'gone', evidence: 'absent' }]);
    const told = steps.map(({ what }) => what);
    expect(told.filter((what) => what !== 'received' && what !== 'log')).toEqual(['sent', 'guards', 'call', 'gone']);
    expect(told).toContain('received');
  });

  it('is held to the allow-list of the values, and ends with 4 when it is refused', () => {
    const { code, out } = dev(...OUTSIDE, '--target', 'name=shop.team-b.apps.example.com.');
    expect(code).toBe(4);
    expect(ofFunction(out.split('\n'))).toEqual([
      expect.stringMatching(/guards {4}stopped it; the handler was not asked$/),
      expect.stringContaining('refused   NameNotAllowed, '),
    ]);
  });

  it('says so when the handler throws while it is loaded', async () => {
    const broken = await made('broken');
    const file = join(broken, 'handlers/dns-record.ts');
    writeFileSync(
      file,
      `${readFileSync(file, 'utf8')}\nif (process.env.AWS_LAMBDA_FUNCTION_NAME) throw new Error('not on Lambda');\n`,
    );
    const { code, out, err } = kit.run(broken, 'finalizer-bridge', ['dev', ...OUTSIDE]);
    expect(code).toBe(1);
    expect(out).toMatch(/^dns-record 0\.1\.0: /);
    expect(ofFunction(out.split('\n'))).toEqual([]);
    expect(err).toContain('not on Lambda');
  });
});

describe('by accident', () => {
  it('nothing is reached: without a word, at an address of AWS, or by a handler that goes its own way', async () => {
    expect(dev()).toMatchObject({ code: 1, out: '', err: expect.stringContaining('say what the function may reach') });
    const aws = dev('--endpoint', 'https://route53.amazonaws.com');
    expect(aws).toMatchObject({ code: 1, out: '', err: expect.stringContaining('say --real-aws instead') });
    expect(dev(...OUTSIDE, '--real-aws')).toMatchObject({
      code: 1,
      err: expect.stringContaining('exclude each other'),
    });
    const stray = await made('stray');
    const file = join(stray, 'handlers/dns-record.ts');
    writeFileSync(file, readFileSync(file, 'utf8').replace('client(region).endpoint ?? url', 'url'));
    const { code, out } = kit.run(stray, 'finalizer-bridge', ['dev', ...OUTSIDE]);
    expect(code).toBe(3);
    // The wall tells of it as it happens: other lines may come between.
    expect(out).toMatch(/blocked {3}dns\.example\.com: /);
    expect(out).toMatch(/dns:GetZone \(look\): again \(BlockedByDev\)/);
  });
});

describe('on the word of a person', () => {
  /** The server as somebody else's process, named by the values as the real one would be. */
  const SCRIPT = `
    node serve.ts > endpoint & server=$!
    while ! test -s endpoint; do sleep 0.1; done
    sed -i.bak "s|https://dns.example.com|$(cat endpoint)|" functions.values.yml
    finalizer-bridge dev --real-aws; code=$?
    kill $server; exit $code`;
  const keys = { AWS_ACCESS_KEY_ID: 'AKIDMINE', AWS_SECRET_ACCESS_KEY: 'mine', AWS_SESSION_TOKEN: 'session' };

  it('the function reaches what its values name, with the credentials of the person', async () => {
    const real = await made('real');
    writeFileSync(
      join(real, 'serve.ts'),
      `import { start } from './dev/dns-server.ts';\nconsole.log((await start()).endpoint);`,
    );
    const file = join(real, 'handlers/dns-record.ts');
    const told = `console.log(['my keys', process.env.AWS_ACCESS_KEY_ID, process.env.AWS_SESSION_TOKEN].join(' '));`;
    writeFileSync(file, readFileSync(file, 'utf8').replace('  const headers =', `${told}\n  const headers =`));
    const { code, out, err } = kit.run(real, '/bin/sh', ['-c', SCRIPT], keys);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^dns-record 0\.1\.0: .* at REAL AWS\n/);
    expect(out).toMatch(/log {7}my keys AKIDMINE session\n/);
    expect(out).toMatch(/gone {6}deleted/);
  });

  it('nothing is started where there are no credentials', () => {
    const nowhere = {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    };
    const { code, err } = kit.run(folder, 'finalizer-bridge', ['dev', '--real-aws'], nowhere);
    expect([code, err]).toEqual([1, expect.stringMatching(/^error: --real-aws: .*credentials/i)]);
  });
});

describe('what is missing', () => {
  it('is named with a command that mends it: the queues', async () => {
    const without = await made('without', ['fauxqs']);
    const { code, err } = kit.run(without, 'finalizer-bridge', ['dev', ...OUTSIDE]);
    expect([code, err]).toEqual([
      1,
      'error: queues on this machine needs fauxqs, which is not installed: npm install --save-dev fauxqs\n',
    ]);
  });

  it.each([
    [['nope', ...OUTSIDE], 'the registry has no handler nope; there are dns-record'],
    [['--outside', 'nowhere.ts'], 'there is no nowhere.ts in '],
    [['--outside', 'registry.ts'], 'registry.ts exports no function start'],
    [[...OUTSIDE, '--request', 'none.json'], 'there is no none.json in '],
    [[...OUTSIDE, '--values', 'none.yml'], 'none.yml: one fault'],
  ])('is named: %j', (args, words) => {
    const { code, err } = dev(...args);
    expect([code, err]).toEqual([1, expect.stringContaining(words)]);
  });

  it('is the command line itself, with exit code 2', () => {
    expect(dev('--timeout', 'soon')).toMatchObject({ code: 2, err: expect.stringContaining('not a duration') });
  });

  it('is the package, where the command line stands alone', () => {
    const alone = kit.folder('alone');
    copyFileSync(join(folder, 'node_modules/finalizer-bridge/dist/cli/main.mjs'), join(alone, 'main.mjs'));
    for (const args of [['dev'], ['init', 'x']]) {
      const { code, err } = kit.run(alone, process.execPath, ['main.mjs', ...args]);
      expect([code, err]).toEqual([1, expect.stringContaining('this command comes with the npm package')]);
    }
  });
});
