/*
 * Times as people read them: how long ago, as kubectl writes ages, and points in time to the second.
 * Used by status, explain and release.
 */

/** An age in the two largest units: `45s`, `12m`, `3h20m`, `5d2h`. Never negative. */
export function ageOf(from: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - from) / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return pair([days, 'd'], [hours % 24, 'h']);
  if (hours > 0) return pair([hours, 'h'], [minutes % 60, 'm']);
  if (minutes > 9) return `${minutes}m`;
  return minutes > 0 ? pair([minutes, 'm'], [seconds % 60, 's']) : `${seconds}s`;
}

function pair([large, unit]: readonly [number, string], [small, smallUnit]: readonly [number, string]): string {
  return `${large}${unit}${small === 0 ? '' : `${small}${smallUnit}`}`;
}

/** RFC 3339, UTC, whole seconds; rounded up, since what is waited for is not there earlier. */
export function timeOf(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}
