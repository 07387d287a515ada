/*
 * Reads a Prometheus text page, of the bridge or of the API server: what these say of themselves is what their users see.
 * Used by end-to-end tests.
 */

/** The sum of all samples of a metric that carry at least these labels; 0 when there is none. */
export function sumOf(page: string, metric: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  let sum = 0;
  for (const line of page.split('\n')) {
    const [, name, inner = '', value] = /^([a-z_:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const has = inner.split(/,(?=[a-z_]+=")/);
    if (name === metric && wanted.every((label) => has.includes(label))) sum += Number(value);
  }
  return sum;
}

/**
 * How much a counter of a bridge grows from now on. One that was started again meanwhile, as where the machine stands still
 * (restarted.ts), has begun to count anew.
 */
export async function growthOf(
  bridge: { readonly pid: number },
  read: () => Promise<number>,
): Promise<() => Promise<number>> {
  const before = { pid: bridge.pid, count: await read() };
  return async () => {
    const count = await read();
    return bridge.pid === before.pid ? count - before.count : count;
  };
}
