/*
 * Whether a process of another program still lives; one that has ended and that nobody has asked about yet does not. Used by tests
 * of what is ended.
 */
import { readFileSync } from 'node:fs';

/** Whether it lives, by its id. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // The state stands behind the name, which may hold anything.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')[0] !== 'Z';
  } catch {
    return true;
  }
}
