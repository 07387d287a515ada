/*
 * Builds an image's files without a Docker engine: runs the COPY and RUN steps of a Dockerfile in folders, one for each
 * stage, and starts the entry point from the last. A base image is stood in for by the Node.js that runs the test.
 * Used by test/infra/dockerfile.slow.test.ts.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Dockerfile, DockerfileStage } from '../../infra/local/dockerfile.ts';
import { root, trackedFiles } from './tracked-files.ts';

/** What the last stage says of how the image is run. */
export interface BuiltImage {
  /** The folder that stands for the image's root. */
  readonly folder: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly user: string;
  readonly remove: () => void;
}

/** Where a stage has got to. */
interface Stage {
  readonly folder: string;
  readonly args: Record<string, string>;
  readonly env: Record<string, string>;
  readonly labels: Record<string, string>;
  workdir: string;
  user: string;
  entrypoint: readonly string[];
  command: readonly string[];
}

/** Runs all stages; `given` are the build's arguments. */
export function buildStages(dockerfile: Dockerfile, given: Readonly<Record<string, string>>): BuiltImage {
  const folder = mkdtempSync(join(tmpdir(), 'finalizer-bridge-image-test-'));
  // The image is run as another user, who has to get there.
  chmodSync(folder, 0o711);
  const context = join(folder, 'context');
  fillContext(context);
  const stages = new Map<string, Stage>();
  let last: Stage | undefined;
  for (const [index, stage] of dockerfile.stages.entries()) {
    const name = stage.name === '' ? String(index) : stage.name;
    last = {
      folder: join(folder, `stage-${name}`),
      args: {},
      env: {},
      labels: {},
      workdir: '/',
      user: '0',
      entrypoint: [],
      command: [],
    };
    mkdirSync(join(last.folder, 'nodejs/bin'), { recursive: true });
    copyFileSync(process.execPath, join(last.folder, 'nodejs/bin/node'));
    for (const step of stage.steps) take(step, { stage: last, stages, context, given, global: dockerfile.args });
    stages.set(name, last);
  }
  if (last === undefined) throw new Error('building an image: the Dockerfile has no stage');
  return { ...last, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** What git tracks, as far as the .dockerignore beside the Dockerfile lets it in. */
function fillContext(context: string): void {
  const lines = readFileSync(join(root, 'bridge/Dockerfile.dockerignore'), 'utf8').split('\n');
  const admitted = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  for (const path of trackedFiles()) {
    if (!admitted.some((one) => path === one || path.startsWith(`${one}/`))) continue;
    mkdirSync(dirname(join(context, path)), { recursive: true });
    copyFileSync(join(root, path), join(context, path));
  }
}

interface Around {
  readonly stage: Stage;
  readonly stages: ReadonlyMap<string, Stage>;
  readonly context: string;
  readonly given: Readonly<Record<string, string>>;
  readonly global: Readonly<Record<string, string>>;
}

function take(step: DockerfileStage['steps'][number], around: Around): void {
  const { stage, given, global } = around;
  const { name, words, pairs } = step;
  if (name === 'WORKDIR') stage.workdir = resolve(stage.workdir, words[0] ?? '');
  else if (name === 'USER') stage.user = words[0] ?? '';
  else if (name === 'ENV') Object.assign(stage.env, pairs);
  else if (name === 'ENTRYPOINT') stage.entrypoint = inExecForm(step);
  else if (name === 'CMD') stage.command = inExecForm(step);
  else if (name === 'COPY') copy(step, around);
  else if (name === 'RUN') runStep(step, stage);
  else if (name === 'ARG') {
    for (const [key, value] of Object.entries(pairs)) {
      const set = given[key] ?? (value === '' ? global[key] : value);
      if (set !== undefined) stage.args[key] = set;
    }
  } else if (name === 'LABEL') {
    for (const [key, value] of Object.entries(pairs)) {
      stage.labels[key] = value
        .replace(/^"(.*)"$/, '$1')
        .replaceAll(/\$(\w+)/g, (_, arg: string) => stage.args[arg] ?? '');
    }
  } else if (name !== 'EXPOSE') throw new Error(`building an image: nobody taught the test what ${name} means`);
}

function inExecForm({ name, words, shell }: DockerfileStage['steps'][number]): readonly string[] {
  if (shell) throw new Error(`building an image: ${name} would be run by a shell`);
  return words;
}

function copy({ words, from, to }: DockerfileStage['steps'][number], { stage, stages, context }: Around): void {
  const source = from === undefined ? context : stages.get(from)?.folder;
  if (source === undefined) throw new Error(`building an image: there is no stage ${from}`);
  const target = join(stage.folder, resolve(stage.workdir, to));
  for (const word of words) {
    const path = join(source, word);
    if (!existsSync(path)) throw new Error(`building an image: COPY finds no ${word}`);
    // A file goes into a folder whose name ends with a slash; of a folder the contents are copied.
    const goal = to.endsWith('/') && statSync(path).isFile() ? join(target, basename(word)) : target;
    cpSync(path, goal, { recursive: true, preserveTimestamps: true });
  }
}

/** npm's cache, which is asked first, and what this machine trusts beside the usual authorities. */
function reachOfNpm(): Readonly<Record<string, string | undefined>> {
  const { HOME, NODE_EXTRA_CA_CERTS } = process.env;
  const trust = NODE_EXTRA_CA_CERTS === undefined ? {} : { NODE_EXTRA_CA_CERTS };
  return { HOME, ...trust, npm_config_prefer_offline: 'true' };
}

function runStep({ words, shell }: DockerfileStage['steps'][number], { folder, workdir, args, env }: Stage): void {
  const [command = '', ...rest] = shell ? ['/bin/sh', '-c', ...words] : words;
  const PATH = `${join(folder, 'nodejs/bin')}:${process.env.PATH}`;
  const { status, stderr, stdout } = spawnSync(command, rest, {
    cwd: join(folder, workdir),
    env: { ...reachOfNpm(), ...args, ...env, PATH },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`building an image: ${words.join(' ')} ended with ${status}\n${stdout}${stderr}`);
}
