/*
 * What is to happen in one world of many deletions, as plain data: made from a seed by draw.ts, cut down by shrink.ts, run
 * by fleet-world.ts. Types and names only. All times are ms since the world's beginning.
 */
import type { KindRef } from '../../../bridge/ports.ts';
import type { Kind } from '../process.ts';
import type { QueueSettings } from '../queue.ts';

/** The kinds of a world; machines can be under two rules at once, volumes have no namespace. */
export const FLEET_KINDS = {
  machines: { group: 'example.com', version: 'v1', resource: 'machines' },
  buckets: { group: 'example.com', version: 'v1', resource: 'buckets' },
  volumes: { group: 'example.com', version: 'v1', resource: 'volumes' },
} as const satisfies Record<string, KindRef>;
export type FleetKind = keyof typeof FLEET_KINDS;

/** The rules that a world can have; `lost` names a kind that nobody serves. */
const FLEET_RULES = ['machines', 'disks', 'buckets', 'volumes', 'lost'] as const;
export type FleetRule = (typeof FLEET_RULES)[number];

/** Namespaces, and the label that rules may select them by. */
export const FLEET_NAMESPACES = { 'team-a': 'prod', 'team-b': 'prod', 'team-c': 'test' } as const;
export type FleetNamespace = keyof typeof FLEET_NAMESPACES;
/** Their names. */
export const NAMESPACE_NAMES = Object.keys(FLEET_NAMESPACES).filter(
  (name): name is FleetNamespace => name in FLEET_NAMESPACES,
);

/** A rule as it is written first. */
export interface RulePlan {
  readonly name: FleetRule;
  readonly kind: FleetKind | 'gadgets';
  readonly handler: string;
  /** The field of an object's status that names its resource. */
  readonly field: string;
  /** What the proof of ownership holds: the uid, or namespace and name; `none`: none is asked for. */
  readonly binding: 'uid' | 'name' | 'none';
  /** Labels that it selects, of objects and of namespaces. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly tier?: string;
  /** Parts of the spec beside match, handler, target, ownership and policy. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A resource outside. `tags` says whose proof it carries; `none` is for a name that leads to nothing. */
export interface ThingPlan {
  readonly rule: FleetRule;
  readonly tags: 'own' | 'stranger' | 'keep';
  readonly isThere: boolean;
  readonly isNamed: boolean;
  readonly deletionMs: number;
}

/** What people and controllers do about one object. */
export const DOINGS = [
  'release',
  'releaseNow',
  'retry',
  'approve',
  'retain',
  'clear',
  'move',
  'garble',
  'strip',
  'touch',
] as const;
export type Doing = (typeof DOINGS)[number];

/** One object, from its creation to its end. */
export interface ObjectPlan {
  readonly index: number;
  readonly kind: FleetKind;
  readonly namespace?: FleetNamespace;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly deletedAt: number;
  readonly things: readonly ThingPlan[];
  /** A finalizer of somebody else, and when it comes off. */
  readonly foreign?: { readonly offAt: number };
  readonly isRetained: boolean;
  /** Once it is gone there is another one of its name, with what stands for that. */
  readonly comesAgain?: true;
  readonly doings: readonly { readonly at: number; readonly doing: Doing; readonly rule: FleetRule }[];
}

/** What happens to a whole world. */
export const HAPPENINGS = [
  'crashBridge',
  'stallBridge',
  'robLease',
  'crashFunctions',
  'holdRequests',
  'holdResults',
  'compact',
  'editRule',
  'withdrawRule',
  'forbidKind',
  'endNamespace',
  'endKind',
  'forgetHandler',
  'forge',
  'redrive',
  'muteApi',
] as const;

/** What happens only where some namespaces are served: to the list of them, and to the rights in one of them. */
export const SERVED_HAPPENINGS = [
  'serveNamespace',
  'leaveNamespace',
  'dropNamespace',
  'unbind',
  'forbidNamespace',
] as const;
export type ServedHappening = (typeof SERVED_HAPPENINGS)[number];

/** What happens only where an installation changes: from some namespaces to the whole cluster, and back. */
export const MODE_HAPPENINGS = ['serveAll', 'drainToSome', 'rollBackToSome'] as const;
export type ModeHappening = (typeof MODE_HAPPENINGS)[number];

/** What happens only where bridges of a later version run for a time. */
export const VERSION_HAPPENING = 'changeVersion';
export type Happening = (typeof HAPPENINGS)[number] | ServedHappening | ModeHappening | typeof VERSION_HAPPENING;

/** One of them; `chance` in [0, 1) chooses which rule, kind or message. */
export interface Act {
  readonly at: number;
  readonly happening: Happening;
  readonly forMs: number;
  readonly chance: number;
}

/** What the world is like until all is well again. */
export interface Weather {
  /** Nothing goes wrong at all: there the price of a deletion is looked at. */
  readonly isFair: boolean;
  /** When the faults end. */
  readonly calmAt: number;
  /** The share of port calls that meet a fault, and which. */
  readonly faultShare: number;
  /** The share of the crashes of bridges among them that come to pass; all of them unless told. */
  readonly crashShare?: number;
  readonly faults: readonly Kind[];
  readonly restartMs: number;
  /** `two`: two bridges that both believe to lead, at all times. */
  readonly leaders: 'one' | 'election' | 'two';
  readonly bridgeSkews: readonly [number, number];
  readonly functionSkew: number;
  readonly watchFaultShare: number;
  readonly watchLagMs: number;
  readonly queue: Pick<QueueSettings, 'copies' | 'delayMs' | 'shuffled'>;
  /** The share of entries of batches that the queue refuses, and of messages that it loses. */
  readonly refusedShare: number;
  readonly lostShare: number;
  /** Whether the API server puts entries on at birth, and how late it learns of rules. */
  readonly admission: boolean;
  readonly admissionLagMs: number;
}

/**
 * How a later version writes a record: with fields more, with words that this one does not know, or with its targets in another
 * form.
 */
export const LATER_FORMS = ['fields', 'words', 'targets'] as const;
export type LaterForm = (typeof LATER_FORMS)[number];

/**
 * Who gives rights instead of the chart: a person, by a RoleBinding of another name in each namespace, which nothing keeps; the same
 * without a word about the chart's own, which then may not be asked for; or by one binding in the whole cluster.
 */
export const BINDERS = ['another', 'anotherAlone', 'cluster'] as const;
export type Binder = (typeof BINDERS)[number];

/** A world. */
export interface FleetPlan {
  readonly seed: number;
  readonly weather: Weather;
  readonly rules: readonly RulePlan[];
  /** The functions' own configuration allows that no proof is asked for. */
  readonly allowsNone?: true;
  /** The namespaces that the bridges serve first; the whole cluster, and nothing else at any time, unless told. */
  readonly served?: readonly FleetNamespace[] | 'all';
  /** Who gives the bridges their rights there: the chart unless told. */
  readonly boundBy?: Binder;
  /** The first bridges are of a later version, which writes so; others come by acts, and in the end those of this one. */
  readonly later?: LaterForm;
  readonly objects: readonly ObjectPlan[];
  readonly acts: readonly Act[];
}

/** The name of an object, and of the resource that a rule takes down for it. */
export function nameOf({ index, kind }: Pick<ObjectPlan, 'index' | 'kind'>): string {
  return `${kind.slice(0, -1)}-${index}`;
}
