/*
 * A Dockerfile as BuildKit reads it: what `docker build --check` would say, and the steps. Called by the tests of the image,
 * since no Docker engine is needed for either; the reader is dockerfile-lint/main.go, built on demand.
 */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { goTool } from './go-tool.ts';
import type { Say } from './progress.ts';
import { run } from './run.ts';

const texts = z.record(z.string(), z.string());
const stepSchema = z.object({
  /** The instruction, in upper case. */
  name: z.string(),
  /** Command line, sources, path or ports, as the instruction has it. */
  words: z._default(z.array(z.string()), []),
  /** Whether a shell is to read the command line. */
  shell: z._default(z.boolean(), false),
  /** What ARG, ENV and LABEL set. */
  pairs: z._default(texts, {}),
  /** The stage that COPY takes from; none for the build's own files. */
  from: z.optional(z.string()),
  /** Where COPY copies to. */
  to: z._default(z.string(), ''),
});
const stageSchema = z.object({ name: z.string(), base: z.string(), platform: z.string(), steps: z.array(stepSchema) });
const reportSchema = z.object({
  findings: z.array(z.object({ rule: z.string(), line: z.int(), detail: z.string() })),
  /** The arguments above the first stage, with their defaults. */
  args: texts,
  stages: z.array(stageSchema),
});

export type Dockerfile = Readonly<z.output<typeof reportSchema>>;
export type DockerfileStage = Dockerfile['stages'][number];

/** Absolute path of the reader, built if need be. */
export async function findDockerfileLint(say: Say): Promise<string> {
  return await goTool({
    name: 'dockerfile-lint',
    package: '.',
    folder: join(import.meta.dirname, 'dockerfile-lint'),
    say,
  });
}

/** Reads a file; what is wrong with it is among the findings. */
export async function readDockerfile(file: string, say: Say): Promise<Dockerfile> {
  return reportSchema.parse(JSON.parse(await run(await findDockerfileLint(say), [file])));
}
