/*
 * The files that are generated from the schema of TeardownRule, each with its whole text.
 * Used by generate.ts, and by the test that keeps them from drifting (test/bridge/rule-crd.test.ts).
 */
import type { GeneratedFile } from '../message-schemas.ts';
import { DEFINITION_PATH, definitionYaml } from './definition.ts';

/** All of them. */
export function ruleFiles(): readonly GeneratedFile[] {
  return [{ path: DEFINITION_PATH, text: definitionYaml() }];
}
