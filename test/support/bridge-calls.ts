/*
 * Points in the bridge's conversation with the API server, as a tripwire sees them. Used by end-to-end tests; those in
 * conversations with SQS and S3 are in cloud-calls.ts.
 */
import { z } from 'zod/mini';
import type { Passing, Point } from './tripwire.ts';

const operations = z.array(z.looseObject({ op: z.string(), path: z.string(), value: z.optional(z.unknown()) }));

/** The operations of a JSON patch. */
export function operationsOf({ body }: Passing): z.output<typeof operations> {
  return z.parse(operations, JSON.parse(body));
}

/** A PATCH that takes an entry off the list of finalizers of an object with this API path. */
export function removal(path: string, phase: Point['phase']): Point {
  return { phase, matches: (passing) => isPatch(passing, path) && has(passing, 'remove') };
}

/** A PATCH that puts an entry on the list of finalizers of an object with this API path. */
export function claim(path: string, phase: Point['phase']): Point {
  return { phase, matches: (passing) => isPatch(passing, path) && has(passing, 'add') };
}

/** A PATCH that writes a record on an object with this API path. */
export function recording(path: string, phase: Point['phase']): Point {
  const isRecord = ({ op, path: at }: { op: string; path: string }) => op !== 'test' && at.includes('/annotations');
  return { phase, matches: (passing) => isPatch(passing, path) && operationsOf(passing).some(isRecord) };
}

/** A GET of the object with this API path. */
export function look(path: string, phase: Point['phase']): Point {
  return { phase, matches: ({ method, path: at }) => method === 'GET' && at === path };
}

/** A watch of a kind with this API path. */
export function opening(path: string, phase: Point['phase']): Point {
  return { phase, matches: ({ method, path: at }) => method === 'GET' && at.startsWith(`${path}?watch=1`) };
}

function isPatch({ method, path: at }: Passing, path: string): boolean {
  return method === 'PATCH' && at.split('?', 1)[0] === path;
}

function has(passing: Passing, wanted: string): boolean {
  return operationsOf(passing).some(({ op, path }) => op === wanted && path.startsWith('/metadata/finalizers'));
}
