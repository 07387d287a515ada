/*
 * `finalizer-bridge init <folder>`: a repository of handlers to start from, in a new or empty folder; nothing is run in it.
 * The kit makes it (infra/kit/init.ts); here is what a person types, and what to type next.
 */
import { relative } from 'node:path';
import * as z from 'zod/mini';
import { defineLocalCommand, EXIT } from './command.ts';
import { withKit } from './kit.ts';
import { print } from './print.ts';
import { quoted } from './shell.ts';

export const init = defineLocalCommand({
  name: 'init',
  summary: 'Makes a repository of handlers to start from',
  usage: (command) =>
    command
      .argument('<folder>', 'a new or empty folder')
      .option(
        '--package <file>',
        'the package as "npm pack" makes it, copied into the folder; in a checkout it is found',
      ),
  options: z.object({ package: z.optional(z.string()) }),
  async run(context, [asked = ''], { package: spec }) {
    const folder = await withKit(async (kit) => z.string().parse(await kit.init({ folder: asked, spec })));
    const lines = [
      `${folder} is ready. Next:`,
      `  cd ${quoted(relative('', folder) || '.')}`,
      '  npm install',
      '  npm run typecheck && npm test',
      '  npm run dev',
    ];
    print(context, { data: { folder }, lines });
    return EXIT.ok;
  },
});
