/*
 * `finalizer-bridge bridge-values`: what the bridge's chart has to be told of the functions that were deployed of this folder's
 * registry, for those who keep handlers in a repository of their own. The kit makes it (infra/kit/bridge-values.ts); here are
 * its flags, and where it is written.
 */
import { writeFileSync } from 'node:fs';
import type { Command as Usage } from 'commander';
import * as z from 'zod/mini';
import { defineLocalCommand, EXIT, type LocalContext } from './command.ts';
import { withKit } from './kit.ts';

/** The flags that say which stack is meant, and for which bridge; of bridge-policy.ts as well. */
export const stackFlags = (command: Usage): Usage =>
  command
    .option('--values <file>', 'else functions.values.yml; a stage has its own')
    .option('--registry <file>', 'else registry.ts')
    .option('--for <cluster>', 'name or uid of a cluster of the values; needed when there are several')
    .option(
      '--outputs <file>',
      'outputs of the stack, as aws cloudformation describe-stacks prints them; else asked for',
    );

/** What they give. */
export const stackOptions = {
  ...{ values: z.optional(z.string()), registry: z.optional(z.string()) },
  ...{ for: z.optional(z.string()), outputs: z.optional(z.string()) },
};

/** Writes what the kit has made into a file, or says it where none is named. */
export function writeMade(context: Pick<LocalContext, 'out'>, made: string, out: string | undefined): void {
  if (out === undefined) context.out(made.trimEnd());
  else writeFileSync(out, made);
}

export const bridgeValues = defineLocalCommand({
  name: 'bridge-values',
  summary: "Writes the chart's values for the functions deployed from this folder",
  usage: (command) =>
    stackFlags(command)
      .option('--irsa', 'with the annotation of the role, for IAM roles for service accounts')
      .option('--out <file>', 'where to write; standard output unless told'),
  options: z.object({
    ...stackOptions,
    ...{ out: z.optional(z.string()), irsa: z._default(z.boolean(), false) },
  }),
  async run(context, _args, { for: cluster, irsa: withRole, out, ...files }) {
    const asked = { ...files, cluster, withRole, folder: process.cwd() };
    const made = await withKit(async (kit) => z.string().parse(await kit.bridgeValues(asked)));
    writeMade(context, made, out);
    return EXIT.ok;
  },
});
