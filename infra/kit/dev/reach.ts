/*
 * What the function of a first run may reach. A command for trying must never delete something by accident, so it is this
 * machine and the endpoint that was named, unless somebody says that real AWS is meant. Called by dev.ts; wall.ts keeps to it.
 */
import { extname, join } from 'node:path';
import { KitError } from '../error.ts';

/** Where a function's calls go. */
export type Reach =
  | { readonly kind: 'endpoint'; readonly endpoint: string; readonly hosts: readonly string[] }
  | { readonly kind: 'real' };

/** What is said on the command line. */
export interface ReachAsked {
  /** URL of an emulator, or of what `--outside` has started. */
  readonly endpoint?: string | undefined;
  readonly realAws?: boolean | undefined;
}

const WALL = join(import.meta.dirname, `wall${extname(import.meta.filename)}`);
const AWS = /(^|\.)(amazonaws\.com(\.cn)?|api\.aws|aws\.amazon\.com|amazonwebservices\.com)\.?$/i;

/** Decides. @throws KitError when it is not said, or said twice, or real AWS is named without the word for it. */
export function reachOf({ endpoint, realAws = false }: ReachAsked): Reach {
  if (realAws) {
    if (endpoint !== undefined) throw new KitError('--real-aws and an endpoint do not go together');
    return { kind: 'real' };
  }
  if (endpoint === undefined) {
    throw new KitError(
      'say what the function may reach: --endpoint <url> of an emulator, --outside <module> that starts one, or --real-aws, which deletes real things',
    );
  }
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new KitError(`--endpoint ${endpoint}: is not a URL of http or https`);
  if (AWS.test(url.hostname)) {
    throw new KitError(
      `--endpoint ${endpoint}: is real AWS, where a first run deletes real things; if that is meant, say --real-aws instead`,
    );
  }
  return { kind: 'endpoint', endpoint: endpoint.replace(/\/$/, ''), hosts: [url.hostname] };
}

/**
 * Arguments of a Node.js behind the wall. What the wall does not hold is taken by Node's permissions, whichever way is tried:
 * programs, worker threads and native code. Files are open; so is the network of a Node.js whose permissions know of it.
 */
export function withWall(
  flags: Pick<ReadonlySet<string>, 'has'> = process.allowedNodeEnvironmentFlags,
): readonly string[] {
  const network = flags.has('--allow-net') ? ['--allow-net'] : [];
  return ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', ...network, '--import', WALL];
}
