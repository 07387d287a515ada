/*
 * How long this process has computed, for tests of what must not take long: a machine that is busy with others, or has given
 * this process a short part of its time, is no fault of the bridge's.
 */

/** Milliseconds of a processor that this process has had, without those of the system for it. */
export const busyMs = (): number => process.cpuUsage().user / 1_000;
