/*
 * One rule judged over kinds that a test prepares: the judgement, and its conditions in short.
 * Used by the tests of what is said of rules.
 */
import { conditionsOf, sightingOf } from '../../bridge/rule-conditions.ts';
import { judgeRule } from '../../bridge/rule-judge.ts';
import { EVERYWHERE } from '../../bridge/served.ts';
import { HANDLER, type SpecChanges } from './bridge-builders.ts';
import { FakeKinds } from './fake-kinds.ts';
import { ruleObject } from './rule-objects.ts';

/** A judgement of one rule, and its conditions in short. */
export async function judged(
  changes: SpecChanges = {},
  prepare: (kinds: FakeKinds) => void = () => {},
  isWatching = true,
) {
  const kinds = new FakeKinds();
  prepare(kinds);
  const cluster = { get: async () => undefined };
  const options = { kinds, cluster, served: EVERYWHERE, hasHandler: (name: string) => name === HANDLER };
  const judgement = await judgeRule(options, ruleObject(changes));
  const conditions = conditionsOf(judgement, sightingOf(isWatching));
  const said = Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
  const messages = Object.fromEntries(conditions.map(({ type, message }) => [type, message]));
  return { judgement, said, messages, kinds };
}
