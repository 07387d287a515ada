/*
 * What a process has used, as Linux tells it: CPU time and memory.
 * Used by the scenes of the benchmarks.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU time of a process so far, user and system, in ms; in steps of a tick (10 ms). */
export function cpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in parentheses, may hold spaces; user and system time are fields 14 and 15.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000;
}

/** Memory of a process in MB (1,000,000 bytes): resident now, and the most that it ever was. */
export function memoryMb(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (field: string) => {
    const kib = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    if (kib === undefined) throw new Error(`reading the memory of process ${pid}: no ${field}`);
    return (Number(kib) * 1024) / 1e6;
  };
  return { now: of('VmRSS'), peak: of('VmHWM') };
}
