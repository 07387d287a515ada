/*
 * Credentials for the API server, from the Kubernetes client's KubeConfig: address, headers, TLS. Used by cluster.ts and
 * main.ts. They are kept for a minute, because the library reads files on every call. After a 401 all is loaded anew (K14):
 * the library itself would go on with the token of a file for another minute.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node';
import { Agent, type Dispatcher } from 'undici';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { BegunPrograms } from './begun-programs.ts';
import { Doubts } from './kubeconfig-doubts.ts';
import { type Clock, NoCredentials } from './ports.ts';
import { type Patience, within } from './time-out.ts';

const KEPT_MS = 60_000;
/** Read so recently they are not read again: all calls that one token fails come at once. */
const RENEW_EVERY_MS = 1_000;
/** A program that is asked for them may hang, and nothing is asked of the API server meanwhile; it is ended then. */
const READ_WITHIN_MS = 15_000;

/** All that a call needs besides its path. `prefix` is the path part of the server's address. */
export interface Credentials {
  readonly origin: string;
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly dispatcher: Dispatcher;
  /** Which reading they are from; a higher one is newer. */
  readonly reading: number;
}

/** Gives credentials. */
export interface CredentialSource {
  current(): Promise<Credentials>;
  /** Newer ones than those that were refused, unless these were read a moment ago. */
  renewed(refused: Credentials): Promise<Credentials>;
  /**
   * A call got no answer: has the next one use what the kubeconfig says by now, if that is something else. `isRefused`: a certificate
   * was not taken, so what it says is asked for anew in any case, as by a program.
   */
  doubted(used: Credentials, isRefused: boolean): void;
}

/** What is chosen from a kubeconfig instead of what it says itself; undefined leaves it. */
export interface Choice {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
}

/** What the library takes for the cluster when it found no kubeconfig; it refuses plain HTTP later, in words about TLS. */
const NOTHING_FOUND = 'http://localhost:8080';

/**
 * Loads a kubeconfig: the given file, else what the library finds (KUBECONFIG, home, in-cluster).
 * @throws Error when there is none, no cluster in it, or not what was chosen.
 */
export function loadKubeConfig(file: string | undefined, choice: Choice = {}): KubeConfig {
  const place = `loading kubeconfig ${file ?? '(default)'}`;
  const config = new TokenFileConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (cause) {
    throw new Error(`${place}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (file === undefined && config.getCurrentCluster()?.server === NOTHING_FOUND)
    throw new Error(`${place}: there is none: KUBECONFIG is not set, there is no ~/.kube/config, and this is no Pod`);
  choose(config, choice, place);
  if (config.getCurrentCluster() === null) throw new Error(`${place}: it names no cluster`);
  return config;
}

const tokenFiles = z.object({
  users: z._default(
    z.array(z.object({ name: z.string(), user: z.nullish(z.object({ tokenFile: z.optional(z.string()) })) })),
    [],
  ),
});

/**
 * The library knows no `tokenFile` of a user: the bridge would come as nobody. As with kubectl the file counts before a token
 * beside it, and is named from where the kubeconfig is. Of several files in KUBECONFIG only the first can name one.
 */
class TokenFileConfig extends KubeConfig {
  override loadFromFile(file: string, options?: Parameters<KubeConfig['loadFromFile']>[1]): void {
    super.loadFromFile(file, options);
    const parsed = tokenFiles.safeParse(parse(readFileSync(file, 'utf8')));
    const named = new Map((parsed.success ? parsed.data.users : []).map(({ name, user }) => [name, user?.tokenFile]));
    this.users = this.users.map(({ token, ...user }) => {
      const tokenFile = named.get(user.name);
      if (tokenFile === undefined) return { ...user, ...(token === undefined ? {} : { token }) };
      return { ...user, authProvider: { name: 'tokenFile', config: { tokenFile: resolve(dirname(file), tokenFile) } } };
    });
  }
}

function choose(config: KubeConfig, { context, cluster, user }: Choice, place: string): void {
  if (context !== undefined) {
    if (config.getContextObject(context) === null) throw new Error(`${place}: it has no context ${context}`);
    config.setCurrentContext(context);
  }
  if (cluster === undefined && user === undefined) return;
  if (cluster !== undefined && config.getCluster(cluster) === null)
    throw new Error(`${place}: it has no cluster ${cluster}`);
  if (user !== undefined && config.getUser(user) === null) throw new Error(`${place}: it has no user ${user}`);
  const base = config.getContextObject(config.getCurrentContext());
  const name = 'chosen by flags';
  config.addContext({
    ...{ ...base, name },
    cluster: cluster ?? base?.cluster ?? '',
    user: user ?? base?.user ?? '',
  });
  config.setCurrentContext(name);
}

/** The same credentials with more headers. */
export function withHeaders(source: CredentialSource, headers: Credentials['headers']): CredentialSource {
  const more = async (credentials: Promise<Credentials>): Promise<Credentials> => {
    const known = await credentials;
    return { ...known, headers: { ...known.headers, ...headers } };
  };
  return {
    current: () => more(source.current()),
    renewed: (refused) => more(source.renewed(refused)),
    doubted: (used, isRefused) => source.doubted(used, isRefused),
  };
}

/**
 * Credentials from a kubeconfig, which is loaded at once, and again whenever they were refused. `timeout` in ms: how long a
 * program may take that is asked for them; 0 for ever, as where a person logs in meanwhile.
 */
export function createCredentials(
  load: () => KubeConfig,
  clock: Clock,
  timeout: number = READ_WITHIN_MS,
): CredentialSource {
  const means: Means = { clock, ms: timeout, fallback: new Agent(), programs: new BegunPrograms(clock) };
  let config = addressed(load());
  const doubts = new Doubts(clock, config);
  let kept: { readonly at: number; readonly reading: number; readonly credentials: Promise<Credentials> } | undefined;
  let readings = 0;

  function readAnew(): Promise<Credentials> {
    readings += 1;
    const reading = { at: clock.monotonic(), reading: readings, credentials: read(config, means, readings) };
    kept = reading;
    reading.credentials.catch(() => {
      if (kept === reading) kept = undefined;
    });
    return reading.credentials;
  }

  return {
    current: () => (kept !== undefined && clock.monotonic() - kept.at < KEPT_MS ? kept.credentials : readAnew()),
    renewed: async (refused) => {
      if (kept !== undefined && (kept.reading > refused.reading || clock.monotonic() - kept.at < RENEW_EVERY_MS))
        return await kept.credentials;
      config = addressed(load());
      doubts.loaded(config);
      return await readAnew();
    },
    doubted: (used, isRefused) => {
      // What is newer than what failed has not failed yet.
      if (kept !== undefined && kept.reading > used.reading) return;
      const loaded = doubts.look(() => addressed(load()), isRefused);
      if (loaded === undefined) return;
      config = loaded;
      readAnew().catch(() => {});
    },
  };
}

/** What credentials are read with, again and again. */
interface Means extends Patience {
  readonly fallback: Agent;
  programs: BegunPrograms;
}

async function read(config: KubeConfig, means: Means, reading: number): Promise<Credentials> {
  const { origin, pathname, href } = addressOf(config);
  means.programs = await programsAfter(means.programs, { config, clock: means.clock });
  const { clock, ms, programs, fallback } = means;
  const context = await authenticated(config, href, { clock, ms, programs });
  const dispatcher = context.getDispatcher() ?? fallback;
  return { origin, prefix: pathname.replace(/\/$/, ''), headers: context.getHeaders(), dispatcher, reading };
}

/** For those of the next reading: none is started beside one that hangs. */
async function programsAfter(
  programs: BegunPrograms,
  { config, clock }: { readonly config: KubeConfig; readonly clock: Clock },
): Promise<BegunPrograms> {
  if (await programs.areOver()) return new BegunPrograms(clock);
  throw new NoCredentials(sourceOf(config), new Error('one that hangs could not be ended, so no other is started'));
}

interface Asking extends Patience {
  readonly programs: BegunPrograms;
}

async function authenticated(
  config: KubeConfig,
  href: string,
  { programs, ...patience }: Asking,
): Promise<RequestContext> {
  const context = new RequestContext(href, HttpMethod.GET);
  const work = () => programs.run(() => config.applySecurityAuthentication(context));
  try {
    await (patience.ms === 0 ? work() : within(patience, work));
    return context;
  } catch (cause) {
    const isSilent = cause instanceof Error && cause.message === '';
    const source = programs.end() === 0 ? sourceOf(config) : `${sourceOf(config)}, which was ended`;
    throw new NoCredentials(source, isSilent ? new Error('it failed, and said nothing') : cause);
  }
}

/** Whom to look at when there are no credentials. */
function sourceOf(config: KubeConfig): string {
  const user = config.getCurrentUser();
  const command: unknown = user?.exec?.command ?? user?.authProvider?.config?.exec?.command;
  return typeof command === 'string' ? `the program ${command}` : 'the user of the kubeconfig';
}

/** Throws for one that is being written and names no address yet: what was read before goes on until the next refusal. */
function addressed(config: KubeConfig): KubeConfig {
  addressOf(config);
  return config;
}

function addressOf(config: KubeConfig): URL {
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) throw new Error('reading credentials: the kubeconfig names no cluster');
  return new URL(server);
}
