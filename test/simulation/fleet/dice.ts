/*
 * Choices by a seeded chance, in the words of whoever draws.
 * Used by draw.ts and draw-objects.ts.
 */

/** A source of choices. */
export class Dice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** A number in [0, 1). */
  roll(): number {
    return this.#random();
  }

  /** A whole number below `most`. */
  below(most: number): number {
    return Math.floor(this.#random() * most);
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<const T>(...choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0];
  }
}
