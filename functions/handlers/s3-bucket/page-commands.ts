/*
 * The two commands by which a bucket is emptied, without the part of the SDK that takes most of the CPU: of a listing it makes
 * objects of all that a version has, letter by letter, and of a delete call a tree. Signing, sending, errors and whatever is
 * not of the plain form stay the SDK's. Used by list-versions.ts and delete-versions.ts. Figures are in docs/benchmarks.md.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  DeleteObjectsCommand,
  type DeleteObjectsCommandInput,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandInput,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3';
import type { Version } from './bucket.ts';
import { deletionText, takeVersions } from './page-text.ts';

/** What the client's middleware hands on. */
interface Sent {
  readonly response: unknown;
  readonly output?: ServiceOutputTypes;
}

/** Lists versions; `Versions` of the answer has the delete markers as well, and nothing but keys and version ids. */
export function listVersionsCommand(input: ListObjectVersionsCommandInput): ListObjectVersionsCommand {
  const command = new ListObjectVersionsCommand(input);
  let taken: readonly Version[] = [];
  command.middlewareStack.addRelativeTo(
    <A, R extends Sent>(next: (args: A) => Promise<R>) =>
      async (args: A) => {
        const result = await next(args);
        taken = await takeFrom(result.response);
        return result;
      },
    beside('after', 'deserializer'),
  );
  command.middlewareStack.addRelativeTo(
    <A, R extends Sent>(next: (args: A) => Promise<R>) =>
      async (args: A) => {
        const result = await next(args);
        const { output } = result;
        const rest = output !== undefined && 'Versions' in output ? output.Versions : undefined;
        if (output !== undefined) Reflect.set(output, 'Versions', [...taken, ...(rest ?? [])]);
        return result;
      },
    beside('before', 'deserializer'),
  );
  return command;
}

/** Where a middleware stands beside one that every command has. */
function beside<R extends 'after' | 'before'>(relation: R, middleware: string) {
  return { relation, toMiddleware: `${middleware}Middleware` };
}

/** Takes the versions out of what the SDK is about to read. In an error there are none. */
async function takeFrom(response: unknown): Promise<readonly Version[]> {
  const body: unknown = Reflect.get(Object(response), 'body');
  if (!(body instanceof Readable)) return [];
  const { versions, rest } = takeVersions((await buffer(body)).toString());
  Reflect.set(Object(response), 'body', Buffer.from(rest));
  return versions;
}

/** Deletes versions; the answer names those that could not be deleted. */
export function deleteVersionsCommand(
  input: Omit<DeleteObjectsCommandInput, 'Delete'>,
  versions: readonly Version[],
): DeleteObjectsCommand {
  const command = new DeleteObjectsCommand({ ...input, Delete: { Objects: [], Quiet: true } });
  command.middlewareStack.addRelativeTo(
    <A extends { readonly request?: unknown }, R>(next: (args: A) => Promise<R>) =>
      (args: A) => {
        Reflect.set(Object(args.request), 'body', deletionText(versions));
        return next(args);
      },
    beside('after', 'serializer'),
  );
  return command;
}
