// @ts-check
/*
 * Loaded into every entry before its own first line: ends the entry when the bootstrap above it has been killed, and not when
 * nobody reads it any more.
 * Handed to Node.js by boot.mjs as `--import`; the entry's own children and threads inherit that, and it is idle there.
 */
import { isMainThread } from 'node:worker_threads';
import { endWithParent } from './child.mjs';
import { letReadersGo } from './readers.mjs';

if (isMainThread && String(process.ppid) === process.env.FINALIZER_BRIDGE_BOOT_PID) {
  endWithParent();
  letReadersGo();
}
