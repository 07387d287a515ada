/*
 * `status`: what the rules say of themselves, how much is pending and held, and entries whose rule is gone. Counts come from
 * the objects themselves, so they are true with the bridge down; where the caller may not list a kind, they are those that
 * the bridge last wrote into the rule, with their time. Gathered by status-report.ts, made readable by status-lines.ts.
 */
import * as z from 'zod/mini';
import { defineCommand, EXIT } from './command.ts';
import { print } from './print.ts';
import { linesOfReport } from './status-lines.ts';
import { isClean, reportOn } from './status-report.ts';

export const status = defineCommand({
  name: 'status',
  summary: 'Shows rules, what is pending and held, and entries without a rule',
  usage: (command) =>
    command
      .argument('[rule...]', 'only these rules')
      .option('--all-kinds', 'look for entries without a rule in every kind, not only in those of rules')
      .addHelpText('after', '\nEnds with 1 when a rule is not ready, something is held, or an entry has no rule.'),
  options: z.object({ allKinds: z._default(z.boolean(), false) }),
  async run(context, names, { allKinds }) {
    const report = await reportOn(context, { names, allKinds });
    print(context, { data: report, lines: linesOfReport(report, context.clock.now()) });
    if (context.format === 'table') for (const note of report.notes) context.err(`note: ${note}`);
    return isClean(report) ? EXIT.ok : EXIT.failed;
  },
});
