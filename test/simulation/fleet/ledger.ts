/*
 * What truly happened in a world, and the promises as code: told of every write, every deletion outside, every send and every
 * acknowledgement, and looking at that one event only, so that the price of a step does not grow with the world. Made by
 * fleet-world.ts. What is asked of writes stands in ledger-writes.ts, of messages and deletions in ledger-messages.ts, of a
 * world that has settled in ledger-end.ts. A broken promise is noted, never thrown.
 */
import type { Request, Result } from '../../../bridge/contract.ts';
import type { KubeObject } from '../../../bridge/ports.ts';
import { ENTRY_PREFIX } from '../../../bridge/rule-facts.ts';
import type { Served } from '../../../bridge/served.ts';
import type { ApiServer } from '../api-server.ts';
import type { VirtualTime } from '../clock.ts';
import type { Cloud } from '../cloud.ts';
import type { ReceivedMessage, SimulatedQueue } from '../queue.ts';
import type { Chart } from './chart.ts';
import type { Firsts } from './firsts.ts';
import type { Unseen } from './ledger-unseen.ts';
import type { FleetPlan, RulePlan } from './plan.ts';

/** How an entry came off a deleting object. `lapsed`: what it stood for was never there to be taken down. */
export type Off = 'gone' | 'waited' | 'now' | 'bypassed' | 'missing';

/** One deletion under one rule. Times in ms since the epoch. */
export interface Hold {
  readonly uid: string;
  readonly rule: string;
  readonly deletedAt: number;
  /** Targets that a bridge has asked for, and when the last such request expires. */
  readonly requested: Map<string, number>;
  /** Those of them of which nothing but their senders knows; once the entry is off, of which nobody knew. */
  readonly unseen: Map<string, Unseen>;
  /** Targets that a function of ours has called gone, and until when its request lasts. */
  readonly gones: Map<string, number>;
  /** The target changed, or was cleared, while it was being deleted. */
  isMoved: boolean;
  /** A person has let it go over its budget. */
  isApproved: boolean;
  retainedSince: number | undefined;
  off: { readonly how: Off; readonly at: number; readonly target: string | undefined } | undefined;
  /** The reason for which it is held, as the object says. */
  heldFor: string | undefined;
  /** No other rule of ours held the object when its deletion began. */
  readonly isAlone: boolean;
  readonly calls: { get: number; patch: number };
}

/** A rule as the API has it, and what it has allowed so far. */
export interface RuleNow {
  readonly object: KubeObject;
  readonly mayMiss: boolean;
  readonly mayFindNothing: boolean;
  readonly limit: number;
}

/** What is looked at. */
export interface Witnessed {
  readonly time: VirtualTime;
  readonly server: ApiServer;
  readonly cloud: Cloud;
  readonly plan: FleetPlan;
  readonly results: SimulatedQueue;
  readonly requests: readonly SimulatedQueue[];
  /** Where some namespaces are served. */
  readonly chart: Chart | undefined;
  /** What a function process works on; undefined for everybody else. */
  batchOf(process: string): readonly ReceivedMessage[] | undefined;
  isBridgeAlive(name: string): boolean;
  /** What a bridge of that name was told to serve. */
  servedBy(name: string): Served | undefined;
}

/** Before the name of a rule: the annotation that holds its record. */
export const RECORD = 'status.finalizer-bridge.dev/';

const BROKEN_MAX = 20;

/** The books of one world. */
export class Ledger {
  /** What was broken, in order: which promise, which object, and how. */
  readonly broken: { readonly promise: string; readonly uid: string; readonly what: string }[] = [];
  readonly world: Witnessed;
  readonly plans: ReadonlyMap<string, RulePlan>;
  /** Every object that is there, by its uid. */
  readonly objects = new Map<string, KubeObject>();
  readonly holds = new Map<string, Hold>();
  /** The deletions of an object, by `resource/name` as calls name it. */
  readonly namesakes = new Map<string, Hold[]>();
  /** Deletions that are neither over nor held for a reason that only a person ends. */
  readonly open = new Set<Hold>();
  /** How many objects carry the entry of a rule. */
  readonly carriers = new Map<string, number>();
  readonly rules = new Map<string, RuleNow>();
  /** Bodies by the id of their request. */
  readonly bodies = new Map<string, string>();
  /** Requests by their bodies, each read once. */
  readonly requests = new Map<string, Request>();
  /** Results that nobody has acknowledged yet, by their bodies. */
  readonly results = new Map<string, Result>();
  /** By rule, when deletions were first asked for. */
  readonly firsts = new Map<string, Firsts>();
  /** Requests that were answered for good, by id. */
  readonly answered = new Set<string>();
  /** Messages that nobody of ours has sent, by id. */
  readonly forged = new Set<string>();
  /** Resources that targets were moved to. */
  readonly moved = new Set<string>();
  /** Targets that stayed because nobody could know of them. */
  beyondSight = 0;
  /** Objects that were deleted. */
  deletions = 0;
  /** When the world began. */
  readonly began: number;

  constructor(world: Witnessed) {
    this.world = world;
    this.began = world.time.now();
    this.plans = new Map(world.plan.rules.map((rule) => [rule.name, rule]));
  }

  now(): number {
    return this.world.time.now();
  }

  note(promise: string, uid: string, what: string): void {
    if (this.broken.length >= BROKEN_MAX) return;
    this.broken.push({ promise, uid, what: `${what} (at ${new Date(this.now()).toISOString()})` });
  }

  hold(uid: string, rule: string): Hold | undefined {
    return this.holds.get(`${uid}/${rule}`);
  }

  /** The name in an object's status that a rule takes for its target. */
  targetOf(object: KubeObject, rule: string): string | undefined {
    const field = this.plans.get(rule)?.field;
    const { status } = object;
    const value: unknown =
      field !== undefined && typeof status === 'object' && status !== null ? Reflect.get(status, field) : undefined;
    return typeof value === 'string' ? value : undefined;
  }
}

/** The rules whose entries an object carries, each once. */
export function rulesOn(object: KubeObject | undefined): readonly string[] {
  const entries = object?.metadata.finalizers ?? [];
  return [...new Set(entries.filter((entry) => entry.startsWith(ENTRY_PREFIX)))].map((entry) =>
    entry.slice(ENTRY_PREFIX.length),
  );
}
