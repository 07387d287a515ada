/*
 * Entry of `npm run bench`: what the shipped bridge does on a real API server and queue, against a floor of bare PATCHes
 * in the same run. Candidates take turns in every round, so that a busy machine is busy for all of them.
 * Method and figures are in docs/benchmarks.md; budgets are not judged here, counts that must hold are held by tests.
 */
import { runCommand } from '../../infra/command.ts';
import { memoryOf } from './memory.ts';
import { objectsOf } from './objects.ts';
import { type BenchOptions, readOptions, USAGE } from './options.ts';
import { type Measured, type Report, type Round, reportOf, textOf } from './report.ts';
import { type Figures, floor, scenesOf } from './scenes.ts';
import { onStage, type Stage } from './stage.ts';

/** For a line that tells how far it is; the report has the numbers as they are. */
const rounded = (_key: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(3)) : value);
const say = (text: string) => console.error(text);

async function bench(options: BenchOptions): Promise<Report> {
  return await onStage(say, async (stage) => {
    const objects = objectsOf(stage.kube);
    try {
      return reportOf(await inTurns({ stage, objects, options }));
    } finally {
      await objects.close();
    }
  });
}

interface Standing {
  readonly stage: Stage;
  readonly objects: ReturnType<typeof objectsOf>;
  readonly options: BenchOptions;
}

async function inTurns(standing: Standing): Promise<Measured> {
  const { candidates, rounds } = standing.options;
  const floors: Figures[] = [];
  const measured = new Map<string, Round[]>(candidates.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    floors.push(await floor({ ...standing, name: `r${round}` }));
    for (const [index, candidate] of candidates.entries()) {
      const setting = { ...standing, name: `r${round}-c${index}` };
      const scenes = await scenesOf(setting, candidate);
      measured.get(candidate.name)?.push(scenes);
      say(`round ${round} of ${rounds}, ${candidate.name}: ${JSON.stringify(scenes, rounded)}`);
    }
  }
  if (standing.options.memory) {
    for (const [name, scenes] of await memoryOf({ ...standing, name: 'm' }, candidates, say)) {
      measured.get(name)?.push(scenes);
    }
  }
  return { floors, rounds: measured };
}

async function main(options: BenchOptions): Promise<number> {
  const report = await bench(options);
  process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : textOf(report));
  return 0;
}

await runCommand({ usage: USAGE, read: readOptions, run: main });
