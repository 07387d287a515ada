/*
 * Entry of `npm run deploy [-- --stage S] [--values FILE]`: checks values and credentials, builds the functions,
 * packages them, and has the framework deploy the stack. What comes next is bridge-values.ts, for the bridge.
 */
import { join, relative } from 'node:path';
import { buildFunctions } from './build.ts';
import { runFramework } from './framework.ts';
import { packageFunctions } from './package.ts';
import { queuesClient, requireCredentials, type StackPlace, valuesOf } from './stack.ts';
import { frameworkArgs, stackOptions } from './stack-options.ts';
import { helped, type Usage } from './stack-usage.ts';
import { runEntry } from './tool.ts';

const root = join(import.meta.dirname, '..');

/** What is deployed, and who hears of it. */
export interface DeployRequest extends StackPlace {
  /** Folder with one `<handler>/index.mjs` each. */
  readonly bundles: string;
  readonly say: (text: string) => void;
}

/** Packages and deploys; returns the framework's exit code. Throws ValuesError before anything is touched. */
export async function deployFunctions({ deployed, serviceDir, env, bundles, say }: DeployRequest): Promise<number> {
  const { service, stage, region, handlers } = valuesOf({ deployed, serviceDir }, { deploys: true });
  const environment = env === undefined ? {} : { env };
  const packaged = await packageFunctions({ serviceDir, bundles, ...deployed, ...environment });
  if (packaged.code !== 0) {
    say(`${packaged.output}\n`);
    return packaged.code;
  }
  say(`Deploying ${service}-${stage} to ${region}: ${Object.keys(handlers).join(', ')}\n`);
  const { code } = await runFramework(['deploy', ...frameworkArgs(deployed)], { cwd: serviceDir, say, ...environment });
  if (code === 0)
    say('Next: npm run bridge-values, for the values that the bridge is installed with (docs/deploy.md)\n');
  return code;
}

/** Text of --help. */
const USAGE: Usage = {
  command: 'deploy',
  does: [
    'Checks the values and the AWS credentials, builds and packages the functions, and deploys their stack.',
    'Next: npm run bridge-values, for the values that the bridge is installed with.',
  ],
};

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (helped(args, USAGE)) return 0;
  const { deployed } = stackOptions(args);
  const { region } = valuesOf({ deployed, serviceDir: root }, { deploys: true });
  await requireCredentials(queuesClient(region));
  const { outDir: bundles } = await buildFunctions();
  const say = (text: string) => void process.stderr.write(text);
  say(`Built the functions in ${relative(root, bundles)}\n`);
  return await deployFunctions({ deployed, serviceDir: root, bundles, say });
}

if (import.meta.main) await runEntry(main);
