/*
 * The commands of the command line, in the order in which help lists them. Read by main.ts.
 * A new command is a file beside this one and a line here.
 */
import { approve } from './approve.ts';
import type { Command } from './command.ts';
import { explain } from './explain.ts';
import { release } from './release.ts';
import { retry } from './retry.ts';

/** All commands. */
export const commands: readonly Command[] = [explain, retry, release, approve];
