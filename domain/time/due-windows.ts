import type { EXPORT_INTERVALS } from '../../schemas/words.ts';
import { exportWindow } from './export-window.ts';
import { epochMs, isoText, type Instant, type Period } from './instant.ts';

/** Windows that one task catches up after a stop: a day of quarter hours. Older ones are left to a person. */
export const CAUGHT_UP_MAX = 96;
/** Events of a window may arrive a little after its end. */
export const SETTLING_MS = 5 * 60_000;

/**
 * The windows of an export that are due at `at` and end after `after`, oldest first, without gaps: at most the newest
 * `CAUGHT_UP_MAX`. A window is due 5 minutes after its end (money 19.4).
 */
export function dueWindows(
  interval: (typeof EXPORT_INTERVALS)[number],
  after: Instant,
  at: Instant,
): Period[] {
  const windows: Period[] = [];
  let next = exportWindow(interval, isoText(epochMs(at) - SETTLING_MS));
  while (windows.length < CAUGHT_UP_MAX && epochMs(next.end) > epochMs(after)) {
    windows.push(next);
    next = exportWindow(interval, next.start);
  }
  return windows.reverse();
}
