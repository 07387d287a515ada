/*
 * The protocol between bridge and functions: messages, digests, terms. The only file of the bridge that functions import.
 * Its parts stand in contract/ in the order of use; they import nothing but the schema library and hashing.
 */
export * from './contract/canonical.ts';
export * from './contract/envelope.ts';
export * from './contract/lean.ts';
export * from './contract/request.ts';
export * from './contract/result.ts';
export * from './contract/sender.ts';
export * from './contract/terms.ts';
