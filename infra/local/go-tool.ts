/*
 * Programs that are built from their Go modules on demand, at the version in a committed go.mod whose checksums Go verifies,
 * into the cache. Called for what has no package of another kind: versitygw, and the linters of the tests.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, cacheRoot, type Environment } from './cache.ts';
import { type Say, withHeartbeat } from './progress.ts';
import { run } from './run.ts';

const FLAGS = ['-trimpath', '-ldflags=-s -w'];

/** What to build. */
export interface GoTool {
  readonly name: string;
  /** The package with its `main`; `.` for one whose sources lie beside the go.mod. */
  readonly package: string;
  /** Absolute path of the folder with go.mod and go.sum. */
  readonly folder: string;
  readonly say: Say;
  readonly env?: Environment;
}

/** The program's path; builds it if nobody did before. Throws with Go's last words when Go is missing or the build fails. */
export async function goTool({ name, package: path, folder, say, env = process.env }: GoTool): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(FLAGS));
  const sources = (await readdir(folder)).filter((file) => /^go\.(mod|sum)$|\.go$/.test(file)).sort();
  for (const file of sources) hash.update(await readFile(join(folder, file)));
  const made = await cached({
    root: cacheRoot(env),
    key: `${name}-${hash.digest('hex').slice(0, 16)}-${process.platform}-${process.arch}`,
    say,
    fill: async (temporary) => {
      const args = ['build', ...FLAGS, '-o', join(temporary, name), path];
      const environment = { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly' };
      await withHeartbeat({ say, what: `building ${name} from its Go module` }, () =>
        run('go', args, { cwd: folder, env: environment }),
      );
    },
  });
  return join(made, name);
}
