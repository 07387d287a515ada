/*
 * How the definition of a kind has its outside resource named once and for good, as docs/rules.md shows it: a schema that
 * test/e2e/lasting-target.test.ts gives to an API server. Used by reference.ts.
 */
import { stringify } from 'yaml';

/** The schema of objects whose target is `object.status.bucketName`, which cannot be changed or cleared once it is set. */
export const lastingTargetSchema = {
  type: 'object',
  properties: {
    spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    status: { type: 'object', properties: { bucketName: { type: 'string', maxLength: 63 } } },
  },
  'x-kubernetes-validations': [
    {
      rule: "oldSelf.?status.?bucketName.orValue('') in ['', self.?status.?bucketName.orValue('')]",
      message: 'status.bucketName stays what it is once it is set',
    },
  ],
};

/** The chapter about it. */
export function lastingTargetPart(): string {
  return `## A target that stays

A target is computed anew at each look. Where it changes while an object is being deleted, the object is held as
\`TargetChanged\`, as both may have to go; [one such change](promises.md#what-nobody-can-see) nobody can see. So an object best
names its outside resource once and for good. The definition of a kind of your own can say so (Kubernetes 1.29): the API server
then refuses every edit that changes or clears it, whoever makes it. This is its \`openAPIV3Schema\`, for the target
\`object.status.bucketName\`:

\`\`\`yaml
${stringify(lastingTargetSchema, { lineWidth: 0 })}\`\`\`

For a kind that is not yours a ValidatingAdmissionPolicy says the same, with \`object\` and \`oldObject\`.`;
}
