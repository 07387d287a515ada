/*
 * What a person gets to read of an error: one sentence that says who refused what. Called by program.ts with whatever a
 * command threw, and by commands that go on without the part they may not read.
 */
import * as z from 'zod/mini';
import { explain } from '../log.ts';
import { ApiError, NoCredentials } from '../ports.ts';
import { Failure } from './command.ts';

const said = z.object({ message: z.string() });

/** Any error as a Failure. */
export function explainFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof ApiError) return new Failure(apiWords(error), { cause: error });
  return new Failure(explain(error), { cause: error });
}

/** Whether the API server said that this caller may not. */
export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403;
}

/** What the API server itself said of an error, naming user, verb, resource and namespace; else all that is known. */
export function serverWords({ body, message }: ApiError): string {
  try {
    return said.parse(JSON.parse(body)).message;
  } catch {
    return message;
  }
}

function apiWords(error: ApiError): string {
  const [doing = ''] = error.message.split(error.status === 0 ? ': no answer' : ': HTTP ');
  const words = serverWords(error);
  switch (error.status) {
    case 0:
      if (error.cause instanceof NoCredentials) return `${doing}: ${explain(error.cause)}`;
      return `${error.message} <- ${explain(rootOf(error.cause))}; is the API server of this context there?`;
    case 401:
      return `${doing}: the API server does not accept the credentials of this context (401)`;
    case 403:
      return `${doing}: not allowed: ${words}`;
    default:
      return words === error.message ? words : `${doing}: ${words}`;
  }
}

/** The first cause is the one that names host, port or certificate. */
function rootOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0]);
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error;
}

/** A write that was refused although nothing had moved: somebody did not want it. `body` is the server's answer. */
export function refused(doing: string, body: string | undefined): Failure {
  const words = body === undefined ? '' : `: ${serverWords(new ApiError(body, 422, { body }))}`;
  return new Failure(`${doing}: the API server refuses it${words}`);
}
