/*
 * The bridge's configuration: one YAML file, closed, refused at start with every fault and its path. Read by main.ts.
 * The rules stand in a file of their own (`rules`), so that they can be mounted and changed apart.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { handlerName } from './contract.ts';
import { explain, LOG_LEVELS } from './log.ts';
import type { Rule } from './rule.ts';
import { isRefusedKind, isText, NAMESPACES_MAX, TEXTS, type TextFact } from './rule-facts.ts';
import { faultsOfIssue, type ParsedRules, parseRules } from './rules.ts';
import type { Fault } from './rules-file.ts';
import type { Served } from './served.ts';

const url = z.string().check(z.regex(/^https?:\/\/\S+$/, 'not an http(s) URL'));
const filled = z.string().check(z.minLength(1, 'empty'));

const text = (fact: TextFact) => z.string().check(z.refine((value) => isText(fact, value), { error: fact.fault }));
const kind = z
  .strictObject({ group: text(TEXTS.group), version: z.optional(text(TEXTS.version)), resource: text(TEXTS.resource) })
  .check(z.refine((listed) => !isRefusedKind(listed), { error: 'no rule may hold this kind' }));

const namespaces = z.array(text(TEXTS.namespace)).check(z.maxLength(NAMESPACES_MAX.served));

const configFields = z.strictObject({
  /** Display name of the cluster; its identity is the uid of namespace kube-system. */
  cluster: z.optional(z.strictObject({ name: filled.check(z.maxLength(128)) })),
  /** Path of a kubeconfig; without it KUBECONFIG, the home directory, or the Pod's own ServiceAccount. */
  kubeconfig: z.optional(filled),
  /** Path of a rule file, relative to this file; without it the rules are the TeardownRules in the API. */
  rules: z.optional(filled),
  /** Kinds that are watched also while no rule names them: the ones that the bridge has rights on. */
  kinds: z._default(z.array(kind), []),
  /** Namespaces that are served, and no others; without it the whole cluster is. */
  namespaces: z.optional(namespaces.check(z.minLength(1, 'leave it out to serve the whole cluster'))),
  /** Namespaces that were served: what is pending there goes on, and entries come off live objects. */
  leavingNamespaces: z._default(namespaces, []),
  queues: z.strictObject({
    region: filled,
    endpoint: z.optional(url),
    /** URL of this cluster's result queue. */
    results: url,
  }),
  /** Per handler: where requests go, and whose results are believed (SenderId, or role id). */
  handlers: z.record(handlerName, z.strictObject({ queue: url, sender: filled })),
  /** Whose word counts that a request is a dead letter (SenderId, or role id); without it nobody's does. */
  deadLetters: z.optional(z.strictObject({ sender: filled })),
  server: z._default(
    z.strictObject({
      host: z._default(filled, '0.0.0.0'),
      port: z._default(z.int().check(z.gte(0), z.lte(65_535)), 8080),
    }),
    { host: '0.0.0.0', port: 8080 },
  ),
  log: z._default(z.strictObject({ level: z.enum(LOG_LEVELS) }), { level: 'info' }),
});

const configSchema = configFields.check((checked) => {
  const { namespaces, leavingNamespaces } = checked.value;
  for (const [at, name] of leavingNamespaces.entries()) {
    const message =
      namespaces === undefined
        ? 'the whole cluster is served, so none is left'
        : namespaces.includes(name)
          ? 'served and left at once'
          : undefined;
    if (message === undefined) continue;
    checked.issues.push({ code: 'custom', input: name, path: ['leavingNamespaces', at], message });
  }
});

/** The configuration as the rest of the bridge sees it, its rules parsed. */
export type Config = Readonly<Omit<z.output<typeof configSchema>, 'rules'>> & {
  /** The rules of the file; undefined when they come from the API. */
  readonly rules: readonly Rule[] | undefined;
};

/** The namespaces that a configuration has served. */
export function servedBy({ namespaces, leavingNamespaces: leaving }: Config): Served {
  return { namespaces, leaving };
}

/** The configuration, or all that is wrong with it. */
export type LoadedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly Fault[] };

const { localeError } = en();
/** What is needed to go on looking for faults where the rest has some. */
const partsSchema = z.object({
  rules: z.catch(z.optional(filled), undefined),
  kubeconfig: z.catch(z.optional(filled), undefined),
});

const NO_FILE: ParsedRules = { ok: true, rules: [] };

/** Reads and checks the configuration file, the rule file it names, and that its kubeconfig can be read. */
export async function loadConfig(file: string): Promise<LoadedConfig> {
  const text = await readText(file);
  if (!text.ok) return { ok: false, faults: [text.fault] };
  const yaml = parseText(file, text.text);
  if (!yaml.ok) return { ok: false, faults: [yaml.fault] };
  const parsed = configSchema.safeParse(yaml.value, { error: localeError });
  const parts = partsSchema.safeParse(yaml.value).data;
  const rules = parts?.rules === undefined ? NO_FILE : await loadRules(resolve(dirname(file), parts.rules));
  const kubeconfig = parts?.kubeconfig === undefined ? undefined : await readText(parts.kubeconfig);
  const faults = [
    ...(parsed.success ? [] : parsed.error.issues.flatMap((issue) => faultsOfIssue(issue, file))),
    ...(kubeconfig === undefined || kubeconfig.ok ? [] : [{ ...kubeconfig.fault, path: `${file}: kubeconfig` }]),
    ...(rules.ok ? [] : rules.faults),
    ...(parsed.success && rules.ok ? handlersLacking(file, parsed.data.handlers, rules.rules) : []),
  ];
  if (!parsed.success || !rules.ok || faults.length > 0) return { ok: false, faults };
  return { ok: true, config: { ...parsed.data, rules: rules === NO_FILE ? undefined : rules.rules } };
}

async function loadRules(file: string): Promise<ParsedRules> {
  const text = await readText(file);
  return text.ok ? parseRules(text.text, file) : { ok: false, faults: [text.fault] };
}

function handlersLacking(file: string, handlers: Config['handlers'], rules: readonly Rule[]): readonly Fault[] {
  return rules
    .filter(({ handler }) => !Object.hasOwn(handlers, handler))
    .map(({ name, handler }) => ({
      path: `${file}: handlers.${handler}`,
      message: `rule ${name} needs this handler, and no queue is configured for it`,
    }));
}

type Text = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly fault: Fault };

async function readText(file: string): Promise<Text> {
  try {
    return { ok: true, text: await readFile(file, 'utf8') };
  } catch (error) {
    return { ok: false, fault: { path: file, message: explain(error) } };
  }
}

type Yaml = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: Fault };

function parseText(file: string, text: string): Yaml {
  try {
    const document = parseDocument(text, { logLevel: 'error' });
    // What is read otherwise than it looks, such as a tag that nobody knows, the library only warns of.
    const [fault] = [...document.errors, ...document.warnings];
    if (fault !== undefined) throw fault;
    return { ok: true, value: document.toJS() };
  } catch (error) {
    return { ok: false, fault: { path: file, message: explain(error) } };
  }
}
