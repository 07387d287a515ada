/*
 * Something that a test starts piece by piece: what has been started is stopped again when a later piece does not start.
 * Used by those who start sites, installations and stages; what they return stops the whole by the same stack.
 */

/** Builds on a stack of what is to be stopped, the last first. On failure nothing is left running. */
export async function built<T>(build: (stack: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const stack = new AsyncDisposableStack();
  try {
    return await build(stack);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
