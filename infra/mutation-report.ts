/*
 * Reads what the mutation tester found out (its JSON report, mutation-testing-report-schema) and says it per module. Pure but
 * for the text that it is given; called by mutate.ts.
 */
import * as z from 'zod/mini';
import type { Mutated } from '../test/mutation/modules.ts';

const position = z.looseObject({ line: z.int(), column: z.int() });
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
  /** In per cent, of the edits made; 0 where none was. */
  readonly percent: number;
  readonly atLeast: number;
  readonly isEnough: boolean;
  /** `line:column: what was put there`, of the edits that nobody noticed. */
  readonly survivors: readonly string[];
}

const NOTICED = ['Killed', 'Timeout'];
const UNNOTICED = ['Survived', 'NoCoverage'];

/**
 * The score of a module.
 * @throws Error when the report is none, or has nothing about the module
 */
export function readScore(report: string, { file, atLeast }: Mutated): Score {
  const mutants = reportSchema.parse(JSON.parse(report)).files[file]?.mutants;
  if (mutants === undefined) throw new Error(`reading the report of the mutation tester: nothing about ${file}`);
  const noticed = mutants.filter(({ status }) => NOTICED.includes(status)).length;
  const left = mutants.filter(({ status }) => UNNOTICED.includes(status));
  const made = noticed + left.length;
  const percent = made === 0 ? 0 : (100 * noticed) / made;
  const survivors = left.map(({ location: { start }, replacement, mutatorName }) => {
    return `${start.line}:${start.column}: ${replacement ?? mutatorName}`;
  });
  return { file, noticed, made, percent, atLeast, isEnough: made > 0 && percent >= atLeast, survivors };
}

/** For people: each module, and below it the edits that nobody noticed. */
export function linesOf(scores: readonly Score[]): readonly string[] {
  return scores.flatMap(({ file, noticed, made, percent, atLeast, isEnough, survivors }) => [
    `${file}: ${noticed} of ${made} edits noticed, ${percent.toFixed(1)} %${isEnough ? '' : `: fewer than ${atLeast} %`}`,
    ...survivors.map((survivor) => `  not noticed: ${survivor.replaceAll(/\s+/g, ' ').slice(0, 140)}`),
  ]);
}
