/*
 * Entry of `npm run package`: bundles the functions, zips each, and has the framework make the CloudFormation template.
 * Works with no network and no AWS credentials. `-- --values <file>` names another values file than
 * functions.values.yml. What comes out lies in .serverless/ and build/; deploying it is the next step.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { registry } from '../functions/registry.ts';
import { writeArchive } from './archive.ts';
import { buildFunctions } from './build.ts';
import { ARTIFACTS, loadService } from './functions/service.ts';

const root = resolve(import.meta.dirname, '..');

/** Where to package, and from which settings. */
export interface PackageOptions {
  /** Folder with serverless.yml; what is made lies in its .serverless/ and build/. */
  readonly serviceDir: string;
  /** A values file; without one functions.values.yml of the service's folder, or the example. */
  readonly values?: string | undefined;
  /** Folder with one `<handler>/index.mjs` each. */
  readonly bundles: string;
  /** The framework's environment variables; by default ours. */
  readonly env?: NodeJS.ProcessEnv;
}

/** What packaging made. */
export interface Packaged {
  /** The framework's exit code. */
  readonly code: number;
  /** What the framework said. */
  readonly output: string;
  /** Zips by handler, absolute paths. */
  readonly archives: Readonly<Record<string, string>>;
  /** The CloudFormation template, absolute path. */
  readonly template: string;
}

/**
 * Checks the values, zips the bundles and runs the framework's `package`.
 * @throws ValuesError with every fault of the values.
 */
export async function packageFunctions({ serviceDir, values, bundles, env }: PackageOptions): Promise<Packaged> {
  const { functions } = loadService({ file: values, folder: serviceDir, exampleAllowed: true, handlers: registry });
  const archives: Record<string, string> = {};
  await mkdir(join(serviceDir, ARTIFACTS), { recursive: true });
  for (const [handler, { package: made }] of Object.entries(functions)) {
    const archive = join(serviceDir, made.artifact);
    await writeArchive({ bundle: join(bundles, handler, 'index.mjs'), entry: 'index.mjs', archive });
    archives[handler] = archive;
  }
  const args = ['package', ...(values === undefined ? [] : ['--param', `values=${resolve(values)}`])];
  const ran = await runFramework(args, { cwd: serviceDir, ...(env === undefined ? {} : { env }) });
  return { ...ran, archives, template: join(serviceDir, '.serverless/cloudformation-template-update-stack.json') };
}

/**
 * By absolute path and on the Node that runs this file: neither `serverless` nor `node` is looked for on the PATH.
 * This framework (osls) reports no usage and asks for no newer version of itself, so there is nothing to switch off.
 */
async function runFramework(args: readonly string[], where: { cwd: string; env?: NodeJS.ProcessEnv }) {
  const framework = join(root, 'node_modules/serverless/bin/serverless.js');
  const child = spawn(process.execPath, [framework, ...args], { ...where, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: typeof code === 'number' ? code : 1, output: `${out}${err}`.trim() };
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { values: { type: 'string' } } }).values;
  const from = values === undefined ? {} : { values };
  // Read first for its faults only: bundling takes longer than finding them.
  loadService({ file: values, folder: root, exampleAllowed: true, handlers: registry });
  const { outDir: bundles } = await buildFunctions();
  const packaged = await packageFunctions({ serviceDir: root, bundles, ...from });
  const { code, output, archives, template } = packaged;
  console.error(output);
  if (code === 0) for (const made of [...Object.values(archives), template]) console.log(relative(root, made));
  return code;
}

if (import.meta.filename === process.argv[1]) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
