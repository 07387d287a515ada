/*
 * Whether the text of a message is the one that SQS speaks of: it tells the MD5 of each. Used by sqs.ts and sqs-polling.ts,
 * and by functions/sqs.ts.
 * Where MD5 is switched off (FIPS), there is nothing to compare with, as with the SDK's `md5: false`: what guards the text on
 * its way is TLS, and what is decided on is decoded, checked and held against the live object in any case.
 */
import { hash } from 'node:crypto';

/** Whether a text has this checksum, as far as that can be told. */
export type WholeCheck = (text: string, told: string | undefined) => boolean;

/** The check with this machine's MD5; `md5` throws where there is none. */
export function createWholeCheck(md5: (text: string) => string = (text) => hash('md5', text)): WholeCheck {
  try {
    md5('');
  } catch {
    return () => true;
  }
  return (text, told) => told === md5(text);
}
