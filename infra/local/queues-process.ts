/*
 * Runs the queues as a process of their own: `node queues-process.ts <configuration file>`. Prints one JSON line with the
 * endpoint when ready, ends on SIGTERM. Started by startQueuesProcess in queues.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod/mini';
import { startQueues } from './queues.ts';

const configuration = z.object({
  senders: z.record(z.string(), z.string()),
  dataDir: z.optional(z.string()),
  port: z.optional(z.number()),
});

const { senders, dataDir, port } = z.parse(configuration, JSON.parse(await readFile(process.argv[2] ?? '', 'utf8')));
const queues = await startQueues({
  senders,
  ...(dataDir === undefined ? {} : { dataDir }),
  ...(port === undefined ? {} : { port }),
});
process.once('SIGTERM', () => {
  void queues.stop().finally(() => process.exit(0));
});
console.log(JSON.stringify({ endpoint: queues.endpoint }));
