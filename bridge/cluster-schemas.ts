/*
 * The schemas of kinds, from the API server's OpenAPI v3 documents: one small index with the hash of each, and a document
 * per group and version. The index of an API server can be a minute behind, its documents are not. Part of the Kinds port
 * (cluster-kinds.ts), asked whenever a rule is judged. That a schema cannot be read is a value: it keeps no rule from
 * working.
 */
import * as z from 'zod/mini';
import { type Call, decoded, type Http, refusal } from './cluster-http.ts';
import { kindKey } from './kind-key.ts';
import { type KindSchema, schemaOfKind } from './kind-schema.ts';
import { explain } from './log.ts';
import { ApiError, type KindRef, type SchemaOutcome } from './ports.ts';

const INDEX = '/openapi/v3';
const index = z.object({ paths: z.record(z.string(), z.object({ serverRelativeURL: z.string() })) });

/** Statuses of an API server that will not show its schemas: nobody may read them, or there are none. */
const LASTING: ReadonlySet<number> = new Set([403, 404, 406]);

interface Kept {
  /** What the index said of the document when it was read: its address with its hash. */
  readonly address: string;
  readonly schema: KindSchema | undefined;
}

/** Reads schemas; a document that has not changed is not read again. */
export class Schemas {
  readonly #http: Http;
  readonly #kept = new Map<string, Kept>();
  /** The index that is being read: many rules are judged at once. */
  #index: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * The schema of a kind; `kind` is the word that discovery gives. `isFresh`: read it whatever the index says. The last
   * one that could be read goes on counting.
   */
  async of(ref: KindRef, kind: string, isFresh: boolean): Promise<SchemaOutcome> {
    const key = kindKey(ref);
    try {
      const address = (await this.#addresses()).get(pathOf(ref));
      if (address === undefined) this.#kept.delete(key);
      else if (isFresh || this.#kept.get(key)?.address !== address) {
        this.#kept.set(key, { address, schema: await this.#read(address, { ...ref, kind }) });
      }
    } catch (error) {
      const known = this.#kept.get(key)?.schema;
      if (known !== undefined) return { known: true, schema: known };
      const isLasting = error instanceof ApiError && LASTING.has(error.status);
      return { known: false, why: explain(error), mayCome: !isLasting };
    }
    const schema = this.#kept.get(key)?.schema;
    return schema === undefined
      ? { known: false, why: 'the API server publishes no schema of it', mayCome: true }
      : { known: true, schema };
  }

  #addresses(): Promise<ReadonlyMap<string, string>> {
    this.#index ??= this.#readIndex().finally(() => {
      this.#index = undefined;
    });
    return this.#index;
  }

  async #readIndex(): Promise<ReadonlyMap<string, string>> {
    const { paths } = await this.#get(INDEX, 'reading the index of schemas', (body) => index.parse(body));
    const addresses = Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL] as const);
    return new Map(addresses.filter(([, address]) => address.startsWith(`${INDEX}/`)));
  }

  #read(address: string, kind: Pick<KindRef, 'group' | 'version'> & { readonly kind: string }) {
    // With a hash that is not the document's any more the answer would be a redirection.
    const [path = address] = address.split('?');
    const doing = `reading the schema of ${kind.kind} in ${kind.group}/${kind.version}`;
    return this.#get(path, doing, (body) => schemaOfKind(body, kind));
  }

  async #get<T>(path: string, doing: string, decode: (body: unknown) => T): Promise<T> {
    const call: Call = { method: 'GET', path, doing };
    const answer = await this.#http.ask(call);
    if (answer.status !== 200) throw refusal(call, answer);
    return decoded(call, answer, decode);
  }
}

/** How the index names a group and version. */
function pathOf({ group, version }: KindRef): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}
