/*
 * Entry: `node infra/admission/print.ts [--bridge <namespace>/<account>] [--prefix <name>] [--namespace <name>] <kind> ...` writes
 * the admission manifests as YAML for those who install without the chart; with the bridge's ServiceAccount the guarding ones as
 * well, with namespaces (one option each) entries at birth in these only. A kind is named as Kubernetes does,
 * `buckets.storage.example.com`, for core `configmaps`.
 */
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { guardManifests } from './guards.ts';
import { admissionManifests } from './manifests.ts';

const USAGE =
  'usage: print.ts [--bridge <namespace>/<account>] [--prefix <name>] [--namespace <name>] <resource>[.<group>] ...';

/** The manifests as YAML documents; expressions stay readable, line by line. */
function yamlOf(manifests: readonly object[]): string {
  return manifests.map((one) => `---\n${stringify(one, { lineWidth: 0, aliasDuplicateObjects: false })}`).join('');
}

function kindOf(name: string) {
  const [resource = '', ...group] = name.split('.');
  return { resource, group: group.join('.') };
}

const { values, positionals } = parseArgs({
  options: {
    ...{ prefix: { type: 'string' }, bridge: { type: 'string' } },
    namespace: { type: 'string', multiple: true },
  },
  allowPositionals: true,
});
const [namespace = '', name = '', ...more] = values.bridge?.split('/') ?? [];
const isMistyped = values.bridge !== undefined && (namespace === '' || name === '' || more.length > 0);
if (positionals.length === 0 || isMistyped) {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = 2;
} else {
  const kinds = positionals.map(kindOf);
  const options = values.prefix === undefined ? {} : { prefix: values.prefix };
  const guards = values.bridge === undefined ? [] : guardManifests(kinds, { ...options, bridge: { namespace, name } });
  const { namespace: namespaces } = values;
  const born = admissionManifests(kinds, { ...options, ...(namespaces === undefined ? {} : { namespaces }) });
  process.stdout.write(yamlOf([...born, ...guards]));
}
