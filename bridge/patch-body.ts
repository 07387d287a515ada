/*
 * A JSON patch as bytes, spelt as the API server spells its own objects. Pure; called by cluster.ts for every patch.
 * A `test` of a text is decided there by comparing how both are written, byte by byte, not by what they mean
 * (evanphx/json-patch v4, `lazyNode.equal`), and Go writes some characters as escapes that JSON.stringify does not.
 */
import type { PatchOperation } from './ports.ts';

/** What Go's encoding/json escapes beyond what JSON demands; in JSON these stand in texts only. */
const ESCAPED_BY_GO = /[<>&\u2028\u2029]/g;

/** The body of a call with content type `application/json-patch+json`. */
export function patchBody(operations: readonly PatchOperation[]): string {
  const body = JSON.stringify(operations);
  return body.replace(ESCAPED_BY_GO, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
