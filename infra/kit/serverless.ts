/*
 * The door from somebody's serverless.yml to the functions of their registry: queues, roles, functions, dead letters, alarms
 * and outputs, and their zips when the framework packages or deploys. Called by the framework through a project's
 * service.cjs, once per `${file(./service.cjs):…}`; what it makes of registry and values is ../functions/service.ts.
 */
import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { loadService, type Service } from '../functions/service.ts';
import { ValuesError } from '../functions/values.ts';
import { makeArtefacts } from './artefacts.ts';
import { KitError } from './error.ts';
import { loadRegistry } from './registry.ts';

/** What the framework hands to a function of serverless.yml; an option that was not given is null. */
const frameworkShape = z.object({
  options: z.object({
    param: z.nullish(z.array(z.string())),
    stage: z.nullish(z.string()),
    region: z.nullish(z.string()),
  }),
});

/** Where a service is, and which command of the framework runs. */
export interface ServiceOptions {
  /** Folder of serverless.yml. */
  readonly folder: string;
  /** The registry's file, relative to it; `registry.ts` unless told. */
  readonly registry?: string;
  /** The framework's arguments; those of this process unless told. */
  readonly argv?: readonly string[];
  /** Takes what people should know of what is packaged, a line; on standard error unless told. */
  readonly say?: (notice: string) => void;
}

const VALUES_PARAM = 'values=';
/** Commands that put the zips somewhere. */
const PACKAGING = new Set(['package', 'deploy']);

/** One run of the framework asks for each part of a service alone. */
const services = new Map<string, Promise<Service>>();

/**
 * The service of a project: what serverless.yml takes its parts from.
 * @param framework what the framework calls the function in service.cjs with.
 * @throws KitError, ValuesError with every fault; an error that shows no stack, since no code is to blame.
 */
export async function serverless(framework: unknown, options: ServiceOptions): Promise<Service> {
  const { options: asked } = z.parse(frameworkShape, framework);
  const named = asked.param?.find((param) => param.startsWith(VALUES_PARAM))?.slice(VALUES_PARAM.length);
  const key = JSON.stringify([options.folder, options.registry, named]);
  const service = services.get(key) ?? composed(options, { ...asked, values: named });
  services.set(key, service);
  return await service.catch((error: unknown) => {
    if (error instanceof KitError || error instanceof ValuesError) error.stack = '';
    throw error;
  });
}

interface Asked {
  readonly values: string | undefined;
  readonly stage?: string | null | undefined;
  readonly region?: string | null | undefined;
}

async function composed(options: ServiceOptions, { values, ...asked }: Asked): Promise<Service> {
  const folder = resolve(options.folder);
  const command = (options.argv ?? process.argv.slice(2)).find((word) => !word.startsWith('-')) ?? '';
  const registry = await loadRegistry({ folder, file: options.registry });
  const isPackaging = PACKAGING.has(command);
  const where = {
    file: values === undefined ? undefined : resolve(folder, values),
    ...{ folder, exampleAllowed: false, example: 'the template of "finalizer-bridge init"' },
    ...{ handlers: registry.handlers, asked, deploys: command === 'deploy' },
  };
  const { say = console.error } = options;
  const service = loadService(where, isPackaging ? say : undefined);
  if (isPackaging) await makeArtefacts(registry, service.functions);
  return service;
}
