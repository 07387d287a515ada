/*
 * What the policy `words` says in CEL: a person's words are written, changed and removed by who has the verb on the rule,
 * the bridge's records by the bridge. Used by guards.ts. Only what names the uid of the very object counts, as in the
 * bridge (words.ts, record.ts there): what a backup or a copy brings along says nothing, and may come and go.
 */
import { RECORD_PREFIX } from '../../bridge/record.ts';
import { RULE_GROUP, RULE_RESOURCE } from '../../bridge/rule-facts.ts';
import { APPROVE_PREFIX, REASON_MAX, REASON_PREFIX, RELEASE_PREFIX, RETRY_PREFIX } from '../../bridge/words.ts';
import type { NamedExpression } from './expressions.ts';

/** A validation as policies list them; `because` is CEL for what a person reads. */
export interface Validation {
  readonly expression: string;
  readonly because: string;
}

/** The verb of who may write records in the bridge's place. Nobody is given it; administrators have it by `*`. */
const RECORD_VERB = 'record';
/** Longest annotation that gives a reason: a uid, a slash and the reason. */
const REASON_WORD_MAX = 36 + 1 + REASON_MAX;
/** The verbs on a TeardownRule that allow a person's words. */
const WORD_VERBS = ['release', 'approve', 'retry'] as const;

/** What stands before the slash of an annotation. */
const domainOf = (prefix: string) => prefix.slice(0, -1);
/** The domains of our annotations. */
export const ANNOTATION_DOMAINS = [RECORD_PREFIX, RELEASE_PREFIX, REASON_PREFIX, APPROVE_PREFIX, RETRY_PREFIX].map(
  domainOf,
);
/** Those that the bridge and its drain write. */
export const DOMAINS_OF = {
  bridge: [RECORD_PREFIX].map(domainOf),
  drain: [RELEASE_PREFIX, REASON_PREFIX].map(domainOf),
} as const;

/** A list of texts in CEL. */
export const listOf = (texts: readonly string[]) => `[${texts.map((text) => `'${text}'`).join(', ')}]`;

/**
 * Most annotations that are looked through. The time that the API server takes for a loop grows with the square of its
 * length: at 20,000 it would be seconds for each write.
 */
export const ANNOTATIONS_MAX = 500;

/** The API server evaluates two checks of an authorizer per expression, and fails at the third. */
const CHECKS_MAX = 2;

const asked = `authorizer.group('${RULE_GROUP}').resource('${RULE_RESOURCE}').namespace(request.?namespace.orValue(''))`;

/** Whether the caller has a verb on every rule, in the object's namespace or in all. */
export const mayOnAll = (verb: string) => `${asked}.check('${verb}').allowed()`;

/**
 * Whether the caller has a verb on all rules of a list, in the object's namespace or in all. More rules than can be asked
 * about by name are allowed to who has the verb on every rule.
 */
export function mayOn(rules: string, verb: string): string {
  return [
    `size(${rules}) == 0 ||`,
    `(size(${rules}) <= ${CHECKS_MAX} ? ${rules}.all(r, ${asked}.name(r).check('${verb}').allowed()) :`,
    `  ${mayOnAll(verb)})`,
  ].join('\n');
}

/** Most characters of the names of rules that are told: of a message with more than 5 KiB the API server says nothing but the CEL. */
const NAMES_MAX = 1000;

/** What is missing, for a person. */
export function lacking(rules: string, verb: string, act: string): string {
  const names = `${rules}.join(', ')`;
  const told = `(size(${names}) > ${NAMES_MAX} ? ${names}.substring(0, ${NAMES_MAX}) + '…' : ${names})`;
  const of = `'${act} takes the verb ${verb} on ${RULE_RESOURCE}.${RULE_GROUP} ' + ${told}`;
  return `${of} + (size(${rules}) > ${CHECKS_MAX} ? ', or of ${CHECKS_MAX} rules at a time' : '')`;
}

const annotationsOf = (object: string) => `${object}.?metadata.?annotations.orValue({})`;
const [was, is] = [annotationsOf('oldObject'), annotationsOf('object')];
const mayHoldOurs = (annotations: string) => `${annotations}.exists(k, k.contains('.${RULE_GROUP}/'))`;

const isCrowded = `(size(${was}) > ${ANNOTATIONS_MAX} || size(${is}) > ${ANNOTATIONS_MAX})`;
const isWord = `k.split('/')[0] in ${listOf(ANNOTATION_DOMAINS.filter((domain) => domain !== domainOf(RECORD_PREFIX)))}`;

/**
 * The cheap test: on most writes no annotation changes, and most objects have none of ours. A new object has a uid that
 * nobody can have named; where there is no old object otherwise, somebody writes through a subresource, as by a Binding,
 * whose annotations go on to the Pod. The bridge writes its records unasked, and a person's words no more than anybody else,
 * whether or not the policy `limits` is in force as well.
 */
export function matchConditions(bridge: string): readonly NamedExpression[] {
  return [
    {
      name: 'our-annotations-change',
      expression: [
        `request.userInfo.username == '${bridge}' ?`,
        `  oldObject != null && ${was} != ${is} && !${isCrowded} &&`,
        `  (${is}.exists(k, ${isWord} && ${was}[?k] != ${is}[?k]) || ${was}.exists(k, ${isWord} && !(k in ${is}))) :`,
        "oldObject == null ? request.?subResource.orValue('') != '' :",
        `  ${was} != ${is} && (${isCrowded} || ${mayHoldOurs(is)} || ${mayHoldOurs(was)})`,
      ].join('\n'),
    },
  ];
}

const isOurs = `k.split('/')[0] in ${listOf(ANNOTATION_DOMAINS)}`;
/** In JSON a character of the uid can be written as an escape. */
const mayName = (value: string) =>
  `(${value}.orValue('').contains(variables.uid) || ${value}.orValue('').contains('\\\\u'))`;
const [before, after] = ['variables.before[?k]', 'variables.after[?k]'];
const begins = (prefix: string) => `k.startsWith('${prefix}')`;
const rulesOf = (condition: string) => `variables.touched.filter(k, ${condition}).map(k, k.split('/')[1])`;

export const variables: readonly NamedExpression[] = [
  { name: 'before', expression: `oldObject == null ? {} : ${was}` },
  { name: 'after', expression: is },
  // Empty where the object is not known, so that everything names it.
  { name: 'uid', expression: "oldObject == null ? '' : oldObject.metadata.uid" },
  {
    name: 'crowded',
    expression: `size(variables.before) > ${ANNOTATIONS_MAX} || size(variables.after) > ${ANNOTATIONS_MAX}`,
  },
  {
    name: 'ours',
    expression: [
      'variables.crowded ? [] :',
      `  variables.after.filter(k, ${isOurs}) +`,
      `  variables.before.filter(k, ${isOurs} && !(k in variables.after))`,
    ].join('\n'),
  },
  {
    name: 'touched',
    expression: `variables.ours.filter(k, ${before} != ${after} && (${mayName(before)} || ${mayName(after)}))`,
  },
  { name: 'records', expression: rulesOf(begins(RECORD_PREFIX)) },
  {
    // A reason stands beside a release, and needs no check of its own there.
    name: 'releases',
    expression: rulesOf(
      [
        `${begins(RELEASE_PREFIX)} ||`,
        `  (${begins(REASON_PREFIX)} && !(('${RELEASE_PREFIX}' + k.split('/')[1]) in variables.touched))`,
      ].join('\n'),
    ),
  },
  { name: 'approvals', expression: rulesOf(begins(APPROVE_PREFIX)) },
  { name: 'retries', expression: rulesOf(begins(RETRY_PREFIX)) },
];

const crowded =
  `'an object with more than ${ANNOTATIONS_MAX} annotations is not looked through: to change them takes the verb ' +\n` +
  `'${RECORD_VERB} on ${RULE_RESOURCE}.${RULE_GROUP}'`;

const LISTS = { release: 'variables.releases', approve: 'variables.approvals', retry: 'variables.retries' } as const;

const RECORDS = 'variables.records';
const recording = `to write or remove what the bridge records in ${RECORD_PREFIX}*`;

export const validations: readonly Validation[] = [
  { expression: `!variables.crowded ||\n${mayOnAll(RECORD_VERB)}`, because: crowded },
  { expression: mayOn(RECORDS, RECORD_VERB), because: lacking(RECORDS, RECORD_VERB, recording) },
  {
    expression: `variables.touched.all(k, !${begins(REASON_PREFIX)} || size(variables.after[?k].orValue('')) <= ${REASON_WORD_MAX})`,
    because: `'a reason has at most ${REASON_MAX} characters after the uid'`,
  },
  ...WORD_VERBS.map((verb) => ({
    expression: mayOn(LISTS[verb], verb),
    because: lacking(LISTS[verb], verb, `to ${verb}, or to take that back,`),
  })),
];
