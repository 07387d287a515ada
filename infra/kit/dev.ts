/*
 * `finalizer-bridge dev`: the first run of a handler. Its function, bundled as it is deployed, gets one request from queues on
 * this machine, and what becomes of it is told step by step. Called by the command line; dev/ has the parts.
 */
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Handler } from '../../functions/handler.ts';
import { likelySecrets } from '../functions/secrets.ts';
import { readValues, VALUES_FILE } from '../functions/values.ts';
import { LOCAL_ACCOUNT_ID, LOCAL_REGION } from '../local/places.ts';
import { bundleFunction } from './artefacts.ts';
import { type Reach, reachOf } from './dev/reach.ts';
import { type DevRequest, readRequest } from './dev/request.ts';
import { runSession } from './dev/session.ts';
import { lineOf, type Step } from './dev/timeline.ts';
import type { DevOptions, DevReport } from './dev-report.ts';
import { KitError } from './error.ts';
import { asModule, importAll } from './modules.ts';
import { loadRegistry } from './registry.ts';

/** The exit code of a shell for SIGINT. */
const INTERRUPTED = 130;

const outsideShape = z.object({
  endpoint: z.string(),
  stop: z.custom<() => unknown>((value) => typeof value === 'function'),
});
const startShape = z.custom<() => unknown>((value) => typeof value === 'function');

/** Sends one request and waits for its answer. @throws KitError for what is missing, and when no answer comes. */
export async function runDev(options: DevOptions): Promise<DevReport> {
  const { folder, say } = options;
  await using stack = new AsyncDisposableStack();
  const registry = await loadRegistry({ folder, file: options.registry });
  const handler = handlerNamed(registry.handlers, options.handler);
  const asked = readRequest(handler, options, Date.now());
  const outside = options.outside === undefined ? undefined : await startOutside(options, stack);
  const reach = reachOf({ ...options, endpoint: outside ?? options.endpoint });
  const configuration = configurationFor(options, { handlers: registry.handlers, handler, asked });
  const temporary = await mkdtemp(join(tmpdir(), 'finalizer-bridge-dev-'));
  stack.use(removedWhenDone(temporary));
  const entry = await bundleFunction(registry, handler.name, join(temporary, 'functions'));
  say(heading(handler, asked, reach));
  const steps: Step[] = [];
  const onStep = (step: Step) => {
    steps.push(step);
    say(lineOf(step, steps[0]?.at ?? step.at));
  };
  const { timeout, goesOn = false } = options;
  const session = { handler, asked, reach, entry, configuration, timeout, goesOn, onStep };
  const answered = await runSession({ ...session, folders: { project: folder, temporary } });
  const from = steps[0]?.at ?? 0;
  return {
    ...{ handler: handler.name, requestId: asked.request.id, ...answered },
    steps: steps.map(({ at, what, text }) => ({ ms: Math.max(0, at - from), what, text })),
  };
}

/** A folder that goes at the end, also when a person interrupts the run; the processes end with this one. */
function removedWhenDone(folder: string): Disposable {
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const interrupted = () => process.exit(INTERRUPTED);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  process.once('exit', remove);
  for (const signal of signals) process.once(signal, interrupted);
  return {
    [Symbol.dispose]: () => {
      process.off('exit', remove);
      for (const signal of signals) process.off(signal, interrupted);
      remove();
    },
  };
}

function handlerNamed(handlers: readonly Handler[], name: string | undefined): Handler {
  const names = handlers.map((handler) => handler.name).join(', ');
  if (name === undefined && handlers.length > 1) throw new KitError(`name the handler to run: ${names}`);
  const found = name === undefined ? handlers[0] : handlers.find((handler) => handler.name === name);
  if (found === undefined) throw new KitError(`the registry has no handler ${name}; there are ${names}`);
  return found;
}

/** Starts what stands for the outside, and has it stopped at the end. */
async function startOutside({ folder, outside = '', endpoint, realAws }: DevOptions, stack: AsyncDisposableStack) {
  if (endpoint !== undefined || realAws === true)
    throw new KitError('--outside, --endpoint and --real-aws exclude each other');
  if (!existsSync(join(folder, outside))) throw new KitError(`there is no ${outside} in ${folder}`);
  const [exported] = await importAll(folder, [asModule(outside)]);
  const start = startShape.safeParse(exported?.start);
  if (!start.success) throw new KitError(`${outside} exports no function start, as "export async function start()"`);
  const started = outsideShape.safeParse(await start.data());
  if (!started.success) throw new KitError(`start of ${outside} does not resolve to { endpoint, stop }`);
  stack.defer(async () => void (await started.data.stop()));
  return started.data.endpoint;
}

interface Known {
  readonly handlers: readonly Handler[];
  readonly handler: Handler;
  readonly asked: DevRequest;
}

/** The function's configuration: what the values say of the handler; without values all that the request names is allowed. */
function configurationFor({ folder, values: file }: DevOptions, { handlers, handler, asked }: Known) {
  const { place } = asked.identity;
  const { account, region } = place === 'outside' ? { account: LOCAL_ACCOUNT_ID, region: LOCAL_REGION } : place;
  const allow = { accounts: [account], regions: [region], names: ['*'] };
  const ownershipNone = 'none' in asked.request.data.ownership;
  if (file === undefined && !existsSync(join(folder, VALUES_FILE))) return { account, allow, ownershipNone };
  const names = handlers.map(({ name }) => name);
  const where = { file: file === undefined ? undefined : join(folder, file), folder, exampleAllowed: false };
  const { values } = readValues(where, names);
  const settings = values.handlers[handler.name];
  if (settings === undefined) return { account, allow, ownershipNone };
  const { maximumConcurrency: _, ...own } = settings;
  // A reference to a secret is only put in when it is deployed.
  return { ...likelySecrets(own), account };
}

function heading({ name, version }: Handler, { identity, isSample }: DevRequest, reach: Reach): string {
  const where = reach.kind === 'real' ? 'REAL AWS' : reach.endpoint;
  const made = isSample ? ', a target made up of the schema' : '';
  return `${name} ${version}: ${identity.names.join(', ')}${made}, at ${where}`;
}
