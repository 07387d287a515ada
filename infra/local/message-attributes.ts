/*
 * The digest of SQS message attributes, by the algorithm in the SQS developer guide ("Calculating the MD5 message digest for
 * message attributes"). Used by queue-senders, which takes an attribute out and must answer with the digest of the rest.
 */
import { createHash } from 'node:crypto';

/** A message attribute as it is on the wire; binary values are base64. */
export interface WireAttribute {
  readonly DataType: string;
  readonly [field: string]: unknown;
}

const STRING_VALUE = 1;
const BINARY_VALUE = 2;

/** Lower-case hex MD5. */
export function md5OfMessageAttributes(attributes: Readonly<Record<string, WireAttribute>>): string {
  const hash = createHash('md5');
  const add = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  const names = Object.keys(attributes).sort();
  for (const name of names) {
    const attribute = attributes[name];
    if (attribute === undefined) continue;
    add(Buffer.from(name));
    add(Buffer.from(attribute.DataType));
    const isBinary = attribute.DataType.startsWith('Binary');
    hash.update(Buffer.from([isBinary ? BINARY_VALUE : STRING_VALUE]));
    add(isBinary ? Buffer.from(String(attribute.BinaryValue), 'base64') : Buffer.from(String(attribute.StringValue)));
  }
  return hash.digest('hex');
}
