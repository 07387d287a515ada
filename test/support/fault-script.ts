/*
 * Faults between bridge and API server, as data: which calls, what happens to them, how often. A script is played step by
 * step; a storm draws from a list by a seed, so that a run can be had again. Used by fault-proxy.ts; no I/O here.
 */

/** What a call is, in the words of the API. `other` is discovery and what else has no resource. */
export type Verb = 'get' | 'list' | 'watch' | 'patch' | 'create' | 'update' | 'delete' | 'other';

/** One call as it came. `resource` has its subresource, as in `teardownrules/status`; `name` is empty for collections. */
export interface Ask {
  readonly verb: Verb;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** Where a watch begins; empty for a list that streams. */
  readonly resourceVersion: string;
}

/** Which calls; what is left out is any. */
export type Selector = Partial<Ask>;

/** What happens to a watch. After so many lines; what happens to a line happens to the one after them. */
export type StreamFault =
  /** The connection ends within a line. */
  | { readonly kind: 'cut'; readonly afterLines?: number }
  /** Bytes stop coming, and the connection stays open. */
  | { readonly kind: 'stall'; readonly afterLines?: number }
  /** Ends as a watch may end at any time. */
  | { readonly kind: 'end'; readonly afterLines?: number }
  /** An ERROR event, and the end. `retryAfter` in s. */
  | { readonly kind: 'error'; readonly code: number; readonly retryAfter?: number; readonly afterLines?: number }
  /** A line that is half of one. */
  | { readonly kind: 'garble'; readonly afterLines?: number }
  /** Once the list is complete, everything that was ever sent of the kind comes again, in any order. */
  | { readonly kind: 'echo' };

/** What happens to any call. */
export type CallFault =
  /** This is answered, and the API server never hears of it. `retryAfter` in s. */
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter?: number }
  /** The connection ends before the API server hears of it. */
  | { readonly kind: 'refuse' }
  /** The API server does it, and the connection ends instead of the answer. */
  | { readonly kind: 'lose' }
  /** The API server does it, and nothing is ever answered. */
  | { readonly kind: 'mute' }
  /** Half of the body, and a proper end. */
  | { readonly kind: 'truncate' }
  /** The body comes a few bytes at a time. */
  | { readonly kind: 'slow'; readonly bytes: number; readonly everyMs: number }
  | { readonly kind: 'late'; readonly ms: number };

export type Fault = StreamFault | CallFault;

/** One step: what happens to the next `times` calls that are meant. */
export interface Step {
  readonly on: Selector;
  readonly fault: Fault;
  /** Without end unless told. */
  readonly times?: number;
}

/** A step that is being played. */
export interface Playing {
  /** How many calls it has struck. */
  readonly struck: number;
  /** Ends it. */
  lift(): void;
}

/** Weather: `share` of the calls that are meant are struck by one of these faults. */
export interface Weather {
  readonly on?: Selector;
  readonly share: number;
  readonly faults: readonly Fault[];
}

/** The steps in force, oldest first. */
export class Script {
  readonly #steps: { readonly step: Step; struck: number }[] = [];
  #weather: ((ask: Ask) => Fault | undefined) | undefined;

  play(step: Step): Playing {
    const playing = { step, struck: 0 };
    this.#steps.push(playing);
    return {
      get struck() {
        return playing.struck;
      },
      lift: () => {
        const at = this.#steps.indexOf(playing);
        if (at >= 0) this.#steps.splice(at, 1);
      },
    };
  }

  /** Weather from now on, until the returned function is called. `random` gives numbers in [0, 1). */
  blow(random: () => number, { on = {}, share, faults }: Weather): () => void {
    const blowing = (ask: Ask) => {
      const [chance, choice] = [random(), random()];
      return isMeant(on, ask) && chance < share ? faults[Math.floor(choice * faults.length)] : undefined;
    };
    this.#weather = blowing;
    return () => {
      if (this.#weather === blowing) this.#weather = undefined;
    };
  }

  /** What happens to a call; counts it. Steps come before weather. */
  draw(ask: Ask): Fault | undefined {
    const next = this.#steps.find(({ step, struck }) => isMeant(step.on, ask) && struck < (step.times ?? Infinity));
    if (next === undefined) return this.#weather?.(ask);
    next.struck += 1;
    return next.step.fault;
  }
}

/** Whether a selector means a call. */
export function isMeant(on: Selector, ask: Ask): boolean {
  const { verb, group, resource, namespace, name, resourceVersion } = on;
  return (
    [undefined, ask.verb].includes(verb) &&
    [undefined, ask.group].includes(group) &&
    [undefined, ask.resource].includes(resource) &&
    [undefined, ask.namespace].includes(namespace) &&
    [undefined, ask.name].includes(name) &&
    [undefined, ask.resourceVersion].includes(resourceVersion)
  );
}

/** What is asked by a request of the Kubernetes API. */
export function askOf(method: string, url: string): Ask {
  const { pathname, searchParams } = new URL(url, 'https://api');
  const [, group = '', rest = ''] = /^\/(?:api|apis\/([^/]+))\/[^/]+\/(.+)$/.exec(pathname) ?? [];
  const segments = rest.split('/').map(decodeURIComponent);
  const isInside = segments[0] === 'namespaces' && segments.length > 2;
  const namespace = isInside ? (segments[1] ?? '') : '';
  const [kind = '', name = '', ...subresource] = isInside ? segments.slice(2) : segments;
  const isWatch = searchParams.get('watch') === '1';
  return {
    ...{ group, namespace, name, resource: [kind, ...subresource].join('/') },
    verb: kind === '' ? 'other' : isWatch ? 'watch' : verbOf(method, name === ''),
    resourceVersion: searchParams.get('resourceVersion') ?? '',
  };
}

function verbOf(method: string, isCollection: boolean): Verb {
  switch (method) {
    case 'GET':
      return isCollection ? 'list' : 'get';
    case 'PATCH':
      return 'patch';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'DELETE':
      return 'delete';
    default:
      return 'other';
  }
}
