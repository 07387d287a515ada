/*
 * `retry`: asks the bridge to send the request again for one object. Writes `retry.finalizer-bridge.dev/<rule>`; the bridge
 * does the rest (decide.ts: rows 4, 5 and 8 give way), whenever it runs.
 */
import * as z from 'zod/mini';
import { RETRY_PREFIX } from '../words.ts';
import { defineCommand, EXIT } from './command.ts';
import { print } from './print.ts';
import { sayWord } from './say.ts';
import { findDeleting, takesEntry } from './subject.ts';

export const retry = defineCommand({
  name: 'retry',
  summary: 'Asks for another try at taking the outside resource down',
  usage: takesEntry,
  options: z.object({ rule: z.optional(z.string()) }),
  async run(context, args, { rule: wanted }) {
    const { subject, rule } = await findDeleting(context, args, { word: 'retry', wanted });
    const asked = new Date(context.clock.now()).toISOString();
    await sayWord(context, subject, {
      ...{ doing: 'retrying', rule },
      annotations: ({ uid, annotations }) => {
        const key = RETRY_PREFIX + rule;
        const value = `${uid}/${asked}`;
        // What is there already was handled, or will be: only something new is another retry.
        return { [key]: annotations?.[key] === value ? `${value}+` : value };
      },
    });
    const { name, path, object } = subject;
    print(context, {
      data: { object: name, namespace: path.namespace, uid: object.metadata.uid, rule, word: 'retry', asked },
      lines: [`${name}: retry asked for under rule ${rule}; the bridge sends another request when it sees this`],
    });
    return EXIT.ok;
  },
});
