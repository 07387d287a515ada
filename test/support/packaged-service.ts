/*
 * The service packaged as `npm run package` does it, but in a temporary folder and with given values, so that the
 * tree's own .serverless/ and functions.values.yml are left alone. Used by test/infra/*.slow.test.ts.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { registry } from '../../functions/registry.ts';
import { FUNCTION_NAMES } from '../../infra/build.ts';
import { type Packaged, packageFunctions } from '../../infra/package.ts';
import { functionBundles } from './made-once.ts';

const root = join(import.meta.dirname, '../..');

export const PRODUCTION = '6f3c7c52-2f0d-4c0e-9f59-5b6a1c1d7e10';
export const STAGING = '0d9e4f0a-7b1c-4d5e-8f6a-7b8c9d0e1f2a';
export const PRODUCTION_BRIDGE = 'arn:aws:iam::111122223333:role/finalizer-bridge';
export const STAGING_BRIDGE = 'arn:aws:iam::444455556666:role/platform/finalizer-bridge';
/** The values that the tree ships as an example: one cluster, every handler. */
const exampleValues = readFileSync(join(root, 'functions.values.example.yml'), 'utf8');
/** The example with a second cluster, whose bridge lives in another account. */
export const twoClusters = exampleValues.replace(
  '\n# What each function may touch.',
  `  - { uid: ${STAGING}, bridgeRoleArn: '${STAGING_BRIDGE}', bridgeRoleId: AROAEXAMPLEBRIDGE0002 }\n$&`,
);

/** The values with the topic that they show commented out. */
export const withAlarms = (values: string) =>
  values.replace('# alarms:', 'alarms:').replace('#   topicArn:', '  topicArn:');

/** A name as it is spelled in logical ids. */
export const idOf = (name: string) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('-', 'Dash');
export const getArn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
/** Logical ids of the result queues of both clusters. */
export const resultQueues = [PRODUCTION, STAGING].map((uid) => `Result${idOf(uid)}Queue`);
/** The registered handlers with their part of the logical ids. */
export const handlers = registry.map((handler) => ({ ...handler, id: idOf(handler.name) }));

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z._default(z.record(z.string(), z.json()), {}) }),
  ),
  Outputs: z.record(z.string(), z.object({ Value: z.json() })),
});
const environmentSchema = z.object({
  Variables: z.strictObject({ FINALIZER_BRIDGE_CONFIG: z.strictObject({ 'Fn::Sub': z.string() }) }),
});

/** A packaged service: its compiled template, some ways to read it, and how to remove it all. */
export interface PackagedService extends Packaged {
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Properties of a resource of the template; undefined if there is none. */
  readonly properties: (id: string) => Readonly<Record<string, unknown>> | undefined;
  /** Logical ids of all resources of a type, sorted. */
  readonly ofType: (type: string) => readonly string[];
  /** The environment of a handler's function once deployed: each queue's URL is that of its logical id, each secret SECRET. */
  readonly environment: (handler: string) => { readonly FINALIZER_BRIDGE_CONFIG: string; readonly AWS_REGION: string };
  readonly remove: () => void;
}

/** What CloudFormation puts in for every reference to a secret. */
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** The URL that `environment` gives to a queue. */
export const urlOf = (id: string) => `https://sqs.eu-west-1.amazonaws.com/111122223333/${id}`;

/** What to package. */
export interface PackageRequest {
  /** Text of functions.values.yml; without it there is no such file. */
  readonly values?: string;
  /** Whether the zips hold the functions; else one empty module each, for tests that only read the template. */
  readonly bundled: boolean;
}

/** Bundles, zips and packages with the framework. */
export async function packageService({ values, bundled }: PackageRequest): Promise<PackagedService> {
  const serviceDir = mkdtempSync(join(tmpdir(), 'finalizer-bridge-package-'));
  const remove = () => rmSync(serviceDir, { recursive: true, force: true });
  try {
    copyFileSync(join(root, 'serverless.yml'), join(serviceDir, 'serverless.yml'));
    symlinkSync(join(root, 'infra'), join(serviceDir, 'infra'));
    if (values !== undefined) writeFileSync(join(serviceDir, 'functions.values.yml'), values);
    const bundles = bundled ? (await functionBundles()).outDir : emptyModules(join(serviceDir, 'bundles'));
    // No home, no credentials, and a proxy where nobody listens: whoever asks the network fails.
    const nowhere = 'http://127.0.0.1:9';
    const { NODE_COMPILE_CACHE } = process.env;
    const env = { PATH: '', HOME: serviceDir, HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NODE_COMPILE_CACHE };
    const packaged = await packageFunctions({ serviceDir, bundles, env });
    if (packaged.code !== 0) throw new Error(`packaging the functions: ${packaged.output}`);
    return { ...packaged, ...readTemplate(packaged.template), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function emptyModules(folder: string): string {
  for (const name of FUNCTION_NAMES) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, 'index.mjs'), '');
  }
  return folder;
}

function readTemplate(file: string): Pick<PackagedService, 'outputs' | 'properties' | 'ofType' | 'environment'> {
  const { Resources, Outputs } = templateSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const all = Object.entries(Resources);
  return {
    outputs: Object.fromEntries(Object.entries(Outputs).map(([id, { Value }]) => [id, Value])),
    properties: (id) => Resources[id]?.Properties,
    ofType: (type) =>
      all
        .filter(([, resource]) => resource.Type === type)
        .map(([id]) => id)
        .sort(),
    environment: (handler) => {
      const { Variables } = environmentSchema.parse(
        Resources[`${idOf(handler)}LambdaFunction`]?.Properties.Environment,
      );
      const config = Variables.FINALIZER_BRIDGE_CONFIG['Fn::Sub']
        .replaceAll(/\$\{(\w+)\}/g, (_, id: string) => urlOf(id))
        .replaceAll(/\{\{resolve:secretsmanager:[^}]+\}\}/g, SECRET);
      return { FINALIZER_BRIDGE_CONFIG: config, AWS_REGION: 'eu-west-1' };
    },
  };
}
