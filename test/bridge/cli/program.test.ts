/*
 * The command line as a whole: global flags before and after a command, what goes to which stream, exit codes, and one line
 * for whatever goes wrong. The command here is the test's own; the real ones have files of their own.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type Context, defineCommand, EXIT, Failure, misused } from '../../../bridge/cli/command.ts';
import { print, table } from '../../../bridge/cli/print.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { CommandLine } from '../../support/command-line.ts';

/** A line whose only command does what the test says. */
function lineWith(act: (context: Context, args: readonly string[], loud: boolean) => Promise<void> | void) {
  const line = new CommandLine();
  line.commands = [
    defineCommand({
      name: 'try',
      summary: 'Tries',
      usage: (command) => command.argument('<what>').argument('[more...]').option('--loud'),
      options: z.object({ loud: z._default(z.boolean(), false) }),
      async run(context, args, { loud }) {
        await act(context, args, loud);
        return loud ? EXIT.failed : EXIT.ok;
      },
    }),
  ];
  return line;
}

const throwing = (error: Error) =>
  lineWith(() => {
    throw error;
  });

describe('a command', () => {
  it('gets its arguments and options, the global flags standing on either side of it', async () => {
    const seen: unknown[] = [];
    const line = lineWith(({ format, namespace }, args, loud) => void seen.push([format, namespace, args, loud]));
    await line.run('-n team-b try a b c --loud -o yaml');
    expect(seen).toEqual([['yaml', 'team-b', ['a', 'b', 'c'], true]]);
    await line.run('--output=json try a --namespace=team-c');
    expect(seen[1]).toEqual(['json', 'team-c', ['a'], false]);
  });

  it('gives the exit code, by its answer', async () => {
    const line = lineWith(() => {});
    expect([(await line.run('try a')).exit, (await line.run('try a --loud')).exit]).toEqual([0, 1]);
  });

  it('has the cluster chosen by flags as kubectl has them', async () => {
    const line = lineWith(() => {});
    await line.run('try a --context c --cluster k --user u --kubeconfig f --as me --as-group g --as-group h');
    expect(line.flags).toMatchObject({ context: 'c', cluster: 'k', user: 'u', kubeconfig: 'f', as: 'me' });
    expect(line.flags?.asGroup).toEqual(['g', 'h']);
  });

  it.each([
    ['7', 7_000],
    ['1m30s', 90_000],
    ['0', 0],
  ])('reads a request timeout of %s', async (text, ms) => {
    const line = lineWith(() => {});
    await line.run(`try a --request-timeout ${text}`);
    expect(line.flags?.requestTimeout).toBe(ms);
  });
});

describe('what is wrong with the line', () => {
  it.each([
    ['nonsense a', "unknown command 'nonsense'"],
    ['try', "missing required argument 'what'"],
    ['try a --quiet', "unknown option '--quiet'"],
    ['try a -o xml', "argument 'xml' is invalid"],
    ['try a --request-timeout soon', 'not a duration'],
  ])('%s: is said on standard error, with exit code 2 and nobody connected', async (text, words) => {
    const line = lineWith(() => {});
    const { exit, out, err } = await line.run(text);
    expect([exit, out]).toEqual([2, '']);
    expect(err).toContain(words);
    expect(line.flags).toBeUndefined();
  });

  it('is told apart from what fails', async () => {
    expect(await throwing(misused('say more')).run('try a')).toEqual({ exit: 2, out: '', err: 'error: say more' });
    expect(await throwing(new Failure('no such thing')).run('try a')).toMatchObject({
      exit: 1,
      err: 'error: no such thing',
    });
  });
});

describe('help and version', () => {
  it('go to standard output with exit code 0', async () => {
    const line = lineWith(() => {});
    const help = await line.run('--help');
    expect([help.exit, help.err]).toEqual([0, '']);
    expect(help.out).toMatch(/try .*Tries/);
    expect(await line.run('--version')).toEqual({ exit: 0, out: '1.2.3', err: '' });
  });

  it('of a command names the global flags too', async () => {
    expect((await lineWith(() => {}).run('try --help')).out).toMatch(/--loud(.|\n)*--kubeconfig/);
  });
});

describe('what the API server refuses', () => {
  const status = (message: string) => JSON.stringify({ kind: 'Status', status: 'Failure', message });
  const forbidden = 'buckets.x "logs" is forbidden: User "jo" cannot get resource "buckets" in API group "x"';

  it.each([
    [403, status(forbidden), `error: getting buckets/logs: not allowed: ${forbidden}`],
    [401, status('Unauthorized'), 'error: getting buckets/logs: the API server does not accept the credentials'],
    [500, status('etcd is away'), 'error: getting buckets/logs: etcd is away'],
    [502, '<html>', 'error: getting buckets/logs: HTTP 502: <html>'],
  ])('with %d is one line that says what was not done', async (code, body, words) => {
    const { exit, err } = await throwing(new ApiError('getting buckets/logs', code, { body })).run('try a');
    expect(exit).toBe(1);
    expect(err.split('\n')).toHaveLength(1);
    expect(err).toContain(words);
  });

  it('by not being there names the address', async () => {
    const cause = new Error('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:8080') });
    const { err } = await throwing(new ApiError('getting buckets/logs', 0, { cause })).run('try a');
    expect(err).toContain('ECONNREFUSED 127.0.0.1:8080');
  });
});

describe('an empty value', () => {
  it.each([
    [['-n', ''], '--namespace is empty'],
    [['--namespace='], '--namespace is empty'],
    [['--context', ''], '--context is empty'],
    [['--as', 'me', '--as-group', ''], '--as-group is empty'],
  ])('of a flag, as in %j, is refused with nobody connected', async (words, said) => {
    const line = lineWith(() => {});
    expect(await line.run('try a', ...words)).toMatchObject({ exit: 2, err: expect.stringContaining(said) });
    expect(line.flags).toBeUndefined();
  });
});

describe('words', () => {
  const EVIL = '\u001b]0;pwned\u0007\u001b[2J\n\u202eerror: all is well';
  const PLAIN = '\ufffd]0;pwned\ufffd\ufffd[2J \ufffderror: all is well';

  it('that come from objects are text on one line, in what is said, asked and failed with', async () => {
    const line = lineWith(async ({ err, ask }) => {
      err(EVIL);
      await ask(EVIL);
      throw new Failure(EVIL);
    });
    line.answers = ['yes'];
    expect(await line.run('try a')).toEqual({ exit: 1, out: '', err: `${PLAIN}\nerror: ${PLAIN}` });
    expect(line.questions).toEqual([PLAIN]);
  });

  it('of data for people are so too', async () => {
    const line = lineWith((context) => print(context, { data: {}, lines: table(['NAME'], [[EVIL]]) }));
    expect((await line.run('try a')).out).toBe(`NAME\n${PLAIN}`);
  });
});

describe('data', () => {
  const shown = { data: { name: 'logs', since: undefined, held: ['a'] }, lines: ['NAME', 'logs'] };
  const line = lineWith((context) => print(context, shown));

  it('is lines for people, and one document for programs', async () => {
    expect((await line.run('try a')).out).toBe('NAME\nlogs');
    expect(JSON.parse((await line.run('try a -o json')).out)).toEqual({ name: 'logs', held: ['a'] });
    expect((await line.run('try a -o yaml')).out).toBe('name: logs\nheld:\n  - a');
  });

  it('in a table may have more rows than a call has arguments', () => {
    expect(table(['NAME'], new Array(500_000).fill(['x']))).toHaveLength(500_001);
  });

  it('in a table has its columns aligned and no blanks at the ends', () => {
    expect(
      table(
        ['NAME', 'AGE'],
        [
          ['logs-of-team-a', '3m'],
          ['b', ''],
        ],
      ),
    ).toEqual(['NAME             AGE', 'logs-of-team-a   3m', 'b']);
  });
});
