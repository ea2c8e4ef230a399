import { epochMs } from '../time/instant.ts';

/**
 * Whether a row's service window overlaps `[from, to)` (billing 7.2, 3.1). A row of an
 * instant (start = end) overlaps when its instant is in the window. A row without dates always overlaps. A null bound
 * is open. An empty window contains nothing, except rows without dates.
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
