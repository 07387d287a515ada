// @ts-check
/*
 * Starts one child and passes signals on to it; used for npm (packages.mjs) and for the entry (boot.mjs).
 * The child gets a process group of its own: on Ctrl-C the terminal signals this process and npm's, npm signals this
 * process again, and a group-wide kill does both; only what is forwarded from here reaches the child, once.
 */
import { spawn } from 'node:child_process';

/** @type {NodeJS.Signals[]} */
const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** The same signal again within this many ms is the same event come by another way. */
const ECHO_MS = 250;

/** Thrown when a signal ends the bootstrap itself; the process is to die by that signal. */
export class Interrupted extends Error {
  /** @param {NodeJS.Signals} signal */
  constructor(signal) {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}

/**
 * Runs a command to its end. Signals that come meanwhile are the child's to answer: this waits for it in any case.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions & { onStderr?: (text: string) => void }} options
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null, interrupted: NodeJS.Signals | null }>}
 * @throws the spawn error (ENOENT when there is no such command)
 */
export function runChild(command, args, { onStderr, ...options }) {
  return new Promise((settle, reject) => {
    const child = spawn(command, args, { ...options, detached: true });
    /** @type {NodeJS.Signals | null} */
    let interrupted = null;
    /** @type {Map<NodeJS.Signals, number>} */
    const last = new Map();
    /** @param {NodeJS.Signals} signal */
    const forward = (signal) => {
      const now = performance.now();
      if (now - (last.get(signal) ?? Number.NEGATIVE_INFINITY) < ECHO_MS) return;
      last.set(signal, now);
      interrupted = signal;
      child.kill(signal);
    };
    const done = () => {
      for (const signal of forwarded) process.removeListener(signal, forward);
    };
    for (const signal of forwarded) process.on(signal, forward);
    child.stderr?.setEncoding('utf8').on('data', (text) => onStderr?.(text));
    child.once('error', (error) => {
      done();
      reject(error);
    });
    child.once('close', (code, signal) => {
      done();
      settle({ code, signal, interrupted });
    });
  });
}

/**
 * Interrupts this process, once, when its parent has gone without a word: npm ended by SIGTERM takes only the shell
 * between with it, and SIGKILL tells nobody. Without this the servers of a killed run would live on.
 */
export function endWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  watch.unref();
}

/**
 * Ends this process by a signal, as the child ended: a shell or npm above sees the truth.
 * @param {NodeJS.Signals} signal
 */
export function dieBy(signal) {
  process.exitCode = 1;
  process.kill(process.pid, signal);
  // A signal to oneself is delivered asynchronously; something must keep the process alive until then.
  setTimeout(() => {}, 1000);
}
