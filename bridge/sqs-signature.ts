/*
 * AWS Signature Version 4 of one JSON call to SQS. Pure; called by sqs-client.ts, whose credentials come from the SDK's chain.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
import { createHmac, hash } from 'node:crypto';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 'sqs';

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
