/*
 * Reads what the mutation tester found out (its JSON report, mutation-testing-report-schema) and says it per module. Pure but
 * for the text that it is given; called by mutate.ts.
 */
import * as z from 'zod/mini';
import type { Mutated } from '../test/mutation/modules.ts';

const position = z.looseObject({ line: z.int() });
const mutantSchema = z.looseObject({
  mutatorName: z.string(),
  replacement: z.optional(z.string()),
  status: z.string(),
  location: z.looseObject({ start: position }),
});
const reportSchema = z.looseObject({
  files: z.record(z.string(), z.looseObject({ mutants: z.array(mutantSchema) })),
});

/** How the edits of one module fared. */
export interface Score {
  readonly file: string;
  readonly noticed: number;
  /** Edits that some test could have noticed: those that do not compile or are made at load time are not counted. */
  readonly made: number;
  /** In per cent, of the edits made; 100 where none was. */
  readonly percent: number;
  readonly atLeast: number;
  readonly isEnough: boolean;
  /** `line: what was put there`, of the edits that nobody noticed. */
  readonly survivors: readonly string[];
}

const NOTICED = ['Killed', 'Timeout'];
const UNNOTICED = ['Survived', 'NoCoverage'];

/**
 * The score of each module.
 * @throws Error when the report is none, or has nothing about a module
 */
export function readScores(report: string, modules: readonly Mutated[]): readonly Score[] {
  const { files } = reportSchema.parse(JSON.parse(report));
  return modules.map(({ file, atLeast }) => {
    const mutants = files[file]?.mutants;
    if (mutants === undefined) throw new Error(`reading the report of the mutation tester: nothing about ${file}`);
    const noticed = mutants.filter(({ status }) => NOTICED.includes(status)).length;
    const left = mutants.filter(({ status }) => UNNOTICED.includes(status));
    const made = noticed + left.length;
    const percent = made === 0 ? 100 : (100 * noticed) / made;
    const survivors = left.map(
      ({ location, replacement, mutatorName }) => `${location.start.line}: ${replacement ?? mutatorName}`,
    );
    return { file, noticed, made, percent, atLeast, isEnough: percent >= atLeast, survivors };
  });
}

/** For people: each module, and below it the edits that nobody noticed. */
export function linesOf(scores: readonly Score[]): readonly string[] {
  return scores.flatMap(({ file, noticed, made, percent, atLeast, isEnough, survivors }) => [
    `${file}: ${noticed} of ${made} edits noticed, ${percent.toFixed(1)} %${isEnough ? '' : `: fewer than ${atLeast} %`}`,
    ...survivors.map((survivor) => `  not noticed: ${survivor.replaceAll(/\s+/g, ' ').slice(0, 140)}`),
  ]);
}
