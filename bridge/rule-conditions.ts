/*
 * The conditions of a judgement: Accepted, Permitted, Watching, and Ready, which sums them up. Called by rule-status.ts.
 * Reasons are stable words that programs may wait for; messages are for people.
 */
import { type Lost, lostWords } from './kept-status.ts';
import { RIGHTS_BINDING } from './rights-binding.ts';
import type { OwnershipBinding } from './rule.ts';
import { type ACCEPTANCES, PERMISSIONS, WATCHINGS } from './rule-facts.ts';
import type { Judgement } from './rule-judge.ts';
import { leftWords } from './rule-namespaces.ts';
import { VERBS } from './rule-rights.ts';
import { EVERYWHERE, type Served } from './served.ts';
import type { Condition } from './teardown-rules.ts';

/** How surely an accepted rule's proof belongs to the object, as reason and message. */
const BINDINGS: Readonly<Record<OwnershipBinding, readonly [reason: keyof typeof ACCEPTANCES, message: string]>> = {
  uid: ['Accepted', 'the rule is in force'],
  name: [
    'OwnershipWeak',
    'the rule is in force; its ownership proof could also be carried by the resource of another object of the same name',
  ],
  none: [
    'OwnershipNone',
    'the rule is in force and asks for no ownership proof: whatever a target names is taken down, if the function allows it',
  ],
};

/** What is seen of a rule's objects. */
export interface Sighting {
  readonly isWatching: boolean;
  readonly served: Served;
  /** Namespaces in which the kind is not being watched. */
  readonly blindIn: readonly string[];
  /** Namespaces that are served no more, and in which objects may carry the entry. */
  readonly left: readonly string[];
  /** How many objects are not done in each namespace that is being left, or is going; undefined where they cannot be counted now. */
  readonly leaving: ReadonlyMap<string, number | undefined>;
  /** Namespaces that are being deleted, or are not there. */
  readonly going: readonly string[];
  /** Namespaces in which the binding that gives the rights was deleted, and is kept for now. */
  readonly unbound: readonly string[];
  /** Where the whole cluster is served: namespaces whose binding from before is kept, and may not be read or changed. */
  readonly denied: readonly string[];
  /** The same of a rule that is refused: namespaces whose rights are kept, as it lacks some in the whole cluster. */
  readonly former: readonly string[];
}

/** What is seen of a rule's objects where the whole cluster is served. */
export function sightingOf(isWatching: boolean): Sighting {
  const nowhere = { blindIn: [], left: [], going: [], unbound: [], denied: [], former: [] };
  return { isWatching, served: EVERYWHERE, leaving: new Map(), ...nowhere };
}

/** The conditions of a judgement; `lost`: what of the status was not stored. */
export function conditionsOf(judgement: Judgement, sighting: Sighting, lost: Lost = []): readonly Condition[] {
  const basis = [accepted(judgement), permitted(judgement, sighting), watching(judgement, sighting)];
  const unkept = lost.length === 0 ? undefined : { reason: 'StatusNotKept', message: lostWords(lost) };
  const lacksOne =
    basis[0]?.status === 'True' && unkept !== undefined ? unkept : basis.find(({ status }) => status !== 'True');
  const ready: Condition =
    lacksOne === undefined
      ? { type: 'Ready', status: 'True', reason: 'Ready', message: 'objects are held and taken down' }
      : { type: 'Ready', status: 'False', reason: lacksOne.reason, message: lacksOne.message };
  return [...basis, ready];
}

function watching(judgement: Judgement, { isWatching, left, ...rest }: Sighting): Condition {
  const condition = (reason: keyof typeof WATCHINGS, message: string): Condition => {
    return { type: 'Watching', status: WATCHINGS[reason].status, reason, message };
  };
  if (!isWatching) return condition('NotWatching', blindness(judgement, rest.blindIn));
  if (left.length > 0) return condition('NamespacesLeft', leftWords(left));
  return condition('Watching', `the kind is being watched${placesOf(rest)}`);
}

function placesOf({ served, leaving, going }: Pick<Sighting, 'served' | 'leaving' | 'going'>): string {
  if (served.namespaces === undefined) return '';
  const counted = (begin: string, isWanted: (namespace: string) => boolean, what: string) => {
    const counts = [...leaving].flatMap(([namespace, count]) =>
      isWanted(namespace) ? `${namespace} (${count === undefined ? 'not counted' : `${count} objects ${what}`})` : [],
    );
    return counts.length === 0 ? '' : `; ${begin} ${counts.join(', ')}`;
  };
  const isGoing = (namespace: string) => going.includes(namespace);
  return [
    ` in namespaces ${served.namespaces.join(', ')}`,
    counted('leaving', (namespace) => !isGoing(namespace), 'carry the entry'),
    counted('being deleted:', isGoing, 'are not done'),
  ].join('');
}

function blindness({ rule }: Judgement, blindIn: readonly string[]): string {
  const where = blindIn.length === 0 ? '' : ` in namespace ${blindIn.join(', ')}`;
  return rule?.matchesNamespace === undefined
    ? `the kind is not being watched${where}`
    : `the kind${where}, or the labels of namespaces, are not being watched`;
}

function accepted({ rule, fault, notes }: Judgement): Condition {
  if (fault !== undefined) return { type: 'Accepted', status: 'False', ...fault };
  const [reason, message] = BINDINGS[rule?.binding ?? 'uid'];
  return { type: 'Accepted', status: 'True', reason, message: [message, ...notes].join('; ') };
}

/** Whether the bridge may do what a rule needs. */
export function permitted(
  { rule, lacking, isBeyond, absent, ending }: Judgement,
  { unbound, denied, former }: Pick<Sighting, 'unbound' | 'denied' | 'former'>,
): Condition {
  const condition = (reason: keyof typeof PERMISSIONS, message: string): Condition => {
    return { type: 'Permitted', status: PERMISSIONS[reason].status, reason, message };
  };
  if (isBeyond) return condition('ClusterScoped', BEYOND);
  const gone = [...(ending.length > 0 ? [termination(ending)] : []), ...(absent.length > 0 ? [absence(absent)] : [])];
  // Who is to give rights in one place is told of all others as well.
  if (lacking.length > 0) return condition('MissingVerbs', [`may not ${lacking.join('; ')}`, ...gone].join('; '));
  if (ending.length > 0) return condition('NamespaceTerminating', gone.join('; '));
  if (absent.length > 0) return condition('NamespaceMissing', gone.join('; '));
  return rule === undefined
    ? condition('NotAccepted', `not asked before it is accepted${formerWords(former)}`)
    : condition('Permitted', `may ${VERBS.join(', ')}${unboundWords(unbound)}${deniedWords(denied)}`);
}

function unboundWords(unbound: readonly string[]): string {
  if (unbound.length === 0) return '';
  return `; in namespace ${unbound.join(', ')} the RoleBinding ${RIGHTS_BINDING.name} was deleted, and stays until no rule needs it`;
}

function deniedWords(denied: readonly string[]): string {
  if (denied.length === 0) return '';
  return `; may not get, patch the RoleBinding ${RIGHTS_BINDING.name} in namespace ${denied.join(', ')}, which may be kept from when some namespaces were served: deleted, it hangs, and so does the namespace`;
}

function formerWords(former: readonly string[]): string {
  if (former.length === 0) return '';
  return `; the rights in namespace ${former.join(', ')} are kept from before until the bridge has them in the whole cluster`;
}

const BEYOND = 'the kind is in no namespace, and this bridge serves some namespaces only: it can see no object of it';

function termination(ending: readonly string[]): string {
  const are =
    ending.length === 1 ? 'is being deleted, and the rights in it' : 'are being deleted, and the rights in them';
  return `namespace ${ending.join(', ')} ${are} went first: what is held there stays until they are given again; the others are served`;
}

function absence(absent: readonly string[]): string {
  const are = absent.length === 1 ? 'is not there, and the rights in it' : 'are not there, and the rights in them';
  return `namespace ${absent.join(', ')} ${are} went with it; the others are served`;
}
