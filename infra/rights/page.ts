/*
 * docs/rights.md: what every value set of the chart gives to whom, each right with its reason, made of rights.ts. Used by
 * chart-files.ts (`npm run chart`), and by the test that keeps the page from drifting.
 */
import type { GeneratedFile } from '../generated.ts';
import { bridgeNeeds, drainNeeds, type Kind, PEOPLE, type Right } from './rights.ts';

const KINDS: readonly Kind[] = [{ group: 'storage.example.com', resource: 'buckets' }];
const WHERE = {
  cluster: 'all namespaces',
  'kube-system': 'namespace `kube-system`',
  served: 'each of these namespaces',
} as const;
const SOME = { namespaces: ['team-a', 'team-b'] };

const LINE_MAX = 125;

/** A set of values, and what it gives. */
interface ValueSet {
  readonly title: string;
  /** What is to be known of it. */
  readonly words: string;
  readonly rights: readonly Right[];
}

const BRIDGE: readonly ValueSet[] = [
  {
    title: 'The bridge, as the chart is unless told otherwise',
    words: 'In a ClusterRole and, for the lease, a Role in `kube-system`, bound to the ServiceAccount of the bridge.',
    rights: bridgeNeeds(KINDS),
  },
  {
    title: 'The bridge with `rbac.namespaceLabels: false`',
    words:
      'For installations without rules that have a `namespaceSelector`: one that comes all the same puts no entry on, and says so: its condition `Permitted` is `False` (`may not list, watch namespaces`).',
    rights: bridgeNeeds(KINDS, { namespaceSelectors: false }),
  },
  {
    title: 'The bridge with `namespaces: [team-a, team-b]`',
    words:
      'What counts in these namespaces is in a ClusterRole, `…-objects`, that nothing binds in the whole cluster: a RoleBinding `finalizer-bridge` in each of them does. A Role in `kube-system` is for the lease. What another ClusterRole gives in the whole cluster is what is in no namespace: rules, their status, and the namespaces themselves, by name. No object of anybody can be read, or written, anywhere else.',
    rights: bridgeNeeds(KINDS, SOME),
  },
  {
    title:
      'The bridge with `namespaces: [team-a, team-b]`, `leavingNamespaces: [team-c]` and `rbac.namespaceLabels: false`',
    words:
      'A namespace that is being left has the same RoleBinding until it is taken off the list: deletions there still come to their end.',
    rights: bridgeNeeds(KINDS, { ...SOME, leavingNamespaces: ['team-c'], namespaceSelectors: false }),
  },
  {
    title: 'The bridge with no `kinds`',
    words: 'It runs, and says of every rule that it is not permitted.',
    rights: bridgeNeeds([]),
  },
];

const DRAIN: readonly ValueSet[] = [
  {
    title: 'The drain before an uninstallation',
    words:
      'Held by an account of its own, which Helm makes before the uninstallation and takes away after it. With `drain.enabled: false` there is none.',
    rights: drainNeeds(KINDS),
  },
  {
    title: 'The drain with `namespaces: [team-a, team-b]`',
    words:
      'It looks into the namespaces that the rules name in `status.namespaces`, and those of the values, and lets no rule go whose entries may be elsewhere. What it needs there it has by the RoleBinding of the bridge, so that it can also run while a namespace is being deleted, in which no other can be made; its account is there only while it runs.',
    rights: drainNeeds(KINDS, SOME),
  },
  {
    title: 'The drain with `drain.releaseHeld` set to `wait` or `now`',
    words: 'It may also give up what is held.',
    rights: drainNeeds(KINDS, { release: true }),
  },
];

/** The page. */
export function rightsPage(): GeneratedFile {
  const text = [
    '# Rights',
    '<!-- Made by npm run chart from infra/rights/rights.ts; do not edit. -->',
    INTRODUCTION,
    ...[...BRIDGE, ...DRAIN].flatMap(section),
    '## What needs no rule',
    BESIDE,
    '## Roles for people',
    PEOPLE_WORDS,
    ...PEOPLE.flatMap(({ name, forWhom, rights }) => [`### ${name}`, `For ${forWhom}.`, tableOf(rights)]),
    EXAMPLE,
  ];
  return { path: 'docs/rights.md', text: `${text.map(wrapped).join('\n\n')}\n` };
}

const INTRODUCTION = `What the chart gives to whom, by its values, and why. The tables are for one kind, \`buckets.storage.example.com\`; each kind that
the value \`kinds\` lists has the same line. Nothing is given that is not in a table. What somebody can do with these rights, and
which admission policy bounds them, is in [security.md](security.md).`;

const BESIDE = `Every authenticated account may ask what the API server serves (\`system:discovery\`) and what itself may do
(SelfSubjectAccessReview, \`system:basic-user\`). The bridge does both, to say in a rule's conditions what is missing. It has no
right on admission policies, on definitions of kinds, on Secrets or on anything that a table does not name. With \`rbac.create: false\`
the chart gives nothing, and you give what the tables list.

Unless \`namespaces\` names some, the kinds are given in the whole cluster, since the bridge lists and watches them there. Helm makes a RoleBinding
only in a namespace that is there, and with a namespace the RoleBinding in it goes: it comes back with the next \`helm upgrade\`. The finalizer
\`rights.finalizer-bridge.dev/kept\`, which the bridge puts on it, has it go last. Who gives the rights otherwise has the same by binding them in
each namespace by a RoleBinding of the name \`finalizer-bridge\`. What it means to serve some namespaces only is in
[operations](operations.md#some-namespaces-only).`;

const PEOPLE_WORDS = `With \`rbac.people: true\` (the default) the chart makes these ClusterRoles and binds none of them. By \`rbac.aggregate\` they become a
part of Kubernetes' own roles \`view\`, \`edit\` and \`admin\`; unless told, the viewer's of \`view\`, which counts where \`view\` is
bound in the whole cluster, as rules are in no namespace.

A word is an annotation on the object, so it also takes \`get\` and \`patch\` on the object, which these roles do not give. The verbs \`retry\`,
\`approve\` and \`release\` count where the policy of [\`admission.guardWords\`](security.md#words-and-records) is in force. Bound by a RoleBinding they count for objects of that
namespace, bound by a ClusterRoleBinding for all.`;

const EXAMPLE = `### A role of your own

For one rule, in one namespace: \`resourceNames\` are names of rules.

\`\`\`yaml
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: release-buckets, namespace: team-a }
rules:
  - { apiGroups: [finalizer-bridge.dev], resources: [teardownrules], resourceNames: [team-buckets], verbs: [release, retry] }
  - { apiGroups: [storage.example.com], resources: [buckets], verbs: [get, patch] }
\`\`\``;

function section({ title, words, rights }: ValueSet): readonly string[] {
  return [`## ${title}`, words, tableOf(rights)];
}

function tableOf(rights: readonly Right[]): string {
  const code = (words: readonly string[]) => words.map((word) => (word === '' ? 'core' : `\`${word}\``)).join(', ');
  const rows = rights.map(({ where, apiGroups, resources, resourceNames, verbs, why }) => {
    const named = resourceNames === undefined ? '' : ` named ${code(resourceNames)}`;
    return `| ${code(resources)}${named} | ${code(apiGroups)} | ${WHERE[where]} | ${code(verbs)} | ${why} |`;
  });
  return ['| resource | group | where | verbs | why |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** Paragraphs of prose to lines of a length that reads; tables and code as they are. */
function wrapped(part: string): string {
  if (/^[|<#]/.test(part) || part.includes('```')) return part;
  const paragraph = (text: string) => {
    const lines = [''];
    for (const word of text.split(/\s+/)) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (longer.length <= LINE_MAX) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines.join('\n');
  };
  return part.split('\n\n').map(paragraph).join('\n\n');
}
