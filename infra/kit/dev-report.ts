/*
 * What `finalizer-bridge dev` is asked, and what it reports.
 * Shared by kit.ts, whose users see it, and dev.ts, which does it.
 */
import type { Outcome } from '../../bridge/contract.ts';

/** What is asked for; files are relative to the folder. */
export interface DevOptions {
  readonly folder: string;
  /** May be left out where the registry has one. */
  readonly handler?: string | undefined;
  readonly registry?: string | undefined;
  readonly values?: string | undefined;
  readonly request?: string | undefined;
  readonly target?: readonly string[] | undefined;
  readonly endpoint?: string | undefined;
  /** A module that exports `start(): Promise<{ endpoint, stop }>`. */
  readonly outside?: string | undefined;
  readonly realAws?: boolean | undefined;
  /** ms */
  readonly timeout: number;
  /** Whether `pending` is waited out, until the time-out. */
  readonly goesOn?: boolean | undefined;
  /** Takes lines for a person as they come. */
  readonly say: (line: string) => void;
}

/** What became of the request. */
export interface DevReport {
  readonly handler: string;
  readonly requestId: string;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly steps: readonly { readonly ms: number; readonly what: string; readonly text: string }[];
}
