/*
 * Environment variables as a caller hands them in: to whatever starts a process, and to what reads where things are kept.
 * Used by all parts of the local system.
 */

/** Names and values; undefined for a variable that is not set. */
export type Environment = Readonly<Record<string, string | undefined>>;
