/*
 * AWS Signature Version 4 of one JSON call to SQS, for its region and its time. Pure; called by sqs-client.ts on both sides,
 * bridge and functions.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
import { createHmac, hash } from 'node:crypto';
import { regionOf } from './sqs-region.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 'sqs';
/** From there on AWS refuses a signature for its time. */
const SKEW_MS = 5 * 60_000;

/** What is signed with; `sessionToken` is that of temporary credentials. */
export interface SigningCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** One call. */
export interface Unsigned {
  /** With the port, where it is not the scheme's own. */
  readonly host: string;
  readonly path: string;
  /** Names in lower case. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** ms since the epoch. */
  readonly at: number;
}

/** The derived key of a day, kept as long as nothing that it is derived from changes. */
interface Kept {
  readonly secret: string;
  readonly day: string;
  readonly key: Buffer;
}

/** Signs calls for one region. */
export class Signer {
  readonly #region: string;
  #kept: Kept | undefined;

  constructor(region: string) {
    this.#region = region;
  }

  /** The headers to send: those of the call, those that the signature needs, and the signature. */
  sign({ host, path, headers, body, at }: Unsigned, credentials: SigningCredentials): Readonly<Record<string, string>> {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const time = `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    const day = time.slice(0, 8);
    const token = sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken };
    const signed: Readonly<Record<string, string>> = { ...headers, host, 'x-amz-date': time, ...token };
    const names = Object.keys(signed).toSorted();
    const lines = names.map((name) => `${name}:${signed[name]?.trim()}\n`).join('');
    const list = names.join(';');
    const canonical = `POST\n${path}\n\n${lines}\n${list}\n${hash('sha256', body)}`;
    const scope = `${day}/${this.#region}/${SERVICE}/aws4_request`;
    const text = `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical)}`;
    const signature = createHmac('sha256', this.#keyOf(secretAccessKey, day)).update(text).digest('hex');
    const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${list}, Signature=${signature}`;
    return { ...signed, authorization };
  }

  #keyOf(secret: string, day: string): Buffer {
    if (this.#kept?.secret === secret && this.#kept.day === day) return this.#kept.key;
    const steps = [day, this.#region, SERVICE, 'aws4_request'];
    const key = steps.reduce(
      (last, step) => createHmac('sha256', last).update(step).digest(),
      Buffer.from(`AWS4${secret}`),
    );
    this.#kept = { secret, day, key };
    return key;
  }
}

/** A queue may live in another region than the others, and its calls are signed for its own. */
export function signersFor(region: string, isElsewhere: boolean): (queueUrl: string) => Signer {
  const signers = new Map<string, Signer>();
  const regions = new Map<string, string>();
  return (queueUrl) => {
    const own = regions.get(queueUrl) ?? (isElsewhere ? undefined : regionOf(queueUrl)) ?? region;
    regions.set(queueUrl, own);
    const signer = signers.get(own) ?? new Signer(own);
    signers.set(own, signer);
    return signer;
  };
}

/** The headers that say what is asked. */
export function headersOf(action: string): Readonly<Record<string, string>> {
  return { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` };
}

/** An answer whose date is far from ours says how far: the next call is signed for its time. A cached one says nothing. */
export function skewBy(
  { date, age }: Readonly<Record<string, string | string[] | undefined>>,
  { now, skew }: { readonly now: number; readonly skew: number },
): number {
  const server = typeof date === 'string' && age === undefined ? Date.parse(date) : Number.NaN;
  return Math.abs(server - (now + skew)) >= SKEW_MS ? server - now : skew;
}
