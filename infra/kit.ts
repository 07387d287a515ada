/*
 * What people who keep handlers in a repository of their own import, as `finalizer-bridge/infra`: for their serverless.yml
 * `serverless`, for the command line `init` and `dev`. What is heavy is loaded when it is used.
 */
export { KitError } from './kit/error.ts';
export { type ServiceOptions, serverless } from './kit/serverless.ts';
