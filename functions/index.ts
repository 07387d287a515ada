/*
 * What people who write handlers of their own import, as `finalizer-bridge/functions`.
 * A handler: defineHandler. A list of handlers for packaging: defineRegistry. A function: createEntry(handler).
 */
export type { Evidence, ObjectRef, Outcome, Ownership, Target } from '../bridge/contract.ts';
export { classify, classifyCode, type ErrorRow, type ErrorTable, type Fault, type Meaning } from './aws-errors.ts';
export { type Answer, CallFailed, type CallOptions, type Calls, OutOfTime } from './calls.ts';
export type { Allow, Config } from './config.ts';
export { createEntry, type EntryOverrides, type LambdaContext, type LambdaHandler } from './entry.ts';
export {
  type AwsClientInput,
  type Conditions,
  defineHandler,
  defineRegistry,
  gone,
  type Handler,
  type HandlerDefinition,
  type Identity,
  type Limits,
  type Permission,
  pending,
  type RequestFacts,
  type RunContext,
  refused,
  type TeardownContext,
} from './handler.ts';
export { notFoundYet } from './not-found-yet.ts';
export {
  isStrong,
  judgeAge,
  judgeOwnership,
  KEEP_TAG,
  MARK_TAG,
  markOf,
  type OwnershipVerdict,
  type Tags,
  tagsFrom,
} from './ownership.ts';
export { accountSchema, arnPartition, regionSchema } from './places.ts';
export { type Clock, type Log, type LogFields, pause, type Random } from './ports.ts';
export type { Schema } from './schema.ts';
export { type ServiceAnswer, ServiceError } from './service-error.ts';
