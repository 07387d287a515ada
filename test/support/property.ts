/*
 * Checks a property with fast-check in a synchronous test.
 * On failure vitest shows the smallest counterexample.
 */
import * as fc from 'fast-check';

/** Holds when the property holds for every generated value; throws with the smallest counterexample otherwise. */
export function holds<T>(property: fc.IProperty<T>, parameters: fc.Parameters<T> = {}): void {
  // biome-ignore lint/nursery/noFloatingPromises: a synchronous property gives no promise.
  fc.assert(property, parameters);
}
