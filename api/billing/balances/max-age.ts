import { invalidField } from '../../../domain/errors.ts';

const HEADER = 'x-max-live';
const MAX_SECONDS = 86_400;

/**
 * How old the usage in a balance may be, in seconds, as the header `x-max-live` says; 0 without it: usage is read now
 * (money 2.8.9). 400 unless it is a whole number of at most a day.
 */
export function maxAgeSeconds(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): number {
  const sent = headers[HEADER];
  if (sent === undefined) return 0;
  const seconds = typeof sent === 'string' && /^\d{1,5}$/.test(sent) ? Number(sent) : Infinity;
  if (seconds > MAX_SECONDS)
    throw invalidField(HEADER, `must be a whole number of seconds from 0 to ${MAX_SECONDS}`);
  return seconds;
}
