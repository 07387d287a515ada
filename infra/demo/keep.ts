/*
 * What --keep leaves: new objects to play with, one that may go and one that is held, and the commands for it.
 * Called by run.ts after the story has been told and checked.
 */
import { OPERATOR_KEY } from '../local/queues.ts';
import { createObjects, giveThings } from './act-create.ts';
import { kubectlName, ruleOf } from './api.ts';
import { OWNER_TAG } from './outside.ts';
import type { Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';

const OWNED = 'Bucket/photos';
const FOREIGN = 'Bucket/legacy';

/** Makes a bucket that may go and one that may not, with an object for each. */
export async function setOut(stage: Stage, timeline: Timeline): Promise<void> {
  timeline.act('5. Something to play with', 'The time line goes on below whenever something happens.');
  const chosen = stage.things.filter(({ object }) => object === OWNED || object === FOREIGN);
  await Promise.all(chosen.filter(({ object }) => object === OWNED).map((thing) => thing.make()));
  await createObjects(stage, chosen);
  await giveThings(stage, timeline, chosen);
}

/** The commands to try, and where everything is. */
export function guide(stage: Stage): readonly string[] {
  return [
    '',
    'In another terminal, with kubectl and the AWS command line (aws) installed:',
    ...[...commandsOnObjects(stage), ...commandsOnParts(stage)].map(([command, remark]) =>
      remark === undefined ? `  ${command}` : `  ${command.padEnd(56)} # ${remark}`,
    ),
    '',
    'Everything runs until Ctrl-C, which stops it all and leaves nothing behind.',
  ];
}

type Tried = readonly (readonly [command: string, remark?: string])[];

function commandsOnObjects(stage: Stage): Tried {
  const { system, namespace } = stage;
  const cloud = system.cloud();
  const kubectl = `kubectl -n ${namespace}`;
  const [owned, foreign] = [kubectlName(stage, OWNED), kubectlName(stage, FOREIGN)];
  const uid = `$(${kubectl} get ${foreign} -o 'jsonpath={.metadata.uid}')`;
  const word = `release.finalizer-bridge.dev/${ruleOf(stage, FOREIGN)}=${uid}/now`;
  const bucket =
    stage.things
      .find(({ object }) => object === FOREIGN)
      ?.name()
      .replace('s3://', '') ?? '';
  const tagging = `s3api put-bucket-tagging --bucket ${bucket} --tagging "TagSet=[{Key=${OWNER_TAG},Value=${uid}}]"`;
  return [
    [`export KUBECONFIG=${system.kube.kubeconfig}`],
    [`${kubectl} get buckets,virtualmachines`],
    ['kubectl get teardownrules', 'the rules, and how they fare'],
    [`${kubectl} delete ${owned}`, 'its bucket goes, then the object'],
    [`${kubectl} delete --wait=false ${foreign}`, 'is held: nothing proves that its bucket may go'],
    [`${kubectl} describe ${foreign}`, 'says why'],
    ['npm run build', 'once, in the folder of the project: makes the command line'],
    [`node infra/boot.mjs dist/cli/main.mjs explain ${foreign} -n ${namespace}`, 'says why, and what to do next'],
    [`export AWS_ACCESS_KEY_ID=${OPERATOR_KEY} AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=${cloud.region}`],
    [`aws --endpoint-url ${cloud.endpoint} s3 ls`],
    [`aws --endpoint-url ${cloud.endpoint} ${tagging}`, 'proves that the bucket may go'],
    [
      `${kubectl} annotate --overwrite ${foreign} retry.finalizer-bridge.dev/${ruleOf(stage, FOREIGN)}=${uid}/1`,
      'so that it is tried again now',
    ],
    [
      `${kubectl} annotate --overwrite ${foreign} ${word}`,
      'or, instead of both: lets the object go, and keeps the bucket',
    ],
  ];
}

function commandsOnParts({ system, bridge, ec2Endpoint }: Stage): Tried {
  return [
    [`aws --endpoint-url ${ec2Endpoint} ec2 describe-instances`],
    [`aws --endpoint-url ${system.queues.endpoint} sqs list-queues`],
    [`curl ${bridge.url}/metrics`, 'what the bridge counts'],
    [`tail -f ${bridge.logFile}`],
    [bridge.another, 'a second bridge: it stands by, and leads when the first one is gone'],
    [`kill ${bridge.pid}`, 'the first one goes; look at the log of the second'],
  ];
}
