/*
 * Keeps the process small: what it holds is little, but V8 would let garbage pile up to several times of that before it
 * looks. Called by main.ts before anything else, so that it counts for the image, a bundle and the source alike.
 * Both flags are read whenever V8 decides whether to grow, so they count from then on; docs/benchmarks.md has the figures.
 */
import { setFlagsFromString } from 'node:v8';

/** Called when all modules are loaded: by then the young generation has grown to what work needs, 4 MB a half. */
export function keepHeapSmall(): void {
  // It would double on and on to 64 MB a half as load comes, and never be given back under load.
  setFlagsFromString('--semi-space-growth-factor=1');
  // The old generation is collected when it has doubled; a small one would be let grow fourfold.
  setFlagsFromString('--heap-growing-percent=100');
}
