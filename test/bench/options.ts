/*
 * The command line of the benchmarks: what to measure, how often, and what to compare it with.
 * Read by run.ts; the scenes are given what it says.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const USAGE = `usage: npm run bench -- [options]
  --quick          fewer objects and one round, in less than a minute; figures are rough
  --rounds N       how often each scene is run; medians are reported (3)
  --bridge FILE    a bundle of the bridge to measure instead of the tree's own; repeat it to compare bundles:
                   they take turns in every round, the first one is what the others are compared with
  --flags="..."    flags of Node.js for the bridge of the same place: the nth --flags goes with the nth --bridge
  --function FILE  likewise a bundle of the function with the handler of benchmarks, as test/bench/no-op-function.ts makes it
  --scenes LIST    of saturated, paced and drain, those to run, with commas between (all; "" for none)
  --warm N         deletions that a bridge handles before it is measured (500); its compiler is done after about 5,000
  --peers          also a controller-runtime controller and one of kopf, in turns with the bridge; the first time they are
                   built and installed, which needs Go and Python 3.11
  --memory         also memory and start-up with 20,000 and 100,000 live objects and a backlog of 50,000; takes minutes
  --json           one JSON document on standard output instead of tables`;

const SCENES = ['saturated', 'paced', 'drain'];

/** Controllers that take the entry off and do nothing else, by the framework that they are written with. */
const PEERS = ['controller-runtime', 'kopf'] as const;
export type PeerName = (typeof PEERS)[number];

/** A bridge to be measured, or a peer. */
export interface Candidate {
  readonly name: string;
  /** Not a bridge. */
  readonly peer?: PeerName;
  /** Path of the bundle; undefined: bundle the tree's own. */
  readonly entry: string | undefined;
  /** Path of the function's bundle that works with it; the tree's own unless told. */
  readonly functionEntry?: string | undefined;
  /** Flags of Node.js. */
  readonly flags: readonly string[];
}

/** What to measure, and how thoroughly. */
export interface BenchOptions {
  readonly candidates: readonly Candidate[];
  readonly rounds: number;
  /** Deletions of the saturated scene and of the drain. */
  readonly deletions: number;
  /** Deletions that a bridge handles before it is measured. */
  readonly warm: number;
  readonly pacedSeconds: number;
  readonly scenes: ReadonlySet<string>;
  /** Also the scenes about memory. */
  readonly memory: boolean;
  /** Live objects that a bridge starts over, ascending. */
  readonly live: readonly number[];
  /** Deletions that are pending while the queue is silent. */
  readonly backlog: number;
  readonly json: boolean;
}

/** @throws TypeError, RangeError for what is no option. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      warm: { type: 'string' },
      bridge: { type: 'string', multiple: true, default: [] },
      function: { type: 'string', multiple: true, default: [] },
      flags: { type: 'string', multiple: true, default: [] },
      scenes: { type: 'string', default: SCENES.join(',') },
      memory: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { quick, memory, json, bridge, flags } = values;
  const rounds = countOf('rounds', values.rounds ?? (quick ? '1' : '3'));
  const warm = countOf('warm', values.warm ?? (quick ? '150' : '500'));
  const count = Math.max(1, bridge.length, flags.length, values.function.length);
  const bridges = Array.from({ length: count }, (_, index): Candidate => {
    const own = (flags[index] ?? '').split(' ').filter((flag) => flag !== '');
    const [entry, functionEntry] = [bridge[index], values.function[index]];
    const name = [entry ?? 'this tree', ...(functionEntry === undefined ? [] : [functionEntry]), ...own].join(' ');
    return { name, entry: pathOf(entry), functionEntry: pathOf(functionEntry), flags: own };
  });
  const peers = values.peers ? PEERS.map((peer): Candidate => ({ name: peer, peer, entry: undefined, flags: [] })) : [];
  const candidates = [...bridges, ...peers];
  const scenes = new Set(values.scenes.split(',').filter((scene) => scene !== ''));
  const unknown = [...scenes].filter((scene) => !SCENES.includes(scene));
  if (unknown.length > 0) throw new RangeError(`reading --scenes: there is no ${unknown.join(', ')}`);
  const sizes = quick
    ? { deletions: 600, pacedSeconds: 4, live: [2_000, 10_000], backlog: 5_000 }
    : { deletions: 2_000, pacedSeconds: 15, live: [20_000, 100_000], backlog: 50_000 };
  return { candidates, rounds, warm, scenes, memory, json, ...sizes };
}

function pathOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : resolve(file);
}

/** A whole number from 1 on. @throws RangeError */
export function countOf(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new RangeError(`reading --${option}: ${text} is no count`);
  return count;
}
