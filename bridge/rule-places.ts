/*
 * Sees to the namespaces that a rule's entries may be in, at each look at the rule: its status names them, and the rights there
 * are kept, before anything gets an entry; what is being left, or is being deleted, or is not there any more is named until it
 * was found empty. Where the whole cluster is served, what was kept before is given up. Called by rule-taking.ts and
 * withdrawal.ts; what a rule's condition says of it is asked for by rule-enforcing.ts.
 */
import type { KeptRights } from './kept-rights.ts';
import type { Leavings, Left } from './leavings.ts';
import { type NotingOptions, noteNamespaces } from './noted-namespaces.ts';
import type { KubeObject } from './ports.ts';
import type { Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import type { Sighting } from './rule-conditions.ts';
import type { Judgement } from './rule-judge.ts';
import { formerNamespaces, knownNamespaces, NOWHERE, stillLeaving } from './rule-namespaces.ts';
import type { Served } from './served.ts';

/** What seeing to them needs. */
export interface PlacesOptions extends NotingOptions {
  readonly book: Pick<RuleBook, 'note'>;
  readonly leavings: Leavings;
  readonly rights: KeptRights;
  readonly served: Served;
}

/** The rule after it. */
export interface Places {
  readonly object: KubeObject;
  /** What is left in the namespaces that are being left, or are going. */
  readonly left: Left;
}

const NOTHING: Left = { emptied: [], carriers: new Map() };

/** The namespaces that are going, or are gone: nothing new can be made there. */
export function goingFrom({ rights }: Pick<PlacesOptions, 'rights'>, { absent, ending }: Judgement): readonly string[] {
  return [...new Set([...absent, ...ending, ...rights.ending])];
}

/** Where the rule's status names a namespace for a binding from before that may not be read or changed. */
export function deniedTo({ rights }: Pick<PlacesOptions, 'rights'>, object: KubeObject): readonly string[] {
  const former = formerNamespaces(object);
  return rights.denied.filter((namespace) => former.includes(namespace));
}

/** What a rule's condition says of rights in namespaces: of those that are going, and of those that are kept from before. */
export function rightsSeen(
  { rights, served }: Pick<PlacesOptions, 'rights' | 'served'>,
  object: KubeObject,
  { rule }: Judgement,
): Pick<Sighting, 'unbound' | 'denied' | 'former'> {
  const isKept = rule === undefined && served.namespaces === undefined;
  return {
    unbound: rights.going,
    denied: deniedTo({ rights }, object),
    former: isKept ? formerNamespaces(object) : [],
  };
}

/** A rule, as far as it matters here. */
type PlacedRule = Pick<Rule, 'name' | 'uid' | 'match' | 'matchesNamespace'>;

/** Looks, where that is due, and notes it. Throws for what another try may mend. */
export async function seeToPlaces(
  options: PlacesOptions,
  object: KubeObject,
  { rule, judgement }: { readonly rule: PlacedRule; readonly judgement: Judgement },
): Promise<Places> {
  const { book, leavings, rights, served } = options;
  if (judgement.isBeyond) return await leaveAll(options, object, rule.name);
  if (served.namespaces === undefined) {
    const emptied = await outgrow(options, object);
    return { object: await noteNamespaces(options, object, { served, emptied }), left: NOTHING };
  }
  const going = goingFrom(options, judgement);
  const looked = [...stillLeaving(object, served), ...goingNamed(object, going)];
  const left = await leavings.look(rule, [...new Set(looked)], going);
  const { emptied } = left;
  // What is forgotten now may be there again before the next look: nothing gets its entry there until it is named again (P5).
  book.note(rule.name, without(knownNamespaces(object), emptied));
  await rights.leave(rule.name, emptied);
  const noted = await noteNamespaces(options, object, { served, emptied, going });
  await rights.keep(rule.name, knownNamespaces(noted));
  book.note(rule.name, knownNamespaces(noted));
  return { object: noted, left };
}

/**
 * Where the whole cluster is served: gives up what is kept of rights from before where all rules have theirs in all of it; those in
 * which nothing is kept any more.
 */
async function outgrow({ rights }: Pick<PlacesOptions, 'rights'>, object: KubeObject): Promise<readonly string[]> {
  const former = formerNamespaces(object);
  return former.length === 0 ? [] : await rights.outgrow(former);
}

/** The same for a rule of which no generation is in force: what its status then names instead is that entries may be anywhere. */
export async function seeToFormer(
  options: NotingOptions & Pick<PlacesOptions, 'rights' | 'served'>,
  object: KubeObject,
): Promise<KubeObject> {
  const emptied = await outgrow(options, object);
  return emptied.length === 0 ? object : await noteNamespaces(options, object, { served: options.served, emptied });
}

/** Of a kind that is in no namespace there is nothing in any, whatever was noted while its scope was not known. */
async function leaveAll(options: PlacesOptions, object: KubeObject, rule: string): Promise<Places> {
  const emptied = formerNamespaces(object);
  await options.rights.leave(rule, emptied);
  const noted = await noteNamespaces(options, object, { served: NOWHERE, emptied });
  return { object: noted, left: { ...NOTHING, emptied } };
}

function without(namespaces: readonly string[], some: readonly string[]): readonly string[] {
  return namespaces.filter((namespace) => !some.includes(namespace));
}

/** Those of the namespaces that are going which the rule's status names. */
export function goingNamed(object: KubeObject, going: readonly string[]): readonly string[] {
  return knownNamespaces(object).filter((namespace) => going.includes(namespace));
}
