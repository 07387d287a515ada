/*
 * Durations as people write them in rules and configuration: Go's notation (`10m`, `1h30m`, `1.5h`), in ms.
 * Used by rule-schema.ts; numbers without a unit are refused, since nobody can tell seconds from minutes by looking.
 */

const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const DURATION =
  /^(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*$/;
const PART = /([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g;

/** Parses a duration into whole ms (rounded); undefined when the text is none. `0` needs no unit, as in Go. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (text.length > 64 || !DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * (MS_PER_UNIT[unit ?? ''] ?? Number.NaN);
  const ms = Math.round(total);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** Writes a duration in ms in the same notation, without parts that are zero. */
export function formatDuration(ms: number): string {
  const parts = [
    [Math.floor(ms / 3_600_000), 'h'],
    [Math.floor(ms / 60_000) % 60, 'm'],
    [Math.floor(ms / 1000) % 60, 's'],
    [Math.floor(ms) % 1000, 'ms'],
  ] as const;
  return (
    parts
      .filter(([amount]) => amount > 0)
      .map((part) => part.join(''))
      .join('') || '0s'
  );
}
