/*
 * The commands of the command line, in the order in which help lists them. Read by main.ts.
 * A new command is a file beside this one and a line here.
 */
import type { Command } from './command.ts';

/** All commands. */
export const commands: readonly Command[] = [];
