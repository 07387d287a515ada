/*
 * Figures of many rounds as one table or JSON document: the median of each figure, and how it compares with the floor and
 * with the first candidate. Called by run.ts, last.
 */
import { cpus } from 'node:os';
import type { PeerName } from './options.ts';
import type { Figures } from './scenes.ts';

/** What one candidate did in one round, by scene. */
export type Round = Readonly<Record<string, Figures>>;

/** All that was measured. */
export interface Measured {
  readonly floors: readonly Figures[];
  /** By the name of a candidate. */
  readonly rounds: ReadonlyMap<string, readonly Round[]>;
}

/** The report as one document. */
export interface Report {
  readonly machine: { readonly cores: number; readonly model: string; readonly node: string };
  readonly rounds: number;
  readonly floor: Figures;
  readonly candidates: readonly { readonly name: string; readonly scenes: Readonly<Record<string, Figures>> }[];
}

/** Begins the name of a figure that is the CPU of a process beside the contender, per deletion. */
export const CPU_OF = 'cpuMs of ';

/** The peer by whose rates those of the bridge are judged. */
const MEASURE: PeerName = 'controller-runtime';

/** Medians, with every rate also as a share of the floor's, and of the peer's where one was measured. */
export function reportOf({ floors, rounds }: Measured): Report {
  const floor = mediansOf(floors);
  const peer = rounds.get(MEASURE) ?? [];
  const candidates = [...rounds].map(([name, own]) => {
    const scenes = [...new Set(own.flatMap((round) => Object.keys(round)))];
    const figures = scenes.map((scene) => {
      const medians = mediansOfScene(own, scene);
      // At a steady pace it is not the controller that decides the rate.
      if (scene === 'paced' || medians.perSecond === undefined) return [scene, medians];
      const other = name === MEASURE ? undefined : mediansOfScene(peer, scene).perSecond;
      const ofPeer = other === undefined ? {} : { ofPeer: medians.perSecond / other };
      return [scene, { ...medians, ofFloor: medians.perSecond / (floor.perSecond ?? Number.NaN), ...ofPeer }];
    });
    return { name, scenes: Object.fromEntries(figures) };
  });
  const machine = { cores: cpus().length, model: cpus()[0]?.model ?? '', node: process.version };
  return { machine, rounds: floors.length, floor, candidates };
}

/** The median of each figure. */
export function mediansOfScene(rounds: readonly Round[], scene: string): Figures {
  return mediansOf(rounds.flatMap(({ [scene]: figures }) => (figures === undefined ? [] : [figures])));
}

/** The report for people. */
export function textOf({ machine, rounds, floor, candidates }: Report): string {
  const lines = [
    `${machine.cores} cores (${machine.model}), Node.js ${machine.node}, medians of ${rounds}`,
    rowOf('floor: bare PATCH', floor),
  ];
  const [first] = candidates;
  for (const { name, scenes } of candidates) {
    lines.push('', name);
    for (const [scene, figures] of Object.entries(scenes)) {
      lines.push(...rowsOf(scene, figures));
      const base = first?.scenes[scene];
      if (first?.name === name || base === undefined) continue;
      lines.push(rowOf('    by the first', Object.fromEntries(ratios(figures, base))));
    }
  }
  return `${lines.join('\n')}\n`;
}

/** What the contender did, and below it the CPU that everything beside it used meanwhile. */
function rowsOf(scene: string, figures: Figures): readonly string[] {
  const isOther = ([key]: readonly [string, number]) => key.startsWith(CPU_OF);
  const all = Object.entries(figures);
  const others = all.filter(isOther).map(([key, value]) => [key.slice(CPU_OF.length), value] as const);
  const own = rowOf(`  ${scene}`, Object.fromEntries(all.filter((one) => !isOther(one))));
  return others.length === 0 ? [own] : [own, rowOf('    CPU ms beside it', Object.fromEntries(others))];
}

function ratios(figures: Figures, base: Figures): readonly (readonly [string, number])[] {
  return Object.entries(figures).flatMap(([key, value]) => {
    const other = base[key];
    return other === undefined || other === 0 ? [] : [[key, value / other] as const];
  });
}

/** One line of figures. */
export function rowOf(title: string, figures: Figures): string {
  const told = Object.entries(figures).map(([key, value]) => `${key} ${rounded(value)}`);
  return `${title.padEnd(20)} ${told.join('  ')}`;
}

function rounded(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) >= 10 ? 1 : 3);
}

/** The median of each figure. */
export function mediansOf(many: readonly Figures[]): Figures {
  const keys = [...new Set(many.flatMap((figures) => Object.keys(figures)))];
  return Object.fromEntries(
    keys.map((key) => [key, median(many.flatMap((figures) => (figures[key] === undefined ? [] : [figures[key]])))]),
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}
