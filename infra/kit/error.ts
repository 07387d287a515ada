/*
 * What is missing or wrong in somebody's project, as one text for a person. Thrown by all of kit/; the command line and
 * serverless.ts show it without a stack, since no code of anybody is to blame.
 */

/** Something in the project, or on its command line, is not as it has to be; its message says what to do. */
export class KitError extends Error {
  override readonly name = 'KitError';
}
