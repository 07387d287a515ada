/*
 * What the bridge of one cluster is given from a deployed stack: the chart's values, its role's policy, and how the role
 * trusts the bridge's ServiceAccount. Pure; called by ../bridge-values.ts and ../bridge-policy.ts, and by their likes in ../kit/.
 */
import { stringify } from 'yaml';
import type { BridgeSide } from './stack-outputs.ts';
import type { ClusterValues, Values } from './values.ts';

/** A deployed stack, as one cluster's bridge sees it. */
export interface KnownSide {
  readonly side: BridgeSide;
  readonly values: Values;
  readonly cluster: ClusterValues;
}

/** What the chart's values are made from. */
export interface ChartInput extends KnownSide {
  /** Whether to name the role as well, for IRSA. */
  readonly withRole: boolean;
}

/** The part of the chart's values that the stack decides. */
export function chartValues({ side, values, cluster, withRole }: ChartInput): string {
  const { uid, name, bridgeRoleArn } = cluster;
  const handlers = Object.entries(side.handlers).map(([handler, { url, roleId }]) => [
    handler,
    { queue: url, sender: roleId },
  ]);
  const document = {
    ...(name === undefined ? {} : { cluster: { name } }),
    queues: { region: values.region, results: side.results.url },
    handlers: Object.fromEntries(handlers),
    deadLetters: { sender: side.deadLetterRoleId },
    ...(withRole ? { serviceAccount: { roleArn: bridgeRoleArn } } : {}),
  };
  return [
    `# For the bridge of cluster ${name ?? uid}, from the stack ${values.service}-${values.stage} in ${values.region}.`,
    '# Made by bridge-values; `kinds` and all else belong into a values file of your own.',
    stringify(document, { lineWidth: 0 }),
  ].join('\n');
}

/** The policy that the bridge's role needs where the queues' own policies are not enough: another account, or a KMS key. */
export function bridgePolicy(side: BridgeSide, { kmsKeyArn }: Values) {
  const statement = (Sid: string, Action: readonly string[], Resource: readonly string[]) => ({
    ...{ Sid, Effect: 'Allow', Action, Resource },
  });
  const ofQueues = { StringLike: { 'kms:ViaService': 'sqs.*.amazonaws.com*' } };
  return {
    Version: '2012-10-17',
    Statement: [
      statement(
        'Requests',
        ['sqs:SendMessage'],
        Object.values(side.handlers).map(({ arn }) => arn),
      ),
      statement(
        'Results',
        ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'],
        [side.results.arn],
      ),
      ...(kmsKeyArn === undefined
        ? []
        : [{ ...statement('Key', ['kms:GenerateDataKey', 'kms:Decrypt'], [kmsKeyArn]), Condition: ofQueues }]),
    ],
  };
}

/** Where the bridge runs, for the trust of its role. */
export interface BridgeAccount {
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** The bridge's account where nothing else is told, as the chart has it. */
const USUAL: BridgeAccount = { namespace: 'finalizer-bridge', serviceAccount: 'finalizer-bridge' };

/** The policy of a bridge's role, and its possible trust policies: for IRSA only where the cluster's OIDC issuer is told. */
export function bridgePapers(
  { side, values, cluster }: KnownSide,
  {
    bridge,
    oidcProvider,
  }: { readonly bridge?: Partial<BridgeAccount> | undefined; readonly oidcProvider?: string | undefined },
) {
  const account = { ...USUAL, ...bridge };
  const provider = oidcProvider?.replace(/^https:\/\//, '');
  return {
    policy: bridgePolicy(side, values),
    ...(provider === undefined ? {} : { irsaTrust: irsaTrust(cluster, provider, account) }),
    podIdentityTrust: podIdentityTrust(account),
  };
}

/** Trust for IAM roles for service accounts (IRSA); `provider` is the cluster's OIDC issuer without `https://`. */
export function irsaTrust({ bridgeRoleArn }: ClusterValues, provider: string, bridge: BridgeAccount) {
  const [, partition = '', , , account = ''] = bridgeRoleArn.split(':');
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Federated: `arn:${partition}:iam::${account}:oidc-provider/${provider}` },
        Action: 'sts:AssumeRoleWithWebIdentity',
        Condition: {
          StringEquals: {
            [`${provider}:aud`]: 'sts.amazonaws.com',
            [`${provider}:sub`]: `system:serviceaccount:${bridge.namespace}:${bridge.serviceAccount}`,
          },
        },
      },
    ],
  };
}

/** Trust for EKS Pod Identity, of exactly this ServiceAccount. */
export function podIdentityTrust({ namespace, serviceAccount }: BridgeAccount) {
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Service: 'pods.eks.amazonaws.com' },
        Action: ['sts:AssumeRole', 'sts:TagSession'],
        Condition: {
          StringEquals: {
            'aws:RequestTag/kubernetes-namespace': namespace,
            'aws:RequestTag/kubernetes-service-account': serviceAccount,
          },
        },
      },
    ],
  };
}
