/*
 * Whether objects get a rule's entry as they are created, and what the rule's condition FinalizerAtAdmission says of it.
 * Told only from what is seen anyway, new objects and discovery: the bridge has no right on admission policies. Pure.
 * births.ts remembers what new objects showed; rule-enforcing.ts writes the condition, which never makes a rule not ready.
 */
import { INJECTS_LABEL } from './injects.ts';
import { managersOf, ownsFinalizer } from './managed-fields.ts';
import type { KindRef } from './ports.ts';
import type { Condition, WrittenCondition } from './teardown-rules.ts';

/** What the API server has to serve for entries at birth. */
export const POLICIES: KindRef = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'mutatingadmissionpolicies',
};

/** An object that is created within this time of the rule's label does not show that the policy fails. */
export const KNOWN_WITHIN_MS = 5_000;

/** What stays possible without entries at birth, in one sentence; for the docs too. */
export const RACE =
  'An object that is deleted in the moment between its creation and the patch of the bridge goes without teardown.';

/** Every reason of the condition: its status, and what it means. */
export const AT_ADMISSION = {
  Observed: { status: 'True', meaning: 'The newest object of the rule came with the entry on.' },
  NotInjected: {
    status: 'False',
    meaning: 'The newest object of the rule came without the entry, and the bridge put it on.',
  },
  NotServed: {
    status: 'False',
    meaning:
      'The API server does not serve MutatingAdmissionPolicy v1 (Kubernetes 1.36), so the bridge puts the entry on each new object.',
  },
  NotLabelled: {
    status: 'False',
    meaning: `The rule has no label ${INJECTS_LABEL}, by which the admission policy finds it: the bridge sets it once the rule is in force and its kind was served for half a minute.`,
  },
  NothingCreatedYet: {
    status: 'Unknown',
    meaning: 'No object of the rule was created since the admission policy may know of it.',
  },
} as const satisfies Record<string, { readonly status: Condition['status']; readonly meaning: string }>;

/** What one new object showed. */
export type Sight = 'Observed' | 'NotInjected';

/** Which other rules' entries were on their newest objects: some of the same kind, some of other kinds only, or none. */
export type Neighbours = 'SameKind' | 'OtherKinds' | 'None';

/** What the condition is made from. */
export interface AtAdmissionFacts {
  /** undefined: nobody could ask. */
  readonly isServed: boolean | undefined;
  readonly isLabelled: boolean;
  /** What the newest object showed that this process has seen come. */
  readonly sight: Sight | undefined;
  readonly neighbours: Neighbours;
  /** `buckets.storage.example.com`. */
  readonly kind: string;
  /** The condition as it was written last. */
  readonly written: WrittenCondition | undefined;
}

/** The condition; undefined when what was written last is to stay as it is. */
export function atAdmission(facts: AtAdmissionFacts): Condition | undefined {
  const { isServed, isLabelled, sight, written } = facts;
  if (isServed === undefined) return undefined;
  if (!isServed) return condition('NotServed');
  if (!isLabelled) return condition('NotLabelled');
  if (sight !== undefined) return condition(sight, sight === 'NotInjected' ? [whyNotInjected(facts)] : []);
  // Seen by an earlier process: so it is until something new is seen.
  const { reason, message = '' } = written ?? {};
  return reason === 'Observed' || reason === 'NotInjected'
    ? { type: 'FinalizerAtAdmission', status: AT_ADMISSION[reason].status, reason, message }
    : condition('NothingCreatedYet');
}

function condition(reason: keyof typeof AT_ADMISSION, more: readonly string[] = []): Condition {
  const { status, meaning } = AT_ADMISSION[reason];
  const race = status === 'True' ? [] : [RACE];
  return { type: 'FinalizerAtAdmission', status, reason, message: [meaning, ...more, ...race].join(' ') };
}

function whyNotInjected({ neighbours, kind }: AtAdmissionFacts): string {
  switch (neighbours) {
    case 'SameKind':
      return `Entries of other rules for ${kind} come at birth: the policy fails for this rule, or did not know it yet.`;
    case 'OtherKinds':
      return `Entries for other kinds come at birth: the policy seems to have no binding for ${kind} (infra/admission/print.ts makes one).`;
    case 'None':
      return `Either there is no admission policy, or it has no binding for ${kind} (infra/admission/print.ts makes one).`;
    default:
      return neighbours satisfies never;
  }
}

/** A new object as a watch showed it, and the rule that selects it. */
export interface Birth {
  readonly entry: string;
  readonly isHeld: boolean;
  /** ms since the epoch, by the API server's clock. */
  readonly createdAt: number;
  /** As the API server sent it. */
  readonly managedFields: unknown;
  /** ms since the epoch, by the bridge's clock: when the label was first known to be on the rule, and now. */
  readonly labelledAt: number;
  readonly now: number;
}

/** What a new object shows; undefined when it shows nothing. */
export function sightOf({ entry, isHeld, createdAt, managedFields, labelledAt, now }: Birth): Sight | undefined {
  if (isHeld) return isOwned(managedFields, entry) === false ? 'Observed' : undefined;
  // By both clocks, which may differ, and whose difference may be taken for the time that the policy had.
  return Math.min(createdAt, now) - labelledAt > KNOWN_WITHIN_MS ? 'NotInjected' : undefined;
}

/** Whether somebody wrote the entry: whoever created the object, or our patch. An entry from a policy has no owner. */
function isOwned(managedFields: unknown, entry: string): boolean | undefined {
  const managers = managersOf(managedFields);
  return managers.length === 0 ? undefined : managers.some((manager) => ownsFinalizer(manager, entry));
}
