/*
 * The rights of an installation, each with its reason: what the bridge needs, what its drain needs, and the roles for people.
 * Used by the local system (infra/local), by the page of the rights (page.ts), and by the test that holds the chart's
 * templates against it. A right that is not here is not given.
 */
import { LEASE_PLACE } from '../../bridge/leader-state.ts';
import { RIGHTS_BINDING } from '../../bridge/rights-binding.ts';
import { RULE_GROUP, RULE_RESOURCE } from '../../bridge/rule-facts.ts';

/** A kind by API group and resource; the group of core is "". */
export interface Kind {
  readonly group: string;
  readonly resource: string;
}

/** One rule of a role, as RBAC has it. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** A rule, where it holds, and why it is given. */
export interface Right extends PolicyRule {
  /** The whole cluster, a namespace, or each namespace that is served or being left. */
  readonly where: 'cluster' | 'kube-system' | 'served';
  readonly why: string;
}

/** What the bridge does beside holding the kinds. */
export interface Extent {
  /** Rules are TeardownRules in the API, not a file. */
  readonly rulesFromApi?: boolean;
  /** Rules may select namespaces by their labels. */
  readonly namespaceSelectors?: boolean;
  /** The namespaces that are served, where not all are. */
  readonly namespaces?: readonly string[];
  /** Those that are being left. */
  readonly leavingNamespaces?: readonly string[];
}

const cluster = 'cluster' as const;
const core = [''];
const rules = { apiGroups: [RULE_GROUP], resources: [RULE_RESOURCE] };
const leases = { where: 'kube-system', apiGroups: [LEASE_PLACE.group], resources: [LEASE_PLACE.resource] } as const;
const events = { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] };
const namespacesKind = { where: cluster, apiGroups: core, resources: ['namespaces'] };
/** Where objects and their Events are. */
const placeOf = ({ namespaces }: Pick<Extent, 'namespaces'>): Right['where'] =>
  namespaces === undefined ? cluster : 'served';
const namesOf = ({ namespaces = [], leavingNamespaces = [] }: Extent) => [
  ...new Set([...namespaces, ...leavingNamespaces]),
];
const ofKinds = (kinds: readonly Kind[], extent: Extent) =>
  [
    ...new Map(
      kinds.map(({ group, resource }) => [`${resource}.${group}`, { apiGroups: [group], resources: [resource] }]),
    ),
  ].map(([, kind]) => ({ where: placeOf(extent), ...kind }));

const RULES_FROM_API: readonly Right[] = [
  {
    ...{ where: cluster, ...rules, verbs: ['get', 'list', 'watch', 'patch'] },
    why: 'reads the rules; `patch` for its own finalizer, which holds a rule until it is withdrawn, and for the label by which the admission policy finds it',
  },
  {
    ...{ where: cluster, apiGroups: [RULE_GROUP], resources: [`${RULE_RESOURCE}/status`], verbs: ['patch'] },
    why: 'says whether a rule works, what is pending and held, and takes tokens of its budget',
  },
];
const labels = ({ namespaces }: Extent): Right => ({
  ...{
    ...namespacesKind,
    ...(namespaces === undefined ? {} : { resourceNames: namespaces }),
    verbs: ['list', 'watch'],
  },
  why: 'knows the labels of namespaces, for rules with a `namespaceSelector`',
});
/** A namespace that is gone has taken the rights in it along: only this tells it from one without rights. */
const existence = (extent: Extent): readonly Right[] =>
  extent.namespaces === undefined
    ? []
    : [
        {
          ...{ ...namespacesKind, resourceNames: namesOf(extent), verbs: ['get'] },
          why: 'tells a namespace that is gone, and its rights with it, from one in which rights are missing',
        },
      ];
/**
 * The very binding that gives these rights: nothing else of roles and bindings may be read or written. Where the whole cluster is
 * served it is the one from before that, in whichever namespace that was.
 */
const ofBinding = (extent: Extent, why: { readonly some: string; readonly all: string }): readonly Right[] => {
  const { group, resource, name } = RIGHTS_BINDING;
  const named = { where: placeOf(extent), apiGroups: [group], resources: [resource], resourceNames: [name] };
  return [{ ...named, verbs: ['get', 'patch'], why: extent.namespaces === undefined ? why.all : why.some }];
};
const KEEPS_RIGHTS = {
  some: 'keeps these rights by a finalizer on the RoleBinding that gives them: when the namespace is deleted, deletions there still come to their end',
  all: 'takes the finalizer off that an installation which served some namespaces only has put on its RoleBindings there: otherwise these, and the namespaces, would hang when they are deleted',
};
const ENDS_RIGHTS = {
  some: 'takes that finalizer off, so that nothing of an installation is left',
  all: 'the same in namespaces that rules still name, where the bridge has not done it, so that nothing of an installation is left',
};
const always = (extent: Extent): readonly Right[] => [
  {
    ...{ ...namespacesKind, resourceNames: ['kube-system'], verbs: ['get'] },
    why: 'the uid of this namespace is the identity of the cluster in every message',
  },
  { where: placeOf(extent), ...events, why: 'tells what is held, released or bypassed by Events on the objects' },
  {
    ...{ ...leases, resourceNames: [LEASE_PLACE.name], verbs: ['get', 'update'] },
    why: 'one bridge leads: it renews this lease, the other watches it',
  },
  {
    ...{ ...leases, verbs: ['create'] },
    why: 'makes that lease the first time; what is created has no name yet when the right is looked at, so none can be asked for',
  },
];

/** What the bridge needs. */
export function bridgeNeeds(kinds: readonly Kind[], extent: Extent = {}): readonly Right[] {
  const { rulesFromApi = true, namespaceSelectors = true } = extent;
  const why = 'sees what is deleted, reads it once, puts the entry on and takes it off, and records why it waits';
  return [
    ...ofKinds(kinds, extent).map((kind) => ({ ...kind, verbs: ['get', 'list', 'watch', 'patch'], why })),
    ...(rulesFromApi ? RULES_FROM_API : []),
    ...(namespaceSelectors ? [labels(extent)] : []),
    ...existence(extent),
    ...always(extent),
    // Rules from a file have no status to name a namespace in, so nothing is kept for them.
    ...(rulesFromApi ? ofBinding(extent, KEEPS_RIGHTS) : []),
  ];
}

/** What a drain needs. `release`: it may also give held objects up. */
export function drainNeeds(
  kinds: readonly Kind[],
  { release = false, ...extent }: { readonly release?: boolean } & Extent = {},
): readonly Right[] {
  return [
    ...ofKinds(kinds, extent).map((kind) => ({
      ...kind,
      verbs: ['get', 'list', 'patch'],
      why: 'finds every object with an entry of ours, and takes it off live ones',
    })),
    {
      ...{ where: cluster, ...rules, verbs: ['get', 'list', 'patch', 'delete', ...(release ? ['release'] : [])] },
      why: `deletes the rules, waits for their withdrawal, and lets them go where no bridge runs${release ? '; `release` to give up what is held' : ''}`,
    },
    {
      ...{ ...leases, resourceNames: [LEASE_PLACE.name], verbs: ['get'] },
      why: 'sees whether a bridge runs, and when one last did',
    },
    ...existence(extent),
    { where: placeOf(extent), ...events, why: 'tells by an Event what it has released' },
    ...ofBinding(extent, ENDS_RIGHTS),
  ];
}

/** A role for people, bound by whoever runs the cluster. */
export interface PeopleRole {
  readonly name: string;
  readonly forWhom: string;
  readonly rights: readonly Right[];
}

const SEE: readonly Right[] = [
  {
    ...{ where: cluster, ...rules, verbs: ['get', 'list', 'watch'] },
    why: 'rules, their conditions, what is pending and held',
  },
  {
    ...{ ...leases, where: cluster, resourceNames: [LEASE_PLACE.name], verbs: ['get'] },
    why: '`finalizer-bridge status` says which bridge leads',
  },
];
const may = (verbs: readonly string[], why: string): Right => ({ where: cluster, ...rules, verbs, why });

/** The roles for people; the words need `get` and `patch` on the objects as well, which people's own roles give. */
export const PEOPLE: readonly PeopleRole[] = [
  { name: 'finalizer-bridge-viewer', forWhom: 'everybody who wants to know why something hangs', rights: SEE },
  {
    name: 'finalizer-bridge-operator',
    forWhom: 'who is on call',
    rights: [
      ...SEE,
      may(['retry', 'approve'], 'asks for another try, and lets a deletion through that a budget holds back'),
    ],
  },
  {
    name: 'finalizer-bridge-releaser',
    forWhom: 'who may decide that an outside resource is left behind',
    rights: [...SEE, may(['release'], 'lets an object go without teardown')],
  },
  {
    name: 'finalizer-bridge-rule-author',
    forWhom: 'who may have things torn down: in effect, who may read the kinds and delete what they stand for',
    rights: [...SEE, may(['create', 'update', 'patch', 'delete'], 'writes and withdraws rules')],
  },
];

/** A right without its reason, as RBAC has it. */
export function policyRule({ apiGroups, resources, resourceNames, verbs }: Right): PolicyRule {
  return { apiGroups, resources, ...(resourceNames === undefined ? {} : { resourceNames }), verbs };
}
