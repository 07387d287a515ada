/*
 * The registry of somebody's project: loaded whatever dialect of TypeScript it is written in, checked, and each handler traced
 * to the module that exports it, so that a function's bundle holds its own handler and no other's client.
 * Called by serverless.ts and dev.ts; artefacts.ts makes the modules of the functions from it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { handlerName } from '../../bridge/contract.ts';
import { defineRegistry, type Handler } from '../../functions/handler.ts';
import { KitError } from './error.ts';
import { asModule, buildModules, importAll } from './modules.ts';

/** Where a registry is looked for, in the project's folder. */
const REGISTRY_FILE = 'registry.ts';

/** A module, as one in the project's folder imports it, and the name of an export of it. */
export interface Origin {
  readonly module: string;
  readonly symbol: string;
}

/** A registry and where its handlers come from. */
export interface LoadedRegistry {
  readonly folder: string;
  /** The registry's own module, as one in the folder imports it. */
  readonly module: string;
  readonly handlers: readonly Handler[];
  /** The exports that are handlers, by handler's name; those that no module but the registry exports are not there. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/** Where the registry of a project is. */
export interface RegistryPlace {
  /** Absolute path of the project. */
  readonly folder: string;
  /** Relative to it; REGISTRY_FILE unless told. */
  readonly file?: string | undefined;
}

const OURS = /^finalizer-bridge\//;
const isFunction = (value: unknown) => typeof value === 'function';
const handlerShape = z.object({
  name: handlerName,
  version: z.string(),
  permissions: z.array(z.object({ actions: z.array(z.string()), resources: z.custom(isFunction) })),
  limits: z.object({ timeBudgetSeconds: z.number(), batchSize: z.number(), memoryMb: z.number() }),
  schemas: z.object({ target: z.object({}), options: z.object({}), settings: z.object({}) }),
  prepare: z.custom(isFunction),
});

/**
 * Loads a registry.
 * @throws KitError when there is none, it does not build, or what it exports is no list of handlers.
 */
export async function loadRegistry({ folder, file = REGISTRY_FILE }: RegistryPlace): Promise<LoadedRegistry> {
  if (!existsSync(join(folder, file))) {
    throw new KitError(
      `there is no ${file} in ${folder}: it is to export the handlers, as "export const registry = defineRegistry([…]);"`,
    );
  }
  const module = asModule(file);
  const modules = await modulesOf({ folder, module });
  const [own = {}, ...others] = await importAll(folder, [module, ...modules]);
  const handlers = handlersIn(own.registry, file);
  const origins = handlers.flatMap((handler) => {
    const found = others.flatMap((exported, index) => {
      const [symbol] = Object.entries(exported).find(([, value]) => value === handler) ?? [];
      return symbol === undefined ? [] : [{ module: modules[index] ?? '', symbol }];
    });
    return found[0] === undefined ? [] : [[handler.name, found[0]] as const];
  });
  return { folder, module, handlers, origins: new Map(origins) };
}

function handlersIn(exported: unknown, file: string): readonly Handler[] {
  if (!Array.isArray(exported)) {
    throw new KitError(`${file} exports no list called registry, as "export const registry = defineRegistry([…]);"`);
  }
  const list: readonly unknown[] = exported;
  const handlers = list.filter(isHandler);
  const wrong = list.findIndex((one) => !isHandler(one));
  if (wrong >= 0) throw new KitError(`${file}: registry[${wrong}] is no handler; each is made by defineHandler({ … })`);
  if (handlers.length === 0) throw new KitError(`${file}: the registry is empty`);
  try {
    return defineRegistry(handlers);
  } catch (cause) {
    throw new KitError(`${file}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

function isHandler(value: unknown): value is Handler {
  return handlerShape.safeParse(value).success;
}

/** The modules of the project that the registry reaches, and those of this package that they import. */
async function modulesOf({ folder, module }: { readonly folder: string; readonly module: string }) {
  const { metafile } = await buildModules(folder, {
    entryPoints: [join(folder, module)],
    write: false,
    metafile: true,
  });
  const inputs = Object.entries(metafile?.inputs ?? {});
  const own = inputs.map(([path]) => `./${path}`).filter((path) => path !== module);
  const ours = inputs.flatMap(([, { imports }]) => imports).filter(({ external, path }) => external && OURS.test(path));
  return [...new Set([...own, ...ours.map(({ path }) => path)])].sort();
}
