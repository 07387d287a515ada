/*
 * A scripted AWS for the tests of one file: started when the file is, forgetful before each test, closed after the last. Used by
 * tests of handlers that make it say what no emulator says.
 */
import { afterAll, beforeEach } from 'vitest';
import { type ScriptedAws, startScriptedAws } from '../support/scripted-aws.ts';
import { useNoCredentials } from './runs.ts';

/** Starts it; the SDK is kept away from the credentials of the machine. */
export async function scriptedAws(): Promise<ScriptedAws> {
  useNoCredentials();
  const aws = await startScriptedAws();
  afterAll(() => aws.close());
  beforeEach(() => aws.reset());
  return aws;
}
