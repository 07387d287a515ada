/*
 * The files that are generated from the schema of TeardownRule, each with its whole text.
 * Used by generate.ts, and by the test that keeps them from drifting (test/bridge/rule-crd.test.ts).
 */
import { DEFINITION_PATH, definitionYaml } from './definition.ts';
import { REFERENCE_PATH, ruleReference } from './reference.ts';

/** All of them; paths are from the root of the project. */
export function ruleFiles(): readonly { readonly path: string; readonly text: string }[] {
  return [
    { path: DEFINITION_PATH, text: definitionYaml() },
    { path: REFERENCE_PATH, text: ruleReference() },
  ];
}
