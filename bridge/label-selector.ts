/*
 * Standard Kubernetes label selectors: which objects a rule is for. The schema is part of rule-schema.ts, the predicate
 * of Rule.matches; it is asked for every live object that the watch shows, so it is compiled once.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
import * as z from 'zod/mini';

const labelName = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/;
const prefix = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Whether a text is a qualified name: an optional DNS subdomain and a slash, then a name of at most 63 characters. */
export function isQualifiedName(text: string): boolean {
  const [first = '', second, ...rest] = text.split('/');
  if (rest.length > 0) return false;
  if (second === undefined) return labelName.test(first);
  return first.length <= 253 && prefix.test(first) && labelName.test(second);
}

const labelKey = z.string().check(z.refine(isQualifiedName, { error: 'not a label key' }));
const labelValue = z
  .string()
  .check(z.refine((text) => text === '' || labelName.test(text), { error: 'not a label value' }));

const requirement = z
  .strictObject({
    key: labelKey,
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
    values: z.optional(z.array(labelValue)),
  })
  .check(
    z.refine(({ operator, values = [] }) => (operator === 'In' || operator === 'NotIn') === values.length > 0, {
      error: 'In and NotIn need values, Exists and DoesNotExist take none',
    }),
  );
type Requirement = z.output<typeof requirement>;

/** `{}` selects everything. */
export const labelSelector = z.strictObject({
  matchLabels: z._default(z.record(labelKey, labelValue), {}),
  matchExpressions: z._default(z.array(requirement), []),
});
export type LabelSelector = z.output<typeof labelSelector>;

export type Labels = Readonly<Record<string, string>>;

/** Compiles a selector into a predicate; all its requirements must hold. */
export function selectorPredicate({ matchLabels, matchExpressions }: LabelSelector): (labels: Labels) => boolean {
  const tests = [
    ...Object.entries(matchLabels).map(
      ([key, value]) =>
        (labels: Labels) =>
          labelOf(labels, key) === value,
    ),
    ...matchExpressions.map(testOf),
  ];
  return (labels) => tests.every((test) => test(labels));
}

function testOf({ key, operator, values = [] }: Requirement): (labels: Labels) => boolean {
  const wanted = new Set<string | undefined>(values);
  switch (operator) {
    case 'In':
      return (labels) => wanted.has(labelOf(labels, key));
    case 'NotIn':
      return (labels) => !wanted.has(labelOf(labels, key));
    case 'Exists':
      return (labels) => labelOf(labels, key) !== undefined;
    case 'DoesNotExist':
      return (labels) => labelOf(labels, key) === undefined;
    default:
      return operator satisfies never;
  }
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
