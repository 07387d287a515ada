/*
 * The admission policies as templates of the chart, made from the manifests in infra/admission, so that both say the same to
 * the letter: kinds, accounts and labels are put in by Helm, expressions are not touched. Used by chart-files.ts.
 */
import { stringify } from 'yaml';
import { injectsLabel } from '../bridge/injects.ts';
import { kindName } from '../bridge/kind-key.ts';
import { type GuardManifest, guardManifests } from './admission/guards.ts';
import { type AdmissionManifest, admissionManifests } from './admission/manifests.ts';
import type { GeneratedFile } from './generated.ts';

const FOLDER = 'infra/chart/templates';
/** Stand in for what Helm knows; no expression has them otherwise. */
const KIND = { group: '@group@', resource: '@resource@' };
const BRIDGE = { namespace: '@namespace@', name: '@bridge@' };
const DRAIN = { namespace: '@namespace@', name: '@drain@' };
const WITH: Readonly<Record<string, string>> = {
  [KIND.group]: '{{ .group }}',
  [KIND.resource]: '{{ .resource }}',
  [BRIDGE.namespace]: '{{ $.Release.Namespace }}',
  [BRIDGE.name]: '{{ include "finalizer-bridge.serviceAccountName" $ }}',
  [DRAIN.name]: '{{ include "finalizer-bridge.drainServiceAccountName" $ }}',
  [kindName(KIND)]: '{{ .name }}',
  [injectsLabel(KIND)]: '{{ .label | quote }}',
};
const KINDS = '{{- $kinds := include "finalizer-bridge.kinds" . | fromJsonArray }}\n';
const LABELS = '  labels:\n    {{- include "finalizer-bridge.labels" $ | nindent 4 }}\n';

/** The templates. */
export function admissionTemplates(): readonly GeneratedFile[] {
  const accounts = { bridge: BRIDGE, drain: DRAIN };
  const none = { ...accounts, words: false, limits: false };
  const [policy, binding] = admissionManifests([KIND]);
  if (policy === undefined || binding === undefined)
    throw new Error('making templates of the policies: there are none');
  const perKind = `{{- range $kinds }}\n${inSomeNamespaces(documentOf(binding))}{{- end }}\n`;
  const guards = (options: Parameters<typeof guardManifests>[1]) =>
    guardManifests([KIND], options).map(documentOf).join('');
  return [
    template('admission-entries-at-birth', {
      served: 'MutatingAdmissionPolicy',
      wanted: '.Values.admission.entryAtBirth',
      body: documentOf(policy) + perKind,
    }),
    template('admission-words', {
      ...{ served: 'ValidatingAdmissionPolicy', wanted: '.Values.admission.guardWords' },
      body: guards({ ...none, words: true }),
    }),
    template('admission-limits', {
      ...{ served: 'ValidatingAdmissionPolicy', wanted: '.Values.admission.limitBridge' },
      body: guards({ ...none, limits: true }),
    }),
    template('admission-removals', {
      ...{
        served: 'ValidatingAdmissionPolicy',
        wanted: '(not (has .Values.admission.guardEntries (list "Off" false)))',
      },
      body:
        `{{- if eq .Values.admission.guardEntries "Deleting" }}\n${guards({ ...none, entries: 'Deleting' })}` +
        `{{- else }}\n${guards({ ...none, entries: 'Always' })}{{- end }}\n`,
    }),
  ];
}

interface Template {
  /** The kind that the API server has to serve. */
  readonly served: string;
  /** Whether it is wanted, in Helm's words. */
  readonly wanted: string;
  readonly body: string;
}

function template(name: string, { served, wanted, body }: Template): GeneratedFile {
  const isServed = `(.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/${served}")`;
  const head = '{{- /* Made by npm run chart from infra/admission; do not edit. */}}\n';
  const text = `${head}${KINDS}{{- if and $kinds ${wanted} ${isServed} }}\n${body}{{- end }}\n`;
  return { path: `${FOLDER}/${name}.yaml`, text };
}

/** One manifest as a document of a template. */
function documentOf(manifest: AdmissionManifest | GuardManifest): string {
  const { labels, ...metadata } = manifest.metadata;
  const plain = stringify({ ...manifest, metadata }, { lineWidth: 0, aliasDuplicateObjects: false });
  if (/\{\{|\}\}/.test(plain)) throw new Error('making a template of a policy: it holds braces that Helm reads');
  const isPolicy = manifest.kind.endsWith('Policy');
  const named = plain.replace(/^metadata:\n {2}name: .*\n/m, (lines) => lines + LABELS);
  const text = isPolicy
    ? named.replace(ofKind, (rule) => `      {{- range $kinds }}\n${rule}      {{- end }}\n`)
    : named;
  const filled = Object.entries(WITH).reduceRight((done, [from, to]) => done.replaceAll(from, to), text);
  return `---\n${filled}`;
}

/** What a binding for some namespaces has beside one for all; both are made of the same manifests. */
function inSomeNamespaces(everywhere: string): string {
  const [, binding] = admissionManifests([KIND], { namespaces: ['@namespaces@'] });
  if (binding === undefined) throw new Error('making a template of the binding: there is none');
  const some = documentOf(binding).replace(/^( *)values:\n *- "?@namespaces@"?\n/m, (_, pad: string) => {
    return `${pad}values: {{ toJson $.Values.namespaces }}\n`;
  });
  return `{{- if $.Values.namespaces }}\n${some}{{- else }}\n${everywhere}{{- end }}\n`;
}

/** The rule of a kind in a list of resourceRules. */
const ofKind = / {6}- apiGroups:\n {10}- "@group@"\n(?: {8,}.*\n)*/;
