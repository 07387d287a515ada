/*
 * Entry of `npm run demo [-- --keep] [-- --json]`: the whole product doing its main job on this machine, on real parts.
 * Reads the command line and chooses who hears what; demo/run.ts is the run, demo/story.ts what it tells.
 */
import { letReadersGo } from './boot/readers.mjs';
import { readOptions, USAGE } from './demo/options.ts';
import { runDemo } from './demo/run.ts';
import { createTimeline } from './demo/timeline.ts';
import type { Counts } from './demo/verdict.ts';
import { explain } from './explain.ts';

/** Since this process was started, in ms. */
const elapsed = () => performance.now();
const note = (line: string) => void process.stderr.write(`${line}\n`);

/** Hears of signals; the local system is who obeys them. */
function listenForSignals(): () => boolean {
  let isInterrupted = false;
  const hear = () => {
    isInterrupted = true;
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, hear);
  return () => isInterrupted;
}

async function run({ keep, json }: { readonly keep: boolean; readonly json: boolean }): Promise<number> {
  const isInterrupted = listenForSignals();
  const timeline = createTimeline({ stream: json ? process.stderr : process.stdout, elapsed });
  // Whoever listened has gone, as `head` does.
  process.stdout.once('error', () => process.kill(process.pid, 'SIGTERM')).on('error', () => undefined);
  const onCounts = (counts: Counts) => {
    const seconds = Math.round(elapsed() / 10) / 100;
    if (json) process.stdout.write(`${JSON.stringify({ ...counts, seconds })}\n`);
    else timeline.text('', `Done in ${seconds} s${keep ? '' : '; everything is stopped'}.`);
  };
  try {
    const isWell = await runDemo({ keep, timeline, say: note, onCounts, isInterrupted });
    return isInterrupted() ? 130 : isWell ? 0 : 1;
  } catch (error) {
    // What fails while everything is being stopped is no news; the system ends this process.
    if (isInterrupted()) return await new Promise<never>(() => {});
    note(`demo: ${explain(error, { whole: true })}`);
    return 1;
  }
}

letReadersGo();
const options = readOptions(process.argv.slice(2));
switch (options.ask) {
  case 'help':
    process.stdout.write(USAGE);
    break;
  case 'nonsense':
    note(`demo: ${options.fault}\n\n${USAGE}`);
    process.exitCode = 2;
    break;
  case 'run':
    process.exitCode = await run(options);
    break;
  default:
    options satisfies never;
}
