/*
 * The label by which the admission policy's bindings find the rules of their kind (infra/admission).
 * The bridge puts it on a rule that is accepted and permitted, and takes it off again; the manifests select by it.
 * A kind's name can be longer than a label value may be, so the value is a hash; it is pure, and can be had in any shell.
 */
import { hash } from 'node:crypto';
import { kindName } from './kind-key.ts';

/** Key of the label on a TeardownRule. */
export const INJECTS_LABEL = 'finalizer-bridge.dev/injects';

/** Hex digits kept of the hash: 128 bits, well within the 63 characters of a label value. */
const DIGITS = 32;

/** A kind by API group (empty for core) and resource (the plural); whatever its version, its entries are the same. */
export interface InjectedKind {
  readonly group: string;
  readonly resource: string;
}

/** Value of the label: the first 32 hex digits of the SHA-256 of the kind's name. */
export function injectsLabel(kind: InjectedKind): string {
  return hash('sha256', kindName(kind), 'hex').slice(0, DIGITS);
}
