/*
 * The configuration that each function reads at cold start (functions/config.ts), made of the user's values.
 * Called by service. The functions' own closed schema checks it here, before packaging, so that no function is deployed
 * that would only say at its first message that it cannot start.
 */
import { CONFIG_VARIABLE, type Config, ConfigError, type Configured, readConfig } from '../../functions/config.ts';
import { type Deployment, resultQueueNames } from './names.ts';
import type { Value } from './queues.ts';
import { likelySecrets, writtenSecrets } from './secrets.ts';
import type { HandlerValues, Values } from './values.ts';

/** Lambda's limit on all environment variables of a function together, names and values, in UTF-8 bytes. */
const ENVIRONMENT_MAX_BYTES = 4096;

/** A function's environment as the template has it, and its configuration as the function will read it. */
export interface Environment {
  readonly variables: Readonly<Record<typeof CONFIG_VARIABLE, Value>>;
  readonly config: Config;
}

/** What can be wrong with one handler's values, each fault with its path; or the environment. */
export type EnvironmentOutcome =
  | { readonly ok: true; readonly environment: Environment }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Makes and checks the environment of one handler's function. */
export function makeEnvironment(asked: Configured, settings: HandlerValues, values: Values): EnvironmentOutcome {
  const { name: handler } = asked;
  const { maximumConcurrency: _, ...own } = settings;
  const fixed = Object.keys(own).filter((key) => key === 'handler' || key === 'clusters');
  const faults = [
    ...fixed.map((key) => `handlers.${handler}.${key}: is set by the packaging`),
    ...writtenSecrets(own.settings, `handlers.${handler}.settings`),
  ];
  if (faults.length > 0) return { ok: false, faults };
  const likely = JSON.stringify(configuration({ handler, own: likelySecrets(own), values, url: likelyUrl }));
  const read = checked(asked, likely, values.region);
  if (!read.ok) return read;
  const bytes = Buffer.byteLength(CONFIG_VARIABLE) + Buffer.byteLength(likely);
  if (bytes > ENVIRONMENT_MAX_BYTES) {
    const fault = `handlers.${handler}: its configuration takes ${bytes} bytes with that of the clusters, a function's environment has ${ENVIRONMENT_MAX_BYTES}; shorten the allow-list with wider patterns`;
    return { ok: false, faults: [fault] };
  }
  const text = JSON.stringify(configuration({ handler, own: escaped(own), values, url: reference }));
  return { ok: true, environment: { variables: { [CONFIG_VARIABLE]: { 'Fn::Sub': text } }, config: read.config } };
}

interface ConfigurationInput {
  readonly handler: string;
  readonly own: Readonly<Record<string, unknown>>;
  readonly values: Values;
  readonly url: (values: Values, clusterUid: string) => string;
}

function configuration({ handler, own, values, url }: ConfigurationInput) {
  return { ...own, handler, clusters: clustersOf(values, url) };
}

/** The clusters as a function is told of them. */
export function clustersOf(values: Values, url: ConfigurationInput['url']) {
  return values.clusters.map(({ uid, bridgeRoleId }) => ({
    uid,
    sender: bridgeRoleId,
    resultQueueUrl: url(values, uid),
  }));
}

/** What CloudFormation puts in: the queue's URL. */
export function reference(deployment: Deployment, clusterUid: string): string {
  return `\${${resultQueueNames(deployment, clusterUid).queueId}}`;
}

/** What that URL will look like, for checking and measuring. */
function likelyUrl(values: Values, clusterUid: string): string {
  const domain = values.region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return `https://sqs.${values.region}.${domain}/111122223333/${resultQueueNames(values, clusterUid).queue}`;
}

function checked(handler: Configured, text: string, region: string) {
  try {
    const config = readConfig(handler, { [CONFIG_VARIABLE]: text, AWS_REGION: region });
    return { ok: true, config } as const;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ok: false, faults: error.faults.map((fault) => `handlers.${handler.name}.${fault}`) } as const;
  }
}

/** The same values with each `${` spelled so that Fn::Sub leaves it alone. */
function escaped(own: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(own).replaceAll('${', '${!'));
}
