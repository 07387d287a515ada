/*
 * Entry: `node infra/admission/print.ts [--prefix <name>] <kind> ...` writes the admission manifests as YAML for those who
 * install without the chart. A kind is named as Kubernetes does, `buckets.storage.example.com`, for core `configmaps`.
 */
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { type AdmissionManifest, admissionManifests } from './manifests.ts';

const USAGE = 'usage: print.ts [--prefix <name>] <resource>[.<group>] ...';

/** The manifests as YAML documents; expressions stay readable, line by line. */
function yamlOf(manifests: readonly AdmissionManifest[]): string {
  return manifests.map((one) => `---\n${stringify(one, { lineWidth: 0, aliasDuplicateObjects: false })}`).join('');
}

function kindOf(name: string) {
  const [resource = '', ...group] = name.split('.');
  return { resource, group: group.join('.') };
}

const { values, positionals } = parseArgs({ options: { prefix: { type: 'string' } }, allowPositionals: true });
if (positionals.length === 0) {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = 2;
} else {
  const { prefix } = values;
  const manifests = admissionManifests(positionals.map(kindOf), prefix === undefined ? {} : { prefix });
  process.stdout.write(yamlOf(manifests));
}
