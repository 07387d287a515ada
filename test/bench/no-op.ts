/*
 * The handler that benchmarks run: says gone and does nothing, so that what is measured is the bridge and its queues.
 * Bundled with the real entry and dispatch by stage.ts; never registered, so it is never shipped.
 */
import * as z from 'zod/mini';
import { defineHandler, gone } from '../../functions/handler.ts';

export const noOp = defineHandler({
  name: 'no-op',
  version: '1.0.0',
  target: z.strictObject({ name: z.string(), region: z.string(), account: z.string() }),
  options: z.strictObject({}),
  permissions: [],
  limits: { batchSize: 10 },
  identity: ({ name, account, region }) => ({ names: [name], place: { account, region } }),
  service: 'nothing',
  connect: () => undefined,
  teardown: async () => gone('deleted'),
});
