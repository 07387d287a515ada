/*
 * Entry of `npm run soak`: the whole system as processes on a real API server, beaten for some minutes by chaos.ts while
 * people use it (world.ts); then the beating stops, everything must settle, and audit.ts looks for what is lost, leaked or
 * wrongly deleted. Ends with 1 when something is.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { runCommand } from '../../infra/command.ts';
import { audit, type Finding } from './audit.ts';
import { rage } from './chaos.ts';
import { readOptions, type SoakOptions, USAGE } from './options.ts';
import { countsOf, endsOf, isClean, linesOf, type Report } from './report.ts';
import { type Stage, startStage } from './stage.ts';
import { type World, worldOf } from './world.ts';

const say = (text: string) => console.error(text);
/** What a killed function had in work comes again after five and a half minutes. */
const SETTLE_WITHIN_MS = 15 * 60_000;
const LOOK_EVERY_MS = 5000;
const TELL_EVERY_MS = 30_000;

async function soak(options: SoakOptions): Promise<Report> {
  const stage = await startStage(say);
  const world = worldOf(stage, options.seed);
  try {
    say(`seed ${options.seed}: breaking things for ${options.minutes} min`);
    const misfortunes = await beat(stage, world, options);
    say('no more misfortunes; waiting until all has settled');
    const { seconds, findings } = await settle(world);
    const { ends, crashes } = endsOf([...stage.bridges, ...stage.functions]);
    const broken: readonly Finding[] = crashes.map((detail) => ({ kind: 'stuck', name: 'process', detail }));
    return {
      ...{ seed: options.seed, minutes: options.minutes, settledSeconds: seconds, misfortunes, ends },
      ...countsOf(world.ledger),
      findings: [...findings, ...broken],
    };
  } finally {
    world.close();
    await stage.stop();
  }
}

/** People and misfortunes, side by side, for so many minutes. */
async function beat(stage: Stage, world: World, { minutes, seed, rate }: SoakOptions) {
  const over = AbortSignal.timeout(minutes * 60_000);
  const every = async (ms: number, act: () => Promise<void>) => {
    while (!over.aborted) {
      await act();
      await wait(ms, undefined, { signal: over }).catch(() => undefined);
    }
  };
  const tell = async () =>
    say(
      `  ${world.ledger.length} made, ${world.ledger.filter(({ deletedAt }) => deletedAt !== undefined).length} deleted`,
    );
  const [misfortunes] = await Promise.all([
    rage(stage, seed + 1, over),
    every(1000 / rate, world.make),
    every(2000, world.deleteSome),
    every(3000, world.helpOne),
    every(TELL_EVERY_MS, tell),
  ]);
  return misfortunes;
}

/** Looks until nothing is open any more, or it is late: then what was found last stands. */
async function settle(
  world: World,
): Promise<{ readonly seconds: number | undefined; readonly findings: readonly Finding[] }> {
  const began = performance.now();
  for (let told = began; ; await wait(LOOK_EVERY_MS)) {
    const isAllDeleted = await world.deleteRest();
    const findings = audit(world.ledger, await world.look());
    const seconds = Math.round((performance.now() - began) / 1000);
    if (isAllDeleted && findings.length === 0) return { seconds, findings };
    if (performance.now() - began > SETTLE_WITHIN_MS) return { seconds: undefined, findings };
    if (performance.now() - told > TELL_EVERY_MS) {
      told = performance.now();
      const [first] = findings;
      say(`  after ${seconds} s open: ${findings.length}, for example ${first?.kind} ${first?.name}: ${first?.detail}`);
    }
  }
}

async function main(options: SoakOptions): Promise<number> {
  const report = await soak(options);
  console.log(options.json ? JSON.stringify(report, undefined, 2) : linesOf(report).join('\n'));
  return isClean(report) ? 0 : 1;
}

await runCommand({ usage: USAGE, read: (args) => readOptions(args, randomInt(1, 1e9)), run: main });
