import type { EXPORT_INTERVALS } from '../../schemas/words.ts';
import { epochMs, isoText, type Instant, type Period } from './instant.ts';

const MINUTE_MS = 60_000;
const LENGTH_MS: Readonly<Record<(typeof EXPORT_INTERVALS)[number], number>> = {
  custom: 10 * MINUTE_MS,
  '15MIN': 15 * MINUTE_MS,
  '30MIN': 30 * MINUTE_MS,
  hourly: 60 * MINUTE_MS,
  daily: 24 * 60 * MINUTE_MS,
};

/**
 * The last complete window of an export at `at`, half-open. Windows are counted from the epoch in UTC, so
 * that they have no gap and no overlap (money 19.4).
 */
export function exportWindow(interval: (typeof EXPORT_INTERVALS)[number], at: Instant): Period {
  const length = LENGTH_MS[interval];
  const end = Math.floor(epochMs(at) / length) * length;
  return { start: isoText(end - length), end: isoText(end) };
}
