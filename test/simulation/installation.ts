/*
 * The one simulated installation: the rule, the kind, and what a person would write down about an object.
 * Used by world.ts, promises.ts and the scenarios.
 */
import type { KindRef, KubeObject, ObjectPath } from '../../bridge/ports.ts';
import { RuleBook } from '../../bridge/rule-book.ts';
import { parseRules } from '../../bridge/rules.ts';
import { HANDLER } from './cloud-handler.ts';
import { ACCOUNT, REGION } from './function-host.ts';

export const RULE = 'machines';
export const RULE_UID = 'rule-1';
export const ENTRY = `finalizer-bridge.dev/${RULE}`;
export const RECORD = `status.finalizer-bridge.dev/${RULE}`;
export const RELEASE = `release.finalizer-bridge.dev/${RULE}`;
export const RETRY = `retry.finalizer-bridge.dev/${RULE}`;
export const ON_DELETE = 'example.com/on-delete';
export const OWNER_TAG = 'finalizer-bridge.dev/owner-uid';
export const KIND: KindRef = { group: 'example.com', version: 'v1', resource: 'machines' };

/** The path of a machine. */
export function pathOf(name: string, namespace = 'team-a'): ObjectPath {
  return { ...KIND, namespace, name };
}

/** The rule's document with parts of its spec replaced. */
export function ruleText(overrides: Readonly<Record<string, unknown>> = {}, name = RULE): string {
  return JSON.stringify({
    metadata: { name, uid: RULE_UID },
    spec: {
      match: KIND,
      handler: HANDLER,
      target: { name: 'object.status.machine', region: `'${REGION}'`, account: `'${ACCOUNT}'` },
      policy: `object.metadata.annotations[?'${ON_DELETE}'].orValue('Delete')`,
      ...overrides,
    },
  });
}

const books = new Map<string, RuleBook>();

/**
 * Compiled rules; the same text gives the same book, as expressions take long to compile. `termHeldSince` (ms since the
 * epoch) is what a rule that lives in the API can say of its term, and a file cannot.
 */
export function ruleBook(text: string, termHeldSince?: number): RuleBook {
  const key = `${termHeldSince} ${text}`;
  const known = books.get(key);
  if (known !== undefined) return known;
  const parsed = parseRules(text, 'rules.yaml');
  if (!parsed.ok) throw new Error(`reading the simulation's rules: ${JSON.stringify(parsed.faults)}`);
  const held = termHeldSince === undefined ? {} : { termHeldSince };
  const book = new RuleBook(parsed.rules.map((rule) => ({ ...rule, ...held })));
  books.set(key, book);
  return book;
}

/** The record of the rule on an object, as plain data; undefined when there is none. */
export function recordOn(object: KubeObject | undefined): Readonly<Record<string, unknown>> | undefined {
  const text = object?.metadata.annotations?.[RECORD];
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

/** Whether an object is held, and says why. */
export function isHeld(object: KubeObject): boolean {
  const record = recordOn(object);
  return record?.phase === 'Held' && typeof record.reason === 'string' && record.reason !== '';
}

/** Whether an object has been marked for deletion. */
export function isDeleting(object: KubeObject | undefined): boolean {
  return object?.metadata.deletionTimestamp !== undefined;
}

/** Whether an object still carries our entry. */
export function hasOurEntry(object: KubeObject | undefined): boolean {
  return object?.metadata.finalizers?.includes(ENTRY) ?? false;
}
