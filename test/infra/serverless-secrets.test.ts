/*
 * Secrets in a handler's settings: values only refer to them, the template holds the reference, and the function's schema
 * is asked about what CloudFormation will put in.
 */
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeEnvironment } from '../../infra/functions/environment.ts';
import type { HandlerValues, Values } from '../../infra/functions/values.ts';
import { PRODUCTION, PRODUCTION_BRIDGE, SECRET } from '../support/packaged-service.ts';

const values: Values = {
  ...{ service: 'finalizer-bridge', stage: 'dev', region: 'eu-west-1', logRetentionDays: 30, handlers: {} },
  clusters: [{ uid: PRODUCTION, bridgeRoleArn: PRODUCTION_BRIDGE, bridgeRoleId: 'AROAEXAMPLEBRIDGE0001' }],
};
const allow = { accounts: ['111122223333'], regions: ['eu-west-1'], names: ['team-*'] };
/** A handler with endpoints, each with a secret that has to look like one. */
const thing = {
  ...{ name: 'thing', dangerous: [] },
  schemas: {
    settings: z.strictObject({
      of: z.record(z.string(), z.strictObject({ secret: z.string().check(z.regex(/^whsec_[a-zA-Z0-9+/]{32,}$/)) })),
    }),
  },
};
const made = (settings: HandlerValues) => makeEnvironment(thing, { allow, settings }, values);
const faultsOf = (settings: HandlerValues) => {
  const outcome = made(settings);
  return outcome.ok ? [] : outcome.faults;
};

it.each([
  ['written out', SECRET],
  ['written out beside a reference', `{{resolve:secretsmanager:a}}${SECRET}`],
  ['a reference that functions cannot have', '{{resolve:ssm-secure:a:1}}'],
  ['a reference in plain text', '{{resolve:ssm:a:1}}'],
  ['no text', 1],
])('a secret that is %s is refused before anything is packaged, and not shown', (_what, secret) => {
  const [fault, ...others] = faultsOf({ of: { a: { secret } } });
  expect(fault).toMatch(
    /^handlers\.thing\.settings\.of\.a\.secret: is to refer to a secret, as \{\{resolve:secretsman/,
  );
  expect(fault).not.toContain(SECRET);
  expect(others).toEqual([]);
});

it.each(['name/of-it', 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:a/b-1x:SecretString:key:AWSCURRENT'])(
  'the template holds the reference to %s as it is written, in the function’s configuration',
  (secretId) => {
    const secret = `{{resolve:secretsmanager:${secretId}}}`;
    const outcome = made({ of: { a: { secret } } });
    const text = outcome.ok ? outcome.environment.variables.FINALIZER_BRIDGE_CONFIG : outcome.faults;
    expect(text).toEqual({ 'Fn::Sub': expect.stringContaining(`"settings":{"of":{"a":{"secret":"${secret}"}}}`) });
  },
);

it('settings that the handler does not take are refused, whoever they belong to', () => {
  expect(faultsOf({ off: {} })).toEqual([
    expect.stringMatching(/^handlers\.thing\.settings\.of: /),
    expect.stringMatching(/^handlers\.thing\.settings: .*"off"/),
  ]);
});
