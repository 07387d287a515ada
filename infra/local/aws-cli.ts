/*
 * The AWS command line in a cached Python environment, for the tests that follow the documents: it talks to whatever
 * AWS_ENDPOINT_URL names. Installed by pip, about 20 s the first time.
 */
import { join } from 'node:path';
import type { Environment } from './cache.ts';
import type { Say } from './progress.ts';
import { pythonEnvironment } from './python.ts';

/** Words that start the command line; what follows are its arguments. */
export async function findAwsCli(say: Say, env: Environment = process.env): Promise<readonly [string, ...string[]]> {
  const requirements = join(import.meta.dirname, 'awscli', 'requirements.txt');
  const what = 'the AWS command line';
  const folder = await pythonEnvironment({ say, env, name: 'awscli', requirements, what, least: 10 });
  // By module: the scripts in a cached environment name the folder it was made in, which has been renamed.
  return [join(folder, 'bin', 'python'), '-m', 'awscli'];
}
