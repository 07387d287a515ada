/*
 * What happens to an installation as a whole: from some namespaces to the whole cluster, and back, by a drain, as the manual and the
 * chart want it, or by a rollback, which asks nobody. A part of world-acts.ts.
 */
import { EVERYWHERE, type Served } from '../../../bridge/served.ts';
import { rulePath, TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { releaseHold } from './object-acts.ts';
import { type Act, FLEET_NAMESPACES, type ModeHappening } from './plan.ts';
import { type Installed, isSo, upgrade } from './served-acts.ts';

/** How often whoever drains looks whether a rule is left. */
const LOOKED_AT_EVERY_MS = 30_000;
/** By then the bridges that were started for an upgrade run, and those of before do no more. */
const UPGRADED_MS = 5 * 60_000;
const ALL = Object.keys(FLEET_NAMESPACES);

type ModeAct = (acts: Installed, act: Act) => void;

/** What can happen, and how. */
const MODE_HAPPENS: Readonly<Record<ModeHappening, ModeAct>> = {
  serveAll(acts, { chance, forMs }) {
    const { chart, ledger } = acts;
    const before = chart.served;
    if (chart.servesAll) return;
    upgrade(acts, EVERYWHERE);
    if (isSo(chance)) ledger.world.time.after(forMs, () => goBack(acts, before));
  },
  rollBackToSome(acts, { chance, forMs }) {
    const { ledger } = acts;
    if (!acts.chart.servesAll) return;
    goBack(acts, someOf(chance));
    // The others are found out when the faults are over.
    if (isSo(chance)) ledger.world.time.after(forMs, () => goOn(acts));
  },
  drainToSome(acts, { chance }) {
    drain(acts, () => {
      const { chart, ledger, site } = acts;
      chart.drained();
      upgrade(acts, someOf(chance));
      const again = () => {
        for (const rule of ledger.world.plan.rules) site.createRule(rule);
      };
      // Who does not wait for the new bridges has rules that one of before may have begun with.
      ledger.world.time.after(isSo(chance) ? UPGRADED_MS : 0, again);
    });
  },
};

/** Lets one of them happen. */
export function happenToMode(acts: Installed, happening: ModeHappening, act: Act): void {
  MODE_HAPPENS[happening](acts, act);
}

function goBack(acts: Installed, to: Served): void {
  if (!acts.chart.isMended && acts.chart.servesAll) upgrade(acts, to);
}

function goOn(acts: Installed): void {
  if (!acts.chart.isMended && !acts.chart.servesAll) upgrade(acts, EVERYWHERE);
}

/** `drain --release-held=now`: helm refuses to serve some namespaces while there is a rule. Whoever may not say a word waits. */
function drain(acts: Installed, then: () => void): void {
  const { chart, ledger } = acts;
  const { server, time, plan } = ledger.world;
  const mayRelease = plan.weather.leaders !== 'two' && !plan.weather.isFair;
  const step = () => {
    if (chart.isMended || !chart.servesAll) return;
    const rules = server.all(TEARDOWN_RULES);
    if (rules.length === 0) {
      then();
      return;
    }
    for (const { metadata } of rules) server.delete(rulePath(metadata.name), 'author');
    for (const hold of mayRelease ? ledger.holds.values() : []) {
      if (hold.off === undefined && hold.heldFor !== undefined) releaseHold(ledger, hold, `${hold.uid}/now`);
    }
    time.after(LOOKED_AT_EVERY_MS, step);
  };
  step();
}

function someOf(chance: number): Served {
  const first = Math.floor(chance * ALL.length);
  const namespaces = ALL.filter((_, index) => index === first || isSo(chance * (index + 2)));
  return { namespaces, leaving: [] };
}
