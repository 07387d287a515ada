/*
 * A retry that was taken while its record could not be written, and whose rule was then not served for a while: what is written
 * without the rule does not tell of the retry, so that is owed still. The whole bridge over fakes.
 */
import { expect, it } from 'vitest';
import { ApiError } from '../../bridge/ports.ts';
import { RETRY_PREFIX } from '../../bridge/words.ts';
import { RULE, ruleOf } from '../support/bridge-builders.ts';
import { Scene } from '../support/bridge-scene.ts';
import { elsewhere } from '../support/two-versions.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
/** The kind is watched in a second version for another rule's sake, in which this one's expressions say nothing. */
const rules = [ruleOf(), elsewhere];

async function until(scene: Scene, isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo() && waited < 10 * MINUTE; waited += 100) await scene.clock.advance(100);
  expect(isSo()).toBe(true);
}

/** A deletion whose target has changed, for which a person has said retry while nothing could be recorded. */
async function retried(unserved: Set<string>): Promise<Scene> {
  const scene = await Scene.start({
    rules,
    prepare: ({ cluster }) => {
      cluster.before = ({ kind }) => {
        if (kind !== undefined && unserved.has(kind.version)) throw new ApiError('asking', 404);
      };
    },
  });
  await scene.deleted();
  await scene.clock.advance(31 * SECOND);
  scene.retarget('second');
  await scene.clock.advance(2 * MINUTE);
  expect(scene.standing()).toBe('Held TargetChanged');
  const patch = scene.cluster.patch.bind(scene.cluster);
  scene.cluster.patch = async () => {
    throw new ApiError('patching', 500);
  };
  scene.cluster.annotate('logs', RETRY_PREFIX + RULE, 'uid-logs/1');
  await scene.clock.advance(SECOND);
  scene.cluster.patch = patch;
  expect(scene.requests).toHaveLength(1);
  return scene;
}

it('V8 is written down before its request goes, and is no word for the target that comes after (P5)', async () => {
  const unserved = new Set<string>();
  const first = await retried(unserved);
  first.cluster.endWatches();
  unserved.add('v1');
  first.cluster.annotate('logs', 'touched', 'yes');
  await until(first, () => first.record()?.reason === 'RuleNotAccepted');

  unserved.clear();
  await until(first, () => first.requests.length === 2);
  expect(first.record()).toMatchObject({ retry: '1', retries: 1 });

  await first.bridge.stop();
  first.retarget('third');
  const second = await Scene.start({ after: first, rules });
  await second.clock.advance(2 * MINUTE);
  expect(second.standing()).toBe('Held TargetChanged');
  expect(second.requests).toHaveLength(2);
});
