/*
 * What a world did, as a running hash that two runs can be compared by, and, where somebody asks, as lines about one object.
 * Made by fleet.ts; told of every port call and every write.
 */

const PRIME = 16_777_619;
const OFFSET = 2_166_136_261;

/** A trace. */
export class Trace {
  readonly lines: string[] = [];
  readonly #about: readonly string[];
  #hash = OFFSET;
  #count = 0;

  /** `about`: names of which lines are kept; none keeps none. */
  constructor(about: readonly string[] = []) {
    this.#about = about;
  }

  /** How many lines there were, and what they come to (FNV-1a). */
  get hash(): string {
    return `${this.#count}-${(this.#hash >>> 0).toString(16).padStart(8, '0')}`;
  }

  line(at: number, who: string, what: string): void {
    let hash = Math.imul(this.#hash ^ at, PRIME);
    for (let index = 0; index < who.length; index += 1) hash = Math.imul(hash ^ who.charCodeAt(index), PRIME);
    for (let index = 0; index < what.length; index += 1) hash = Math.imul(hash ^ what.charCodeAt(index), PRIME);
    this.#hash = hash;
    this.#count += 1;
    if (this.#about.length > 0 && this.#about.some((name) => what.includes(name))) this.keep(at, who, what);
  }

  keep(at: number, who: string, what: string): void {
    this.lines.push(`${new Date(at).toISOString().slice(11, 23)} ${who} ${what}`);
  }
}
