/*
 * `finalizer-bridge dev`: the first run of a handler on this machine, for those who write one. The kit does it (infra/kit/dev.ts);
 * here are its flags, its time line and its exit code.
 */
import * as z from 'zod/mini';
import { parseDuration } from '../duration.ts';
import { defineLocalCommand, EXIT, misused } from './command.ts';
import { withKit } from './kit.ts';
import { print } from './print.ts';
import { printable } from './shell.ts';

const reportSchema = z.looseObject({ outcome: z.looseObject({ outcome: z.enum(['gone', 'pending', 'refused']) }) });
const EXITS = { gone: EXIT.ok, pending: EXIT.pending, refused: EXIT.refused } as const;
const DEFAULT_TIMEOUT = '60s';

const HELP = `
Queues run on this machine, and the function reaches this machine and the endpoint only; whatever else it tries is blocked and
shown. Exit codes: 0 gone, 3 pending, 4 refused, 1 no answer or something is missing, 2 the command line is wrong.`;

const repeated = (value: string, before: readonly string[] = []) => [...before, value];

export const dev = defineLocalCommand({
  name: 'dev',
  summary: 'Sends one request to a handler of this folder, on this machine',
  usage: (command) =>
    command
      .argument('[handler]', 'a name of the registry; may be left out where it has one')
      .option('--request <file>', 'the request; else dev.request.json, else a target made up of the schema')
      .option('--target <key=value>', 'a value of the target, or <key>:=<JSON>; may be given several times', repeated)
      .option('--endpoint <url>', 'an emulator of what the handler speaks to')
      .option('--outside <module>', 'a module whose start() starts one and resolves to { endpoint, stop }')
      .option(
        '--real-aws',
        'let the function reach everything, with your credentials: it DELETES what the request names',
      )
      .option('--registry <file>', 'else registry.ts')
      .option('--values <file>', 'else functions.values.yml, if it is there')
      .option('--timeout <time>', 'how long an answer may take', DEFAULT_TIMEOUT)
      .option('--wait', 'go on while the answer is pending, until the time-out')
      .option('--json', 'one document instead of the time line, as -o json')
      .addHelpText('after', HELP),
  options: z.object({
    ...{ request: z.optional(z.string()), target: z.optional(z.array(z.string())), endpoint: z.optional(z.string()) },
    ...{ outside: z.optional(z.string()), registry: z.optional(z.string()), values: z.optional(z.string()) },
    ...{ realAws: z.optional(z.boolean()), wait: z.optional(z.boolean()), json: z.optional(z.boolean()) },
    timeout: z.string(),
  }),
  async run(context, [handler], { json, wait, timeout: text, ...options }) {
    const timeout = parseDuration(text);
    if (timeout === undefined || timeout === 0) throw misused(`--timeout ${text}: not a duration such as 30s or 10m`);
    const format = json === true ? 'json' : context.format;
    const say = (line: string) => {
      if (format === 'table') context.out(printable(line));
    };
    const folder = process.cwd();
    const asked = { ...options, folder, handler, timeout, goesOn: wait, say };
    const data = await withKit(async (kit) => reportSchema.parse(await kit.dev(asked)));
    if (format !== 'table') print({ ...context, format }, { data, lines: [] });
    return EXITS[data.outcome.outcome];
  },
});
