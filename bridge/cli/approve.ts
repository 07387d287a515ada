/*
 * `approve`: lets one deletion through that its rule's budget holds back. Writes `approve.finalizer-bridge.dev/<rule>`,
 * which counts for this deletion only and takes no token of the budget.
 */
import * as z from 'zod/mini';
import { readRecordOfAnyRule } from '../record.ts';
import { APPROVE_PREFIX } from '../words.ts';
import { defineCommand, EXIT } from './command.ts';
import { print } from './print.ts';
import { sayWord } from './say.ts';
import { findDeleting, takesEntry } from './subject.ts';

/** Why a budget holds a deletion back. */
const BY_BUDGET: ReadonlySet<string> = new Set(['BudgetExceeded', 'BudgetNotKept']);

export const approve = defineCommand({
  name: 'approve',
  summary: "Lets one deletion through that its rule's budget holds back",
  usage: takesEntry,
  options: z.object({ rule: z.optional(z.string()) }),
  async run(context, args, { rule: wanted }) {
    const { subject, rule } = await findDeleting(context, args, { word: 'approve', wanted });
    const { name, path, object } = subject;
    const record = readRecordOfAnyRule(object.metadata, rule);
    if (record !== undefined && !BY_BUDGET.has(record.reason))
      context.err(`note: ${name} is not held by a budget now, but: ${record.reason}; the approval counts when it is`);
    await sayWord(context, subject, {
      ...{ doing: 'approving', rule },
      annotations: ({ uid }) => ({ [APPROVE_PREFIX + rule]: uid }),
    });
    print(context, {
      data: { object: name, namespace: path.namespace, uid: object.metadata.uid, rule, word: 'approve' },
      lines: [`${name}: approved under rule ${rule}; the budget does not hold this deletion back any more`],
    });
    return EXIT.ok;
  },
});
