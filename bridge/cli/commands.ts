/*
 * The commands of the command line, in the order in which help lists them. Read by main.ts.
 * A new command is a file beside this one and a line here.
 */
import { adopt } from './adopt.ts';
import { approve } from './approve.ts';
import { bridgePolicy } from './bridge-policy.ts';
import { bridgeValues } from './bridge-values.ts';
import type { Command } from './command.ts';
import { dev } from './dev.ts';
import { drain } from './drain.ts';
import { explain } from './explain.ts';
import { init } from './init.ts';
import { release } from './release.ts';
import { retry } from './retry.ts';
import { status } from './status.ts';

/** All commands. */
export const commands: readonly Command[] = [
  ...[status, explain, retry, release, approve, adopt, drain],
  ...[init, dev, bridgeValues, bridgePolicy],
];
