/*
 * The request of a first run: from a file, from values on the command line, or made up of the handler's own schema.
 * Called by dev.ts. What the handler's schemas refuse is told before anything is started.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { complaints, ownershipSchema, type Request, targetSchema } from '../../../bridge/contract.ts';
import type { Handler, Identity } from '../../../functions/handler.ts';
import { requestFor, type TestRequest } from '../../../functions/testing/requests.ts';
import { KitError } from '../error.ts';
import { sampleOf } from './sample.ts';

/** Where a request is looked for unless a file is named. */
const REQUEST_FILE = 'dev.request.json';

/** The schema library's English, which its small edition leaves out. */
const words = z.locales.en().localeError;

/** What may stand in the file; what it leaves out has a default. */
const fileSchema = z.strictObject({
  target: z.optional(targetSchema),
  options: z.optional(z.record(z.string(), z.json())),
  ownership: z.optional(ownershipSchema),
  object: z.optional(
    z.strictObject({
      ...{ apiVersion: z.optional(z.string()), kind: z.optional(z.string()), resource: z.optional(z.string()) },
      ...{ namespace: z.optional(z.string()), name: z.optional(z.string()), uid: z.optional(z.string()) },
      ...{ creationTimestamp: z.optional(z.string()), deletionTimestamp: z.optional(z.string()) },
    }),
  ),
});

/** What is asked for on the command line. */
export interface Asked {
  readonly folder: string;
  /** A file relative to the folder. */
  readonly request?: string | undefined;
  /** `<key>=<text>` or `<key>:=<JSON>`, over what the file says. */
  readonly target?: readonly string[] | undefined;
}

/** A request, and what its handler says of it. */
export interface DevRequest {
  readonly request: Request;
  readonly identity: Identity;
  /** Whether its target was made up. */
  readonly isSample: boolean;
}

/** Makes the request. @throws KitError for what the handler would not take, and for a file that cannot be read. */
export function readRequest(handler: Handler, asked: Asked, now: number): DevRequest {
  const file = fileOf(asked);
  const given = Object.fromEntries((asked.target ?? []).map(givenOf));
  const isSample = file.target === undefined && Object.keys(given).length === 0;
  const raw = isSample ? sampleOf(handler.schemas.target) : { ...file.target, ...given };
  const { options = {}, ownership, object = {} } = file;
  const target = targetSchema.safeParse(raw);
  const prepared = target.success ? handler.prepare(target.data, options) : undefined;
  if (!target.success || !prepared?.ok) {
    const faults = prepared?.ok === false ? prepared.message : complaints(target.error ?? noError, 'target').join('; ');
    throw new KitError(isSample ? advice(raw, faults) : `the request is not one for ${handler.name}: ${faults}`);
  }
  const known = Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
  const said: TestRequest = { handler: handler.name, target: target.data, options, object: known, now };
  const rule = { name: 'dev', uid: '00000000-0000-4000-8000-0000000000f1' };
  const request = requestFor({ ...said, rule, ...(ownership === undefined ? {} : { ownership }) });
  return { request, identity: prepared.identity, isSample };
}

const noError = new z.core.$ZodError([]);

function advice(sample: unknown, faults: string): string {
  const text = JSON.stringify({ target: sample });
  return `no target can be made up (${faults}): write one to ${REQUEST_FILE}, as ${text}, or give --target <key>=<value>`;
}

function fileOf({ folder, request: named }: Asked): z.output<typeof fileSchema> {
  const name = named ?? REQUEST_FILE;
  const file = join(folder, name);
  if (!existsSync(file)) {
    if (named !== undefined) throw new KitError(`there is no ${name} in ${folder}`);
    return {};
  }
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new KitError(`reading ${name}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
  const parsed = fileSchema.safeParse(json, { error: words });
  if (parsed.success) return parsed.data;
  throw new KitError(`reading ${name}: ${complaints(parsed.error).join('; ')}`);
}

function givenOf(text: string): readonly [string, unknown] {
  const [, key = '', isJson, value = ''] = /^([^:=]+)(:?)=(.*)$/s.exec(text) ?? [];
  if (key === '') throw new KitError(`--target ${text}: is not <key>=<text>, nor <key>:=<JSON>`);
  if (isJson !== ':') return [key, value];
  try {
    return [key, JSON.parse(value)];
  } catch (cause) {
    throw new KitError(`--target ${text}: ${value} is not JSON`, { cause });
  }
}
