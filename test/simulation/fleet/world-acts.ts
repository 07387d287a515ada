/*
 * What happens to a whole world: bridges and functions crash, stand still and lose their lease, queues and kinds fall silent,
 * rules are edited and withdrawn, namespaces and kinds end, strangers send messages. Scheduled by fleet-world.ts from the plan.
 */
import { rulePath } from '../../../bridge/teardown-rules.ts';
import type { SimulatedQueue, StoredMessage } from '../queue.ts';
import type { FleetBridges } from './fleet-bridges.ts';
import type { FleetFunctions } from './fleet-functions.ts';
import type { Ledger } from './ledger.ts';
import { happenToMode } from './mode-acts.ts';
import {
  type Act,
  FLEET_KINDS,
  FLEET_NAMESPACES,
  type FleetKind,
  type Happening,
  MODE_HAPPENINGS,
  type ModeHappening,
  SERVED_HAPPENINGS,
  type ServedHappening,
} from './plan.ts';
import { happenToServed } from './served-acts.ts';
import type { Site } from './site.ts';

/** What acts reach. */
export interface WorldActs {
  readonly ledger: Ledger;
  readonly site: Site;
  readonly bridges: FleetBridges;
  readonly functions: readonly FleetFunctions[];
  /** Lets a process stand still for five minutes. */
  stall(): void;
}

const STRANGER = 'AROASTRANGER:somebody';
/** A rule that is withdrawn is written again after this. */
const REWRITTEN_MS = 10 * 60_000;

/** Parts of a rule that an author edits, by chance. */
const EDITS: readonly Readonly<Record<string, unknown>>[] = [
  { paused: true },
  { whenAbsent: 'Hold' },
  { whenTargetMissing: 'Release' },
  { deadline: '2h' },
  { handler: 'nobody' },
  { unmatched: 'Release' },
];

/** What can happen, and how. */
const HAPPENS: Readonly<
  Record<Exclude<Happening, ServedHappening | ModeHappening>, (acts: WorldActs, act: Act) => void>
> = {
  crashBridge: ({ bridges }) => bridges.crash(),
  stallBridge: (acts) => acts.stall(),
  robLease: ({ bridges }) => bridges.rob(),
  crashFunctions({ functions }) {
    for (const one of functions) one.crash();
  },
  holdRequests: ({ ledger }, { chance, forMs }) => chosen(ledger.world.requests, chance)?.hold(forMs * 3),
  holdResults: ({ ledger }, { forMs }) => ledger.world.results.hold(forMs),
  compact: ({ ledger }) => ledger.world.server.compact(),
  editRule,
  withdrawRule,
  forbidKind: ({ site }, { chance, forMs }) => site.forbid(FLEET_KINDS[chosenKind(chance)], forMs),
  endNamespace,
  endKind: ({ site }, { chance, forMs }) => site.endKind(chosenKind(chance), forMs),
  forgetHandler({ ledger, bridges }, { chance }) {
    bridges.crash(undefined, chosen(ledger.world.plan.rules, chance)?.handler);
  },
  forge: ({ ledger }, { chance }) => forge(ledger, chance),
  redrive({ ledger }) {
    for (const queue of [...ledger.world.requests, ledger.world.results]) queue.redrive();
  },
  muteApi: ({ site }, { forMs }) => site.mute(forMs),
  changeVersion: ({ bridges }) => bridges.changeVersion(),
};

/** Lets one thing happen. */
export function happen(acts: WorldActs, act: Act): void {
  const { happening } = act;
  const { chart } = acts.site;
  if (isAmong(happening, SERVED_HAPPENINGS)) chart && happenToServed({ ...acts, chart }, happening, act);
  else if (isAmong(happening, MODE_HAPPENINGS)) chart && happenToMode({ ...acts, chart }, happening, act);
  else HAPPENS[happening](acts, act);
}

function isAmong<T extends Happening>(happening: Happening, some: readonly T[]): happening is T {
  return some.some((one) => one === happening);
}

/** Ends what would otherwise go on: what people have paused is resumed, what is wrong is put right. */
export function mendRules({ ledger, site }: WorldActs): void {
  for (const plan of ledger.world.plan.rules) {
    const { handler } = plan;
    ledger.world.server.update(rulePath(plan.name), 'author', (object) => ({
      ...object,
      spec: { ...(typeof object.spec === 'object' ? object.spec : {}), paused: false, handler },
    }));
    site.createRule(plan);
  }
}

function chosen<const T>(items: readonly T[], chance: number): T | undefined {
  return items[Math.floor(chance * items.length)];
}

function chosenKind(chance: number): FleetKind {
  return chosen(['machines', 'buckets', 'volumes'], chance) ?? 'machines';
}

function endNamespace({ site }: WorldActs, { chance, forMs }: Act): void {
  for (const name of ['team-a', 'team-b', 'team-c'] as const) {
    if (name === chosen(Object.keys(FLEET_NAMESPACES), chance)) site.endNamespace(name, forMs);
  }
}

/** An edit, taken back some time later. */
function editRule({ ledger }: WorldActs, { chance, forMs }: Act): void {
  const rule = chosen(ledger.world.plan.rules, chance);
  if (rule === undefined) return;
  const edit = chosen(EDITS, (chance * 97) % 1) ?? {};
  const { server, time } = ledger.world;
  const before = server.get(rulePath(rule.name))?.spec;
  const write = (spec: unknown) =>
    server.update(rulePath(rule.name), 'author', (object) => ({
      ...object,
      spec: { ...(typeof object.spec === 'object' ? object.spec : {}), ...(typeof spec === 'object' ? spec : {}) },
    }));
  if (before === undefined) return;
  write(edit);
  time.after(forMs, () => write({ paused: false, handler: rule.handler }));
}

function withdrawRule({ ledger, site }: WorldActs, { chance }: Act): void {
  const rule = chosen(ledger.world.plan.rules, chance);
  if (rule === undefined) return;
  const { server, time } = ledger.world;
  server.delete(rulePath(rule.name), 'author');
  const again = () => {
    if (server.get(rulePath(rule.name)) === undefined) site.createRule(rule);
    else time.after(REWRITTEN_MS, again);
  };
  time.after(REWRITTEN_MS, again);
}

/** A stranger sends again what he has seen, as his own, and what nobody understands. */
function forge(ledger: Ledger, chance: number): void {
  const { requests, results } = ledger.world;
  const bodies = [...ledger.bodies.values()];
  const seen = bodies[Math.floor(chance * bodies.length)] ?? '{}';
  const send = (queue: SimulatedQueue, body: string) => {
    queue.onSend(remember);
    queue.send(body, STRANGER);
  };
  const remember = ({ messageId, sender }: StoredMessage) => {
    if (sender === STRANGER) ledger.forged.add(messageId);
  };
  for (const queue of requests) send(queue, seen);
  send(results, seen);
  send(results, '{"specversion":"1.0","type":"dev.finalizer-bridge.teardown.result.v9"}');
}
