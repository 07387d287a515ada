/*
 * The helm command: HELM from the environment, our cache, one on the PATH that is new enough, or a Go build of the committed
 * module files (two minutes on two cores, once). Used by the tests of the chart and by what packages it.
 */
import { join } from 'node:path';
import { z } from 'zod/mini';
import { explain } from '../explain.ts';
import type { Environment } from './cache.ts';
import { goTool } from './go-tool.ts';
import type { Say } from './progress.ts';
import { run } from './run.ts';

const PACKAGE = 'helm.sh/helm/v4/cmd/helm';
/** What the chart is promised to work with: 3.17 is the first that can take over what another release has left. */
const OLDEST = { major: 3, minor: 17 };

/** How helm is found. */
export interface FindHelm {
  readonly say: Say;
  readonly env?: Environment;
}

/** A command that can be run. Throws one line that says what to install. */
export async function findHelm({ say, env = process.env }: FindHelm): Promise<string> {
  if (env.HELM !== undefined && env.HELM !== '') return await checked(env.HELM, env);
  const reasons: string[] = [];
  try {
    return await checked('helm', env);
  } catch (error) {
    reasons.push(explain(error));
  }
  try {
    return await goTool({ name: 'helm', package: PACKAGE, folder: join(import.meta.dirname, 'helm'), say, env });
  } catch (error) {
    reasons.push(explain(error));
  }
  const { major, minor } = OLDEST;
  throw new Error(
    `finding helm: install helm ${major}.${minor} or newer (https://helm.sh/docs/intro/install), or Go 1.26 (${reasons.join('; ')})`,
  );
}

const versionText = z.string().check(z.regex(/^v\d+\.\d+/));

async function checked(command: string, env: Environment): Promise<string> {
  const said = (await run(command, ['version', '--template', '{{.Version}}'], { env })).trim();
  const version = versionText.safeParse(said);
  const [major = 0, minor = 0] = version.success ? version.data.slice(1).split('.').map(Number) : [];
  const isNew = major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor);
  if (!isNew) throw new Error(`looking at ${command}: ${said} is older than ${OLDEST.major}.${OLDEST.minor}`);
  return command;
}
