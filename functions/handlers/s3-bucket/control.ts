/*
 * The three calls of S3's control API that a teardown makes, as commands of the S3 client: list and delete access points,
 * put one tag without writing the others. Used by access-points and age. A client of their own would cost 75 KB more.
 * Shapes as in the API reference of Amazon S3 Control, 2018-08-20, in the notation of the client's own schemas.
 */
import {
  $Command,
  type ListBucketsCommandInput,
  type S3ClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3';

/** The client sends only what fits one of its own inputs; this one has nothing that has to be given. */
interface Input extends ListBucketsCommandInput {
  /** The account that owns the bucket. */
  readonly AccountId: string;
}
type Output<O> = O & Pick<ServiceOutputTypes, '$metadata'>;
type Tag = { readonly Key: string; readonly Value: string };

const NAMESPACE = 'com.amazonaws.s3control';
const XML: [string, string] = ['', 'http://awss3control.amazonaws.com/doc/2018-08-20/'];
const ACCOUNT = { httpHeader: 'x-amz-account-id' };

/** A page of the access points of a bucket, those that its own account has made. */
export const ListAccessPointsCommand = control<
  Input & { readonly Bucket: string },
  { readonly AccessPointList?: readonly { readonly Name?: string }[] }
>('ListAccessPoints')
  .sc([
    9,
    NAMESPACE,
    'ListAccessPoints',
    { http: ['GET', '/v20180820/accesspoint', 200] },
    () => [
      3,
      NAMESPACE,
      'ListAccessPointsRequest',
      0,
      ['Bucket', 'AccountId'],
      [
        [0, { httpQuery: 'bucket' }],
        [0, ACCOUNT],
      ],
    ],
    () => [
      3,
      NAMESPACE,
      'ListAccessPointsResult',
      0,
      ['AccessPointList'],
      [
        () => [
          1,
          NAMESPACE,
          'List',
          0,
          [() => [3, NAMESPACE, 'AccessPoint', 0, ['Name'], [0]], { xmlName: 'AccessPoint' }],
        ],
      ],
    ],
  ])
  .build();

/** Deletes an access point; what it points to stays. */
export const DeleteAccessPointCommand = control<Input & { readonly Name: string }, object>('DeleteAccessPoint')
  .sc([
    9,
    NAMESPACE,
    'DeleteAccessPoint',
    { http: ['DELETE', '/v20180820/accesspoint/{Name}', 204] },
    () => [
      3,
      NAMESPACE,
      'DeleteAccessPointRequest',
      0,
      ['Name', 'AccountId'],
      [
        [0, 1],
        [0, ACCOUNT],
      ],
    ],
    () => 'unit',
  ])
  .build();

/** Puts tags on what the ARN names and leaves its other tags alone, unlike PutBucketTagging, which writes all of them. */
export const TagResourceCommand = control<
  Input & { readonly ResourceArn: string; readonly Tags: readonly Tag[] },
  object
>('TagResource')
  .sc([
    9,
    NAMESPACE,
    'TagResource',
    { http: ['POST', '/v20180820/tags/{ResourceArn+}', 204] },
    () => [
      3,
      NAMESPACE,
      'TagResourceRequest',
      { xmlNamespace: XML },
      ['ResourceArn', 'Tags', 'AccountId'],
      [
        [0, 1],
        () => [1, NAMESPACE, 'Tags', 0, [() => [3, NAMESPACE, 'Tag', 0, ['Key', 'Value'], [0, 0]], { xmlName: 'Tag' }]],
        [0, ACCOUNT],
      ],
    ],
    () => 'unit',
  ])
  .build();

/** A command of the control API, but for its schema. It goes to the host of the account, or where the client is told. */
function control<I extends Input, O>(operation: string) {
  return $Command
    .classBuilder<I, Output<O>, S3ClientResolvedConfig, ServiceInputTypes, ServiceOutputTypes>()
    .ep({ Region: { type: 'builtInParams', name: 'region' } })
    .m((_command, _stack, config: S3ClientResolvedConfig) => [
      {
        applyToStack(stack) {
          stack.addRelativeTo(
            <A extends { readonly input: I }, R>(
              next: (args: A) => Promise<R>,
              context: { endpointV2?: { url: URL } },
            ) =>
              async (args: A) => {
                const { AccountId } = args.input;
                const region = await config.region();
                const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
                const url = new URL(`https://${AccountId}.s3-control.${region}.${domain}`);
                if (config.endpoint === undefined) context.endpointV2 = { url };
                return next(args);
              },
            // The client's own plugins look for a middleware of this name.
            { relation: 'before', toMiddleware: 'serializerMiddleware', name: 'endpointV2Middleware' },
          );
        },
      },
    ])
    .s('AWSS3ControlServiceV20180820', operation)
    .n('S3Client', operation);
}
