/*
 * The demo as a person or a script runs it: a process of its own with servers of its own. What it prints is held against
 * what it must have done; afterwards no process and no file of it may be left (DemoProcess.endedCleanly).
 */
import { spawn } from 'node:child_process';
import { pbkdf2Sync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod/mini';
import { readManifests } from '../../infra/demo/manifests.ts';
import { connectCloud } from '../../infra/local/cloud.ts';
import { DemoProcess } from '../support/demo-process.ts';
import { commandsOf, pagesFor } from '../support/document-blocks.ts';

const pages = pagesFor(import.meta.filename);

/** The arguments of the one command that a document shows next, which starts the demo. */
function shownIn(document: string): readonly string[] {
  const [command = '', ...others] = commandsOf(pages.next(document));
  const [start, args] = /^npm run demo(?: -- (.*))?$/.exec(command) ?? [];
  expect([start, others], `${document} starts the demo`).toEqual([command, []]);
  return args === undefined ? [] : args.split(' ');
}

/** A demo for the tests of a block. */
function runDemo(...args: readonly string[]): () => DemoProcess {
  let run: DemoProcess | undefined;
  beforeAll(() => {
    run = new DemoProcess(...args);
  });
  afterAll(async () => await run?.remove());
  return () => {
    if (run === undefined) throw new Error('the demo was not started');
    return run;
  };
}

describe('the demo of the README, with --json', () => {
  const run = runDemo(...shownIn('README.md'), '--json');

  it('deletes what is owned, holds and releases what is not, and leaves nothing running', async () => {
    expect(await run().endedCleanly(), run().stderr).toBe(0);
    // Servers, bridge and two functions, each with a shell that watches over it.
    expect(run().started).toBeGreaterThanOrEqual(12);
  });

  it('prints one line with every count on stdout, and nothing else', () => {
    expect(run().stdout).toMatch(/^\{.*\}\n$/);
    const { seconds, ...counts } = z.parse(z.looseObject({ seconds: z.number() }), JSON.parse(run().stdout));
    const objects = readManifests().objects.length;
    expect(counts).toEqual({
      deleted: objects,
      gone: objects - 1,
      held: 1,
      released: 1,
      finalizersRemoved: objects,
      objectsLeft: 0,
      // 3 times 300 files, deleted twice each time; and 3 files in each of the two small buckets that are owned.
      bucketVersionsDeleted: 3 * 300 * (1 + 2) + 2 * 3,
    });
    // What it says is what it took: from its own start, so within the life of its process.
    expect(seconds).toBeLessThan(run().seconds);
    expect(seconds).toBeGreaterThan(run().seconds / 4);
  });

  it('needs the work of less than 15 s on a machine of two cores, whatever else that does', () => {
    expect(run().cpuSeconds).toBeGreaterThan(1);
    expect(run().cpuSeconds).toBeLessThan(30 * slowness());
  });

  it.each([
    /Bucket\/logs .*held by finalizer-bridge\.dev\/team-buckets/,
    /Bucket\/logs .*2,700 versions, 1,800 of them delete markers/,
    // Whoever is slow finds it terminated already.
    /VirtualMachine\/builder .*is (?:shutting-down|terminated); the function answered: pending/,
    /Bucket\/legacy .*held: NotOwned: .*tag finalizer-bridge\.dev\/owner-uid is missing/,
    /Bucket\/legacy .*Event Warning TeardownHeld/,
    /until \d\d:\d\d:\d\d UTC/,
    /annotate bucket\/legacy release\.finalizer-bridge\.dev\/team-buckets=[-0-9a-f]{36}\/now/,
    /Bucket\/legacy .*s3:\/\/team-a-legacy is still there \(3 objects\)/,
    /by field manager kubectl-annotate at/,
    /all as expected/,
    /npm run demo -- --keep/,
  ])('tells on stderr: %s', (told) => {
    expect(run().stderr).toMatch(told);
  });
});

describe('the demo of the quick start, which stays', () => {
  const run = runDemo(...shownIn('docs/quick-start.md'));
  const found = (pattern: RegExp) =>
    z.parse(z.tuple([z.string(), z.string()]), pattern.exec(run().stdout)?.slice(0, 2))[1];

  it('leaves a cluster and a cloud that answer where it says', async () => {
    await run().until(() => run().stdout.includes('until Ctrl-C'));
    const { server, ca, token } = accessIn(found(/KUBECONFIG=(\S+)/));
    const dispatcher = new Agent({ connect: { ca } });
    const url = `${server}/apis/storage.example.com/v1/namespaces/team-a/buckets`;
    const { body } = await request(url, { dispatcher, headers: { authorization: `Bearer ${token}` } });
    const list = z.parse(
      z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) }),
      await body.json(),
    );
    await dispatcher.close();
    const s3 = connectCloud(found(/--endpoint-url (\S+) s3 ls/)).s3();
    const { Buckets = [] } = await s3.send(new ListBucketsCommand({}));
    s3.destroy();
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['legacy', 'photos']);
    expect(Buckets.map(({ Name }) => Name).toSorted()).toEqual(['team-a-legacy', 'team-a-photos']);
  });

  it('tells how to start a second bridge, which stands by, and how to prove whose a bucket is', async () => {
    const [another] = z.parse(
      z.tuple([z.string()]),
      /AWS_ACCESS_KEY_ID=\S+ AWS_SECRET_ACCESS_KEY=local \S+ \S+ --config \S+/.exec(run().stdout)?.slice(0, 1),
    );
    const second = spawn('sh', ['-c', `exec env ${another}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const lines = createInterface({ input: second.stdout });
      const first = z.parse(z.object({ port: z.int() }), JSON.parse((await once(lines, 'line')).join('')));
      await expect
        .poll(async () => await (await request(`http://127.0.0.1:${first.port}/readyz`)).body.json(), {
          timeout: 60_000,
        })
        .toMatchObject({ ready: true, role: 'standby' });
    } finally {
      second.kill('SIGKILL');
    }
    expect(run().stdout).toMatch(
      /put-bucket-tagging --bucket team-a-legacy --tagging "TagSet=\[\{Key=finalizer-bridge/,
    );
  });

  it('names what is needed to play, the command line, and commands that can be given twice', () => {
    expect(run().stdout).toContain('with kubectl and the AWS command line (aws) installed:');
    expect(run().stdout).toMatch(
      /npm run build .*\n +node infra\/boot\.mjs dist\/cli\/main\.mjs explain bucket\/legacy -n team-a /,
    );
    expect(run().stdout.match(/annotate --overwrite bucket\/legacy (retry|release)\./g)).toHaveLength(2);
  });

  it('uses no colours in a pipe', () => {
    expect(run().stdout).not.toContain('\u001b');
  });

  it('stops everything on Ctrl-C', async () => {
    run().interrupt();
    expect(await run().endedCleanly()).toBe(130);
  });
});

describe('the demo that is interrupted while it starts', () => {
  const run = runDemo('--json');

  it('stops everything and says nothing on stdout', async () => {
    await run().until(() => run().started >= 4);
    run().interrupt();
    expect(await run().endedCleanly()).toBe(130);
    expect(run().stdout).toBe('');
  });
});

describe('the demo with an argument that it does not know', () => {
  const run = runDemo('--jsno');

  it('refuses it before anything is started', async () => {
    expect(await run().endedCleanly()).toBe(2);
    expect(run().stderr).toMatch(/^demo: Unknown option '--jsno'/);
    expect([run().stdout, run().started]).toEqual(['', 0]);
  });
});

it('the documents start no other demo', () => {
  expect(pages.left()).toEqual([]);
});

/** How many times longer than usual this machine works at what is always the same; at least 1. */
function slowness(): number {
  const USUAL_SECONDS = 0.15;
  const before = process.cpuUsage();
  pbkdf2Sync('demo', 'demo', 500_000, 64, 'sha512');
  const { user, system } = process.cpuUsage(before);
  return Math.max(1, (user + system) / 1e6 / USUAL_SECONDS);
}

/** What a kubeconfig with one user says. */
function accessIn(file: string): { readonly server: string; readonly ca: string; readonly token: string } {
  const cluster = z.object({ server: z.string(), 'certificate-authority': z.string() });
  const kubeconfig = z.object({
    clusters: z.tuple([z.object({ cluster })]),
    users: z.tuple([z.object({ user: z.object({ token: z.string() }) })]),
  });
  const { clusters, users } = z.parse(kubeconfig, parse(readFileSync(file, 'utf8')));
  const { server, 'certificate-authority': authority } = clusters[0].cluster;
  return { server, ca: readFileSync(authority, 'utf8'), token: users[0].user.token };
}
