/*
 * The bridge, assembled over its ports: watches -> intake -> work queue -> reconcile -> outbox, and inbox -> reconcile.
 * Called by main.ts with the real ports and by the simulation with models; holds no I/O of its own.
 */
import type { Births } from './births.ts';
import { assemble, type BridgeOptions, type Parts } from './bridge-parts.ts';
import { followRules } from './following.ts';
import { handleResults, type InboxOptions } from './inbox.ts';
import { kindName } from './kind-key.ts';
import type { Pending } from './pending.ts';
import type { Consumption, KindRef, ObjectMeta } from './ports.ts';
import type { Rule } from './rule.ts';
import { EVERYWHERE } from './served.ts';
import type { Serving } from './serving.ts';
import type { StrayCount } from './strays.ts';

const READY_POLL_MS = 100;

/** A running bridge. */
export interface Bridge {
  /** Whether nothing stands against it. */
  isReady(): boolean;
  /** What is not as it has to be: every accepted rule's kind is being watched and was listed completely. */
  whyNotReady(): readonly string[];
  /** The deletions in hand; of one rule's name, where it is named. */
  pendings(rule?: string): readonly Pending[];
  /** By rule, how many live objects wait for an entry to be put on or taken off. */
  unclaimed(): ReadonlyMap<string, number>;
  /** Live objects with an entry whose rule is not there. */
  strays(): readonly StrayCount[];
  /** The name of an entry's rule in metrics: that of a rule that is there, or a word for all others. */
  labelOf(name: string, kind: KindRef): string;
  /** Whether a rule's kind is being watched and was listed, and so are namespaces if it selects by their labels. */
  isWatching(rule: string): boolean;
  /** Namespaces in which a rule's kind is not being watched; none where the whole cluster is served. */
  blindIn(rule: string): readonly string[];
  /** What new objects showed of their entries at birth. */
  readonly births: Births;
  /** Since when the kinds have been served. */
  readonly serving: Serving;
  /** Takes a withdrawn rule's entry off live objects. */
  release(rule: Rule, carriers: readonly ObjectMeta[]): void;
  /** Takes nothing new, ends what runs, and resolves; what is unfinished is found again at the next start. */
  stop(): Promise<void>;
}

/** Starts the bridge. */
export function startBridge(options: BridgeOptions): Bridge {
  const parts = assemble(options);
  const { pendings, intake, claims, claiming, strays, watches, namespaces, work, births, serving, brakes } = parts;
  const { rules } = options;
  const areRulesKnown = () => options.areRulesKnown?.() ?? true;
  const following = followRules(options, parts);
  const inbox = consumeResults(options, parts, areRulesKnown);
  return {
    ...{ births, serving },
    isReady: () => whyNotReady(options, parts).length === 0,
    whyNotReady: () => whyNotReady(options, parts),
    pendings: (rule) => [...(rule === undefined ? pendings.values() : pendings.under(rule))],
    unclaimed: () => claims.waiting(),
    strays: () => strays.counts(),
    labelOf: (name, kind) => rules.labelOf(name, kind),
    isWatching(name) {
      const rule = rules.named(name);
      if (rule === undefined || !intake.isReady([rule.match])) return false;
      return rule.matchesNamespace === undefined || namespaces.isReady;
    },
    blindIn(name) {
      const rule = rules.named(name);
      return rule === undefined ? [] : intake.blindIn(rule.match);
    },
    release(rule, carriers) {
      for (const meta of carriers) claims.want({ kind: rule.match, meta, rule, change: 'remove' });
    },
    async stop() {
      inbox.close();
      strays.stop();
      await Promise.all([following.stop(), watches.stop(), namespaces.stop()]);
      await Promise.all([work.stop(), claiming.stop()]);
      for (const pending of pendings.values()) for (const settle of pending.settles.splice(0)) settle(false);
      await Promise.all([inbox.stop(), brakes.giveBack()]);
    },
  };
}

/**
 * A rule that may not do what it has to is no reason: its condition and metric are loud, and whoever writes one such rule would
 * take every replica out of service, and with them the roll-out that mends it (P10).
 */
function whyNotReady(options: BridgeOptions, { intake, namespaces }: Parts): readonly string[] {
  const { rules, areRulesKnown = () => true, isPermitted = () => true } = options;
  const working = rules.rules.filter(({ name, notAccepted }) => notAccepted === undefined && isPermitted(name));
  const unwatched = working.filter(({ match }) => !intake.isReady([match]));
  const areLabelsNeeded = working.some(({ matchesNamespace }) => matchesNamespace !== undefined);
  return [
    ...(areRulesKnown() ? [] : [options.rulesTrouble?.() ?? 'the rules are not all known yet']),
    ...(namespaces.isReady || !areLabelsNeeded ? [] : ['the labels of namespaces are not known yet']),
    ...unwatched.map(({ name, match }) => `rule ${name}: ${kindName(match)} is not being watched`),
  ];
}

interface ResultConsumption {
  /** What comes in from now on stays in its queue. */
  close(): void;
  stop(): Promise<void>;
}

/** Takes results once the objects they are about are known: one for an unknown object would cost a GET each. */
function consumeResults(options: BridgeOptions, parts: Parts, areRulesKnown: () => boolean): ResultConsumption {
  const { clock, cluster, metrics, log, rules, queue, resultQueueUrl, served = EVERYWHERE } = options;
  let consumption: Consumption | undefined;
  let isClosed = false;
  let cancel = () => {};
  const inbox: InboxOptions = {
    ...{ clock, cluster, pendings: parts.pendings, metrics, log, served },
    clusterUid: options.clusterId.uid,
    senderOf: (handler) => options.handlers[handler]?.sender,
    deadLetterSender: options.deadLetterSender,
    ruleOf: (name, kind) => rules.namedFor(name, kind),
    admit: (kind, meta, rule) => parts.intake.admit(kind, meta, rule),
    isOver: (key) => parts.finished.has(key),
    add: (key) => parts.work.hurry(key),
    isStopping: () => isClosed,
  };
  const begin = () => {
    if (areRulesKnown() && parts.intake.isSettled(rules.kinds)) {
      consumption = queue.consume(resultQueueUrl, (batch) => handleResults(inbox, batch));
    } else {
      cancel = clock.after(READY_POLL_MS, begin);
    }
  };
  begin();
  return {
    close() {
      isClosed = true;
      cancel();
    },
    stop: async () => await consumption?.stop(),
  };
}
