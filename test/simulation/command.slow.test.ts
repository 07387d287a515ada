/*
 * `npm run simulate` as docs/simulation.md tells it: the command of the page, as a process of its own, over a hundredth of the
 * deletions that it names, and interrupted.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { scripts } from '../support/checkout.ts';
import { commandsOf, pagesFor } from '../support/document-blocks.ts';
import { root } from '../support/tracked-files.ts';

const FORM = /^npm run (?<script>\S+) -- (?<args>.*--deletions (?<deletions>\d+))$/;
const form = z.object({ script: z.string(), args: z.string(), deletions: z.string() });
const report = z.looseObject({ deletions: z.int(), failing: z.int(), broken: z.array(z.unknown()) });
const interrupted = z.strictObject({
  ...{ seed: z.int(), worlds: z.int(), deletions: z.int(), failing: z.int(), interrupted: z.literal(true) },
  ...{ seconds: z.int(), cpuSeconds: z.int(), cpuSecondsPerThousand: z.number(), virtualDays: z.number() },
  ...{ steps: z.int(), faults: z.record(z.string(), z.int()), broken: z.array(z.unknown()) },
});

it('the simulation keeps every promise when it is started as its page says', { timeout: 300_000 }, () => {
  const pages = pagesFor(import.meta.filename);
  const commands = commandsOf(pages.next('docs/simulation.md'));
  expect([commands.length, pages.left()]).toEqual([1, []]);
  const { script, args, deletions } = form.parse(FORM.exec(commands[0] ?? '')?.groups);
  const fewer = args.replace(deletions, String(Number(deletions) / 100)).split(' ');

  const ran = spawnSync(process.execPath, [scripts().get(script) ?? '', ...fewer, '--json'], {
    cwd: root,
    encoding: 'utf8',
  });

  // A run that takes its time tells how far it is.
  expect(ran).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(/^(\d+ of \d+ deletions, .* 0 failing, .*\n)*$/),
  });
  const said = report.parse(JSON.parse(ran.stdout));
  expect(said).toMatchObject({ failing: 0, broken: [] });
  expect(said.deletions).toBeGreaterThan(0);
});

it('interrupted, it tells of the worlds that have ended, and ends as what was interrupted', {
  timeout: 300_000,
}, async () => {
  const entry = scripts().get('simulate') ?? '';
  const args = ['--seed', '5', '--deletions', '1000000', '--workers', '1', '--json'];
  const child = spawn(process.execPath, [entry, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, ended] = [text(child.stdout), once(child, 'exit')];
  // It has told of worlds: a line comes when one has ended.
  await once(child.stderr, 'data');
  child.kill('SIGINT');

  expect(await ended).toEqual([130, null]);
  const said = interrupted.parse(JSON.parse(await out));
  expect(said.worlds).toBeGreaterThan(0);
  expect(said.deletions).toBeGreaterThan(0);
});
