/*
 * Which kinds are watched: those that rules name, those in which something is pending, and, once the rules are known or known
 * to be unreadable, those that the configuration lists. Begun by bridge.ts; follows every change of the rules.
 */
import type { BridgeOptions, Parts } from './bridge-parts.ts';
import { ListedKinds } from './listed-kinds.ts';
import type { Clock, KindRef } from './ports.ts';

const KNOWN_POLL_MS = 100;
const NOWHERE = { find: async () => undefined };

/** What follows the rules until it is stopped. */
export interface Following {
  stop(): Promise<void>;
}

/** Watches what is needed, now and after every change. */
export function followRules(options: BridgeOptions, parts: Parts): Following {
  const { rules, listed, clock, random, metrics, log } = options;
  const { pendings, watches, namespaces, serving, strays, work } = parts;
  const listedKinds = new ListedKinds({
    ...{ kinds: listed?.kinds ?? [], port: listed?.port ?? NOWHERE, clock, random, metrics, log },
    onChange: () => follow(),
  });
  const follow = () => {
    // A kind whose rule is gone is watched for as long as somebody may still free what is pending there.
    const needed = [...rules.kinds, ...[...pendings.values()].map(({ kind }) => kind)];
    // Where the version that a rule names is not served, its objects are seen in another all the same.
    const shown = needed.filter((kind) => !serving.isDown(kind));
    watches.set([...needed, ...notAmong(shown, listedKinds.found)]);
    namespaces.need(rules.rules.some(({ matchesNamespace }) => matchesNamespace !== undefined));
  };
  follow();
  serving.onTurn(follow);
  rules.onChange((name, before, after) => {
    const kind = after?.match ?? before?.match;
    const wasWatched = kind !== undefined && watches.has(kind);
    strays.reconsider(name);
    follow();
    // What the rule wants of live objects may be different now, or its entry nobody's, and so may be what is pending.
    if (wasWatched) watches.relist(kind);
    for (const pending of pendings.values()) {
      if (pending.rule !== name) continue;
      // Its budget may be a larger one now, or none.
      pending.heldBack = undefined;
      work.add(pending.key);
    }
  });
  const cancel = beginListed(options, parts, listedKinds);
  return {
    async stop() {
      cancel();
      await listedKinds.stop();
    },
  };
}

/** Watches the listed kinds once it is known what the rules are, or that they cannot be read; returns what cancels that. */
function beginListed(options: BridgeOptions, { strays, watches }: Parts, listedKinds: ListedKinds): () => void {
  const { clock, rulesTrouble } = options;
  const areRulesKnown = () => options.areRulesKnown?.() ?? true;
  const cancels = [
    when(clock, areRulesKnown, () => {
      for (const kind of strays.takeUnjudged()) watches.relist(kind);
    }),
    // Where the rules cannot be read, what is pending has to be seen all the same: nothing else would tell of it (P7).
    when(
      clock,
      () => areRulesKnown() || rulesTrouble?.() !== undefined,
      () => listedKinds.start(),
    ),
  ];
  return () => {
    for (const cancel of cancels) cancel();
  };
}

/** In whichever version a kind is shown, it is not watched in another as well: that would show every object twice. */
function notAmong(shown: readonly KindRef[], listed: readonly KindRef[]): readonly KindRef[] {
  const areShown = new Set(shown.map(resourceOf));
  return listed.filter((kind) => !areShown.has(resourceOf(kind)));
}

/** Runs once something is so; returns what cancels that. */
function when(clock: Pick<Clock, 'after'>, isSo: () => boolean, then: () => void): () => void {
  let cancel = () => {};
  const look = () => {
    if (isSo()) then();
    else cancel = clock.after(KNOWN_POLL_MS, look);
  };
  look();
  return () => cancel();
}

function resourceOf({ group, resource }: KindRef): string {
  return `${group}/${resource}`;
}
