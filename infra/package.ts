/*
 * Entry of `npm run package`: bundles the functions, zips each, and has the framework make the CloudFormation template.
 * Works with no network and no AWS credentials; stack-options.ts has its options. What comes out lies in .serverless/ and
 * build/; deploy.ts is the next step.
 */
import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { registry } from '../functions/registry.ts';
import { writeArchive } from './archive.ts';
import { buildFunctions } from './build.ts';
import { runFramework } from './framework.ts';
import { ARTIFACTS, loadService } from './functions/service.ts';
import { type Deployed, frameworkArgs, stackOptions } from './stack-options.ts';
import { helped, type Usage } from './stack-usage.ts';
import { runEntry } from './tool.ts';

const root = resolve(import.meta.dirname, '..');

/** Where to package, and from which settings; without a values file functions.values.yml of that folder, or the example. */
export interface PackageOptions extends Deployed {
  /** Folder with serverless.yml; what is made lies in its .serverless/ and build/. */
  readonly serviceDir: string;
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
export async function packageFunctions(options: PackageOptions): Promise<Packaged> {
  const { serviceDir, values, bundles, env } = options;
  const { functions } = loadService({ file: values, folder: serviceDir, exampleAllowed: true, handlers: registry });
  const archives: Record<string, string> = {};
  await mkdir(join(serviceDir, ARTIFACTS), { recursive: true });
  for (const [handler, { package: made }] of Object.entries(functions)) {
    const archive = join(serviceDir, made.artifact);
    await writeArchive({ bundle: join(bundles, handler, 'index.mjs'), entry: 'index.mjs', archive });
    archives[handler] = archive;
  }
  const ran = await runFramework(['package', ...frameworkArgs(options)], {
    cwd: serviceDir,
    ...(env === undefined ? {} : { env }),
  });
  return { ...ran, archives, template: join(serviceDir, '.serverless/cloudformation-template-update-stack.json') };
}

/** Text of --help. */
const USAGE: Usage = {
  command: 'package',
  does: [
    'Builds the functions, zips each, and makes the CloudFormation template; needs no network and no credentials.',
    'Prints what it made. Next: npm run deploy.',
  ],
};

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (helped(args, USAGE)) return 0;
  const { values, stage } = stackOptions(args).deployed;
  // Read first for its faults only: bundling takes longer than finding them.
  const asked = { stage };
  loadService({ file: values, folder: root, exampleAllowed: true, handlers: registry, asked });
  const { outDir: bundles } = await buildFunctions();
  const packaged = await packageFunctions({ serviceDir: root, bundles, values, stage });
  const { code, output, archives, template } = packaged;
  console.error(output);
  if (code === 0) for (const made of [...Object.values(archives), template]) console.log(relative(root, made));
  return code;
}

if (import.meta.main) await runEntry(main);
