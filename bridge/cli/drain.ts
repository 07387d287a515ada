/*
 * `drain`: takes rules away so that nothing is left that can never be deleted (P9), with the bridge running or long gone.
 * Lists what is there, asks, and hands over to drain/run.ts. Ends with 0 only when all is clean; it can be run again, at any
 * time, as often as need be. In the chart it runs before the bridge is uninstalled.
 */
import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod/mini';
import { parseDuration } from '../duration.ts';
import { ANYWHERE, knownNamespaces } from '../rule-namespaces.ts';
import { type Context, defineCommand, EXIT, type Exit, misused } from './command.ts';
import type { DrainWorld } from './drain/api.ts';
import { type BridgeSaid, BridgeSight } from './drain/bridge-sight.ts';
import { standingOf, withTargets } from './drain/holding.ts';
import {
  type Ended,
  endData,
  endLines,
  isClean,
  missingLines,
  NAMED_MAX,
  nextLine,
  type Planned,
  planLines,
} from './drain/report.ts';
import { giveUpRights } from './drain/rights.ts';
import { handsOf } from './drain/rule-drain.ts';
import { type DrainOptions, runDrain, type Survey, survey } from './drain/run.ts';
import type { DrainEnd } from './drain/step.ts';
import { fewOf } from './few.ts';
import { print } from './print.ts';
import { commandOf } from './shell.ts';

const TIMEOUT_MS = 15 * 60_000;

const optionsSchema = z.object({
  releaseHeld: z._default(z.enum(['none', 'wait', 'now']), 'none'),
  rule: z._default(z.array(z.string()), []),
  within: z._default(z.array(z.string()), []),
  timeout: z._default(z.number(), TIMEOUT_MS),
  yes: z._default(z.boolean(), false),
  bridgeUp: z._default(z.boolean(), false),
  bridgeGone: z.optional(z.union([z.literal(true), z.number()])),
});
type Options = z.output<typeof optionsSchema>;

export const drain = defineCommand({
  name: 'drain',
  summary: 'Takes rules away, and leaves no object that can never be deleted',
  options: optionsSchema,
  usage: (command) =>
    command
      .addOption(
        new Option(
          '--release-held [when]',
          'let held objects go without teardown: when no request can still run (wait), or now',
        )
          .choices(['wait', 'now'])
          .preset('wait'),
      )
      .option('--rule <name...>', 'only these rules; all of them, and entries without a rule, when left out')
      .option(
        '--within <namespace...>',
        'where not all may be listed, look into these as well as into those that rules name',
      )
      .addOption(new Option('--timeout <time>', 'how long to wait, such as 20m (default: 15m)').argParser(timeoutOf))
      .option('-y, --yes', 'do not ask')
      .addOption(new Option('--bridge-up', 'a bridge runs, whatever its lease says').conflicts('bridgeGone'))
      .addOption(
        new Option(
          '--bridge-gone [since]',
          'no bridge runs, where its lease is not there or cannot be read; since when, such as 2026-01-31T12:00:00Z',
        ).argParser(timeOf),
      )
      .addHelpText('after', HELP),
  run: (context, _args, options) => run(context, options),
});

const HELP = `
Examples:
  finalizer-bridge drain                           all rules, after a question
  finalizer-bridge drain --rule team-buckets       one rule
  finalizer-bridge drain --yes --release-held      give up what is held, when nothing that was sent can still run
  finalizer-bridge drain --yes --release-held=now  give it up at once: a teardown may still happen

Exits with 0 when nothing is left, with 1 and a list of what blocks when something is. Run it again as often as you like.`;

async function run(context: Context, options: Options): Promise<Exit> {
  const world: DrainWorld = {
    ...context.drainApi,
    cluster: context.cluster,
    kinds: context.kinds,
    clock: context.clock,
  };
  const sight = new BridgeSight({ cluster: context.cluster, clock: context.clock, said: saidOf(options) });
  const { releaseHeld: release, rule: names, within: namespaces, timeout } = options;
  const draining: DrainOptions = { names, namespaces, release, timeout, sight, say: context.err };
  const found = await survey(world, draining);
  const planned = await planOf(world, found);
  const missing = names.filter((name) => !planned.some(({ rule }) => rule === name));
  const finish = async (ended: DrainEnd) => {
    const isAll = names.length === 0 && ended.left.length === 0;
    const { left, unseen } = isAll ? await giveUpRights(world, placesOf(found, namespaces)) : NOTHING;
    return end(context, { left: [...ended.left, ...left], unseen: [...ended.unseen, ...unseen], missing }, options);
  };
  if (planned.length === 0) return await finish({ left: [], unseen: found.swept.unseen });
  for (const line of [...missingLines(missing), ...planLines(planned, found.bridge, release)]) context.err(line);
  await confirm(context, options, planned);
  return await finish(await runDrain(world, draining));
}

const NOTHING: DrainEnd = { left: [], unseen: [] };

/** Where bridges may have kept their rights, as far as anybody says. */
function placesOf({ rules }: Survey, namespaces: readonly string[]): readonly string[] {
  const named = [...rules.values()].flatMap(({ object }) => knownNamespaces(object));
  return [...new Set([...named, ...namespaces])].filter((namespace) => namespace !== ANYWHERE);
}

function end(context: Context, ended: Ended, { rule, releaseHeld }: Options): Exit {
  const line = `${context.self} ${commandOf('drain', ...rule.flatMap((name) => ['--rule', name]))}`;
  const next = nextLine(ended, line, releaseHeld);
  print(context, { data: endData(ended, next), lines: endLines(ended, { names: rule, next }) });
  return isClean(ended) ? EXIT.ok : EXIT.failed;
}

async function planOf(world: DrainWorld, { rules, swept, bridge }: Survey): Promise<readonly Planned[]> {
  const names = [...new Set([...rules.keys(), ...swept.carriers.keys()])].sort();
  return await Promise.all(
    names.map(async (name, at) => {
      const rule = rules.get(name);
      const carriers = swept.carriers.get(name) ?? [];
      const deleting = carriers.filter(({ meta }) => meta.deletionTimestamp !== undefined);
      const hands = handsOf({ rule, bridge });
      const standings = deleting.map((carrier) => standingOf(carrier, name, hands));
      const held = standings.flatMap(({ isHeld, blocker }) => (isHeld ? [blocker] : []));
      return {
        ...{ rule: name, hasRule: rule !== undefined, live: carriers.length - deleting.length },
        ...{ deleting: deleting.length, held: at < NAMED_MAX ? await withTargets(world, rule?.rule, held) : held },
      };
    }),
  );
}

async function confirm({ isTty, ask }: Context, { yes, releaseHeld }: Options, planned: readonly Planned[]) {
  if (yes) return;
  if (!isTty) throw misused('drain takes rules away: say --yes where nobody can be asked');
  const giving = releaseHeld === 'none' ? '' : ', and give up the teardown of everything that is or becomes held';
  const answer = await ask(`Take away ${fewOf(planned.map(({ rule }) => rule))}${giving}? (yes/no) `);
  if (answer !== 'yes') throw misused('not confirmed, nothing was done');
}

function saidOf({ bridgeUp, bridgeGone }: Options): BridgeSaid {
  if (bridgeUp) return { said: 'up' };
  if (bridgeGone === undefined) return { said: 'nothing' };
  return { said: 'gone', since: bridgeGone === true ? undefined : bridgeGone };
}

function timeoutOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('not a duration such as 20m or 12h30m.');
  return ms;
}

function timeOf(text: string): number {
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new InvalidArgumentError('not a time such as 2026-01-31T12:00:00Z.');
  return time;
}
