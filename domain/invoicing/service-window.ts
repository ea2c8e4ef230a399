import { epochMs } from '../time/instant.ts';

/**
 * Whether a row's service window overlaps `[from, to)`. A one-time charge (start = end) is inside
 * when its instant is; a row without dates always is. A null bound of the window is open, and an empty
 * window holds nothing (billing 7.2, 3.1).
 */
export function overlaps(
  serviceStart: string | null,
  serviceEnd: string | null,
  from: string | null,
  to: string | null,
): boolean {
  if (serviceStart === null || serviceEnd === null) return true;
  if (from !== null && to !== null && epochMs(from) >= epochMs(to)) return false;
  const start = epochMs(serviceStart);
  const end = epochMs(serviceEnd);
  if (to !== null && start >= epochMs(to)) return false;
  if (from === null) return true;
  return start === end ? start >= epochMs(from) : end > epochMs(from);
}
