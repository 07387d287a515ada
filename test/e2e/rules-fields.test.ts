/*
 * Paths of expressions against the schemas that a real API server publishes, of core kinds and of a custom one: whatever
 * stands in a real object is never refused, and for every map in it the bridge and the API server's own strict validation
 * agree on whether one more field may be there. Then rules, whose kind changes its schema while they are running.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Http } from '../../bridge/cluster-http.ts';
import { createKinds } from '../../bridge/cluster-kinds.ts';
import type { KindSchema } from '../../bridge/kind-schema.ts';
import { sharedKube } from '../support/e2e.ts';
import { eventually } from '../support/eventually.ts';
import { expression } from '../support/expressions.ts';
import { coreObjects, type FieldObject, fieldsDefinition, fieldsObject } from '../support/field-objects.ts';
import { logFailures, startSite, type TestSite } from '../support/site.ts';
import { type SiteRules, siteRulesOf } from '../support/site-rules.ts';

const NAMESPACE = 'fields';
const GROUP = 'fields.e2e.example.com';
const ONE_MORE = 'zzUnknown';
/** The API server publishes a changed schema within seconds, and a rule is judged again within a quarter of a minute. */
const RECOVERS_WITHIN = 60_000;

type Path = readonly (string | number)[];

const kube = sharedKube();
const http: Http = {
  ask: async ({ method, path }) => {
    const { status, body } = await kube.request(method, path);
    return { status, headers: {}, text: typeof body === 'string' ? body : JSON.stringify(body) };
  },
  open: async () => {
    throw new Error('nothing is streamed here');
  },
};
const kinds = createKinds(http);
const objects = [...coreObjects, fieldsObject(GROUP)];

beforeAll(async () => {
  await kube.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    // Which a controller makes elsewhere; without it no Pod is let in.
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: NAMESPACE } },
    fieldsDefinition(GROUP),
  ]);
  const isPublished = async () => (await kinds.schemaOf(fieldsObject(GROUP).ref, 'ManyWay')).known;
  await eventually('the schema of the custom kind is published', isPublished);
});
afterAll(() => kube.close());

async function schemaOf({ ref, kind }: FieldObject): Promise<KindSchema> {
  const outcome = await kinds.schemaOf(ref, kind);
  if (!outcome.known) throw new Error(`reading the schema of ${kind}: ${outcome.why}`);
  return outcome.schema;
}

/** Creates an object without storing it; unknown fields are refused. */
async function tried({ ref, namespaced }: FieldObject, object: unknown) {
  const root = ref.group === '' ? '/api/v1' : `/apis/${ref.group}/${ref.version}`;
  const within = namespaced ? `/namespaces/${NAMESPACE}` : '';
  return await kube.request('POST', `${root}${within}/${ref.resource}?dryRun=All&fieldValidation=Strict`, object);
}

/** Every place below a value, with what stands there. */
function placesIn(value: unknown, path: Path = []): readonly (readonly [path: Path, value: unknown])[] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [[path, value], ...members.flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}

/** What of a path the bridge says cannot be. */
function told(path: Path, schema: KindSchema): readonly string[] {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `[${JSON.stringify(step)}]`)).join('');
  return expression(`dyn(object${text}) == 'x'`)
    .unknownFields(schema)
    .map(({ field }) => field);
}

/** A copy with one more field in one place. */
function withOneMore(object: unknown, [step, ...rest]: Path): unknown {
  if (step === undefined) return { ...Object(object), [ONE_MORE]: 'x' };
  const copy: unknown = structuredClone(object);
  const holder = Object(copy);
  Reflect.set(holder, step, withOneMore(Reflect.get(holder, step), rest));
  return holder;
}

describe.each(objects)('$kind', (one) => {
  it('has nothing that a rule may not read', async () => {
    const { status, body } = await tried(one, one.object);
    expect(status, JSON.stringify(body)).toBe(201);
    const schema = await schemaOf(one);
    const places = placesIn(body).filter(([path]) => path.length > 0);
    expect(places.length).toBeGreaterThan(25);
    expect(places.filter(([path]) => told(path, schema).length > 0)).toEqual([]);
  });

  it('may have one more field exactly where the API server lets it be', async () => {
    const schema = await schemaOf(one);
    const maps = placesIn(one.object).filter(([, value]) => typeof value === 'object' && !Array.isArray(value));
    const seen = { may: 0, not: 0 };
    for (const [path] of maps) {
      const { body } = await tried(one, withOneMore(one.object, path));
      const isRefused = JSON.stringify(body).includes(
        `unknown field \\"${[...path, ONE_MORE]
          .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
          .join('')
          .replace(/^\./, '')}`,
      );
      const said = told([...path, ONE_MORE], schema);
      expect(said, `${path.join('.')}: ${JSON.stringify(body)}`).toEqual(isRefused ? [ONE_MORE] : []);
      seen[isRefused ? 'not' : 'may'] += 1;
    }
    expect(Math.min(seen.may, seen.not), JSON.stringify(seen)).toBeGreaterThan(0);
  });
});

describe('a rule', () => {
  let site: TestSite;
  let rules: SiteRules;
  logFailures(() => site);

  beforeAll(async () => {
    site = await startSite({ name: 'rule-fields', handlers: ['by-hand'] });
    rules = siteRulesOf(site);
    await rules.install();
    const bridge = await site.startBridgeOverApi({
      kinds: [
        { group: '', resource: 'configmaps' },
        { group: site.group, resource: 'manyways' },
      ],
    });
    await bridge.ready();
  });
  afterAll(async () => {
    await rules?.removeAll();
    await site?.stop();
  });

  it('that misspells a field of a core kind is not accepted, and is when it is mended', async () => {
    const match = { group: '', version: 'v1', resource: 'configmaps' };
    const of = (bucket: string) => rules.spec('fields-core', { match, target: { bucket } });
    await rules.apply('fields-core', of('object.dta.bucket'));

    const message = 'spec.target.bucket: no object of configmaps.v1 has object.dta; near it: data, ';
    await rules.says('fields-core', 'Accepted', { status: 'False', reason: 'UnknownField', message });

    await rules.apply('fields-core', of('object.data.bucket'));
    await rules.ready('fields-core');
    await rules.says('fields-core', 'Accepted', { status: 'True', message: 'the rule is in force' });
  });

  it('recovers by itself when the definition of its kind gets the field', async () => {
    const closed = { type: 'object', properties: { region: { type: 'string' } } };
    await site.admin.apply([fieldsDefinition(site.group, closed)]);
    const match = { group: site.group, version: 'v1', resource: 'manyways' };
    await rules.apply(
      'fields-custom',
      rules.spec('fields-custom', { match, target: { bucket: 'object.spec.bucket' } }),
    );
    const wanted = {
      status: 'False',
      reason: 'UnknownField',
      message: 'has object.spec.bucket; near it: region',
    } as const;
    await rules.says('fields-custom', 'Accepted', wanted, RECOVERS_WITHIN);

    const more = { ...closed, properties: { ...closed.properties, bucket: { type: 'string' } } };
    await site.admin.apply([fieldsDefinition(site.group, more)]);

    await rules.ready('fields-custom', RECOVERS_WITHIN);
  });
});
