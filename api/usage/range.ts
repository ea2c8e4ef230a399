import { invalidField } from '../../domain/errors.ts';
import { isoTime, type Clock } from '../../platform/clock.ts';

const DEFAULT_RANGE_MS = 7 * 86_400_000;

/** `[start_time, end_time)`: by default the seven days before now, or before the end that was given. */
export function rangeOf(
  clock: Clock,
  body: { readonly start_time?: string | null; readonly end_time?: string | null },
): { readonly start: string; readonly end: string } {
  const end = body.end_time ?? isoTime(clock.now());
  const start = body.start_time ?? isoTime(Date.parse(end) - DEFAULT_RANGE_MS);
  if (end <= start) throw invalidField('end_time', 'must be after start_time');
  return { start, end };
}
