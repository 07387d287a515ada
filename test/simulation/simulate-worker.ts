/*
 * One thread of `npm run simulate`: runs the worlds that it is given, one at a time, and reports each. Started by
 * simulate.ts. A rejection that nobody has handled would end a real process: here it ends the run.
 */
import { parentPort } from 'node:worker_threads';
import { runWorld, type WorldOrder } from './fleet/batch.ts';

// Expected errors are values of the models here, thousands a second; a stack of each would cost more than the call that fails.
Error.stackTraceLimit = 0;

parentPort?.on('message', (order: WorldOrder) => {
  void runWorld(order).then((report) => parentPort?.postMessage(report));
});
