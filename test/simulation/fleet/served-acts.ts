/*
 * What happens to an installation that serves some namespaces: it is upgraded to serve one more or one less, rolled back, and loses
 * its rights in one of them. A part of world-acts.ts; people do what docs/operations.md tells them to.
 */
import type { Served } from '../../../bridge/served.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import type { Chart } from './chart.ts';
import { type Act, FLEET_NAMESPACES, type ServedHappening } from './plan.ts';
import { at } from './selection.ts';
import type { WorldActs } from './world-acts.ts';

/** How often somebody looks whether a namespace that is being left is named by a rule. */
const LOOKED_AT_EVERY_MS = 2 * 60_000;
const ALL = Object.keys(FLEET_NAMESPACES);

type Installation = Pick<WorldActs, 'site' | 'bridges' | 'ledger'>;
/** An installation by a chart. */
export type Installed = Installation & { readonly chart: Chart };
type ServedAct = (acts: Installed, act: Act) => void;

/** What can happen, and how. */
const SERVED_HAPPENS: Readonly<Record<ServedHappening, ServedAct>> = {
  serveNamespace(acts, { chance }) {
    const { chart } = acts;
    const { namespaces = ALL, leaving } = chart.served;
    // It has to be there first.
    const name = one(
      ALL.filter((other) => !namespaces.includes(other) && chart.isStaying(other)),
      chance,
    );
    if (name === undefined) return;
    upgrade(acts, { namespaces: [...namespaces, name], leaving: leaving.filter((other) => other !== name) });
  },
  leaveNamespace(acts, { chance }) {
    const { namespaces = [] } = acts.chart.served;
    const name = namespaces.length > 1 ? one(namespaces, chance) : undefined;
    if (name !== undefined) leave(acts, name);
  },
  /** A rollback: helm does not ask whether a rule names the namespace. */
  dropNamespace(acts, { chance, forMs }) {
    const { chart, ledger } = acts;
    const { namespaces = [], leaving } = chart.served;
    const name = namespaces.length > 1 ? one(namespaces, chance) : undefined;
    if (name === undefined) return;
    upgrade(acts, { namespaces: namespaces.filter((other) => other !== name), leaving });
    ledger.world.time.after(forMs, () => {
      if (!chart.isMended && !chart.lookedInto.includes(name)) leave(acts, name);
    });
  },
  unbind({ chart, ledger }, { chance, forMs }) {
    const name = one(chart.lookedInto, chance);
    if (name === undefined) return;
    chart.unbind(name, 'somebody');
    // Half of them are found out, and mended as the manual says.
    if (isSo(chance)) ledger.world.time.after(forMs, () => chart.bindAgain(name));
  },
  forbidNamespace({ chart }, { chance, forMs }) {
    if (chart.servesAll) chart.forbidBindings(forMs);
    const name = one(chart.lookedInto, chance);
    if (name !== undefined) chart.forbid(name, forMs);
  },
};

/** Lets one of them happen, where some namespaces are served. */
export function happenToServed(acts: Installed, happening: ServedHappening, act: Act): void {
  SERVED_HAPPENS[happening](acts, act);
}

/** `helm upgrade` with other values. */
export function upgrade({ chart, bridges }: Installed, to: Served): void {
  chart.upgrade(to);
  bridges.upgrade();
}

/** One of two that a chance has. */
export function isSo(chance: number): boolean {
  return (chance * 97) % 1 < 0.5;
}

/** From the list of those that are served to that of those that are left, and off that one when no rule names it any more. */
function leave(acts: Installed, name: string): void {
  const { chart, ledger } = acts;
  const { namespaces, leaving } = chart.served;
  // Meanwhile the whole cluster may be served.
  if (namespaces === undefined) return;
  upgrade(acts, { namespaces: namespaces.filter((other) => other !== name), leaving: [...leaving, name] });
  const { time, server } = ledger.world;
  const look = () => {
    const { served } = chart;
    // Somebody serves it again, or the faults are over.
    if (!served.leaving.includes(name) || chart.isMended) return;
    const isNamed = server.all(TEARDOWN_RULES).some(({ status }) => {
      const named = at(status, 'namespaces');
      return Array.isArray(named) && named.includes(name);
    });
    if (isNamed) time.after(LOOKED_AT_EVERY_MS, look);
    else upgrade(acts, { ...served, leaving: served.leaving.filter((other) => other !== name) });
  };
  time.after(LOOKED_AT_EVERY_MS, look);
}

function one(names: readonly string[], chance: number): string | undefined {
  return names[Math.floor(chance * names.length)];
}
