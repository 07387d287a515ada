/*
 * Secrets in the settings of a handler: values files only refer to AWS Secrets Manager, and CloudFormation puts the value
 * in when it deploys, so that neither the file nor the template has it. Called by environment.
 * A field of the settings is a secret if its name is `secret`; what is written out there is refused.
 */

/** A dynamic reference as CloudFormation takes it in any property; `ssm-secure` it does not take for functions. */
const REFERENCE = /^\{\{resolve:secretsmanager:[\w/+=.@:!-]+\}\}$/;
/** What a secret looks like when it is put in: for checking and measuring the configuration. */
const LIKELY_SECRET = `whsec_${'c2VjcmV0'.repeat(6)}`;

/** The paths of secrets that are written out, each with what to write instead. */
export function writtenSecrets(settings: unknown, path: string): readonly string[] {
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.entries(settings).flatMap(([key, value]: readonly [string, unknown]) => {
    const at = `${path}.${key}`;
    if (key !== 'secret') return writtenSecrets(value, at);
    if (typeof value === 'string' && REFERENCE.test(value)) return [];
    return [`${at}: is to refer to a secret, as {{resolve:secretsmanager:<name or ARN>:SecretString}}`];
  });
}

/** The same values with each reference to a secret replaced by what it may be. */
export function likelySecrets(own: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(own), (_key, value: unknown) =>
    typeof value === 'string' && REFERENCE.test(value) ? LIKELY_SECRET : value,
  );
}
