/*
 * The account that verify-aws.ts works in: its clients, what was made there, and how that is taken down at the end.
 * Used by the checks. Which account the credentials are of is told by the ARN of a topic that is made first.
 */
import { randomBytes } from 'node:crypto';
import { EC2Client } from '@aws-sdk/client-ec2';
import { S3Client } from '@aws-sdk/client-s3';
import { CreateTopicCommand, DeleteTopicCommand, SNSClient } from '@aws-sdk/client-sns';

/** Where to work. */
export interface Place {
  readonly account: string;
  readonly region: string;
  /** Image of instances; without it none is made. */
  readonly image: string | undefined;
  readonly endpoint: string | undefined;
}

/** The account at work. */
export interface Site extends Place {
  readonly s3: S3Client;
  readonly ec2: EC2Client;
  readonly sns: SNSClient;
  /** A name that nothing has yet. */
  readonly name: () => string;
  /** What to do at the end, whatever becomes of the checks; a rejection names what stays. */
  readonly atEnd: (what: string, remove: () => Promise<unknown>) => void;
  /** @throws Error unless the credentials are of the account that was named */
  readonly confirm: () => Promise<void>;
  /** Takes down what is left, the last first; resolves with what could not be. */
  readonly sweep: () => Promise<readonly string[]>;
}

/** Opens it; nothing is asked yet. */
export function openAccount(place: Place): Site {
  const { account, region, endpoint } = place;
  const options = { region, ...(endpoint === undefined ? {} : { endpoint }) };
  const sns = new SNSClient(options);
  const removals: { readonly what: string; readonly remove: () => Promise<unknown> }[] = [];
  const name = () => `fb-verify-${randomBytes(6).toString('hex')}`;
  const atEnd: Site['atEnd'] = (what, remove) => removals.push({ what, remove });
  return {
    ...place,
    ...{ sns, name, atEnd },
    s3: new S3Client({ ...options, forcePathStyle: endpoint !== undefined }),
    ec2: new EC2Client(options),
    async confirm() {
      const { TopicArn = '' } = await sns.send(new CreateTopicCommand({ Name: name() }));
      await sns.send(new DeleteTopicCommand({ TopicArn }));
      const real = TopicArn.split(':')[4];
      if (real !== account)
        throw new Error(`confirming the account: the credentials are of ${real}, not of ${account}`);
    },
    async sweep() {
      const left: string[] = [];
      for (const { what, remove } of removals.toReversed()) await remove().catch(() => left.push(what));
      return left;
    },
  };
}
