/*
 * `status` in a namespace that is not there: nothing is pending in one whose name was misspelt, and nobody is to take that for an
 * answer. What it shows otherwise is in status.test.ts.
 */
import { expect, it } from 'vitest';
import { NAMESPACES } from '../../../bridge/namespaces.ts';
import { ApiError } from '../../../bridge/ports.ts';
import { TEARDOWN_RULES } from '../../../bridge/teardown-rules.ts';
import { ENTRY, RULE } from '../../support/bridge-builders.ts';
import { CommandLine } from '../../support/command-line.ts';
import { ruleSpec } from '../../support/rule-objects.ts';

/** A rule, an object of it in team-a, and the namespace team-b. */
function unattended(): CommandLine {
  const line = new CommandLine();
  line.cluster.create({ name: RULE, kind: TEARDOWN_RULES, spec: ruleSpec() });
  line.cluster.create({ name: 'logs', finalizers: [ENTRY] });
  line.cluster.create({ name: 'team-b', kind: NAMESPACES, namespace: undefined });
  return line;
}

const SAID = 'there is no namespace';

it('says of a namespace that is not there that it is not, and ends with 1', async () => {
  const line = unattended();
  expect(await line.run('status -n team-aa')).toMatchObject({
    ...{ exit: 1, out: '' },
    err: expect.stringContaining(`${SAID} team-aa`),
  });
});

it('says nothing of one that is there, or that somebody has objects in, or that may not be asked for', async () => {
  const line = unattended();
  for (const namespace of ['team-a', 'team-b']) {
    expect((await line.run(`status -n ${namespace}`)).err).not.toContain(SAID);
  }
  line.cluster.before = ({ verb, kind }) => {
    if (verb === 'get' && kind?.resource === NAMESPACES.resource) throw new ApiError('reading a namespace', 403);
  };
  expect((await line.run('status -n team-aa')).err).not.toContain(SAID);
});
