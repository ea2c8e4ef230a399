import { Temporal } from 'temporal-polyfill';

/** Milliseconds since the epoch of an ISO 8601 instant in UTC. */
export const instantMs = (text: string): number => Temporal.Instant.from(text).epochMilliseconds;

/**
 * Whether a row's service window overlaps `[from, to)`. A one-time charge (start = end) is inside
 * when its instant is; a row without a window always is; a null bound of the window is open
 * (billing-semantics 7.2, 3.1).
 */
export function overlaps(
  serviceStart: string | null,
  serviceEnd: string | null,
  from: string | null,
  to: string | null,
): boolean {
  if (serviceStart === null || serviceEnd === null) return true;
  const start = instantMs(serviceStart);
  const end = instantMs(serviceEnd);
  if (to !== null && start >= instantMs(to)) return false;
  if (from === null) return true;
  return start === end ? start >= instantMs(from) : end > instantMs(from);
}
