/*
 * Where everything local pretends to be. Used by all parts of the local system.
 * Queue ARNs carry the queue server's own account, 000000000000; nothing compares that one.
 */

export const LOCAL_REGION = 'eu-central-1';
/** The only account of the S3 and EC2 emulator; functions run in it as well. */
export const LOCAL_ACCOUNT_ID = '123456789012';
