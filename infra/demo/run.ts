/*
 * One run of the demo: opens the stage (stage.ts), tells the story (story.ts), checks what is left (verdict.ts), and
 * stops everything or keeps it (keep.ts). Called by demo.ts.
 */
import type { Say } from '../local/progress.ts';
import type { LocalSystem } from '../local/system.ts';
import { guide, setOut } from './keep.ts';
import { inWords } from './outside.ts';
import { openStage, type Stage } from './stage.ts';
import { tellStory } from './story.ts';
import type { Timeline } from './timeline.ts';
import { type Counts, countFacts, type Facts, gatherFacts, judge } from './verdict.ts';

export interface RunInput {
  readonly keep: boolean;
  readonly timeline: Timeline;
  readonly say: Say;
  /** Takes the counts as soon as nothing can change them any more. */
  readonly onCounts: (counts: Counts) => void;
  /** Whether a signal has come; then the local system is stopping everything already. */
  readonly isInterrupted: () => boolean;
}

/** Runs the demo; true if all was as expected. @throws when it could not be played to its end. Nothing is left running. */
export async function runDemo(input: RunInput): Promise<boolean> {
  const { timeline, keep, isInterrupted } = input;
  let system: LocalSystem | undefined;
  const onSystem = (started: LocalSystem) => {
    system = started;
  };
  try {
    timeline.act(
      'Finalizer Bridge on this machine',
      'A real API server, a bridge that watches it, functions run as Lambda would, and emulators of SQS, S3 and EC2.',
      'No cloud credentials in the cluster, no access to the cluster for the functions: only messages go between them.',
    );
    const stage = await openStage({ ...input, onSystem });
    if (isInterrupted()) return false;
    const isWell = await play(stage, input);
    if (keep) {
      await setOut(stage, timeline);
      timeline.text(...guide(stage));
      await new Promise<never>(() => {});
    }
    return isWell;
  } finally {
    await system?.stop();
  }
}

async function play(stage: Stage, { timeline, onCounts, keep }: RunInput): Promise<boolean> {
  const facts = await gatherFacts(stage, await tellStory(stage, timeline));
  const counts = countFacts(facts);
  const faults = judge(facts);
  timeline.act('4. What is left', 'Asked of the API server, of S3 and EC2, and of the bridge.');
  timeline.line('cluster', `${counts.objectsLeft} of ${counts.deleted} deleted objects are left`);
  timeline.line('bridge', tellRemoved(facts));
  for (const { object, name } of stage.things) {
    const holding = facts.after.get(object);
    if (holding !== undefined) timeline.line('cloud', `${name()}: ${inWords(holding)}`);
  }
  timeline.line('cloud', `${counts.bucketVersionsDeleted.toLocaleString('en-US')} versions and delete markers deleted`);
  for (const fault of faults) timeline.line('NOT AS EXPECTED', fault, 'bad');
  if (faults.length === 0) timeline.line('', 'all as expected', 'good');
  if (!keep) {
    await stage.system.stop();
    timeline.text('', 'With an object that is held, for explain and for words of your own: npm run demo -- --keep');
  }
  onCounts(counts);
  return faults.length === 0;
}

function tellRemoved({ removed: { all, gone, released } }: Facts): string {
  return `took ${all} finalizers off: ${gone} after "gone", ${released} on a person's release`;
}
