import { Temporal } from 'temporal-polyfill';

/** Milliseconds since 1970 of an instant in ISO 8601 with `Z` or an offset. */
export const epochMs = (instant: string): number =>
  Temporal.Instant.from(instant).epochMilliseconds;

/** The instant as records have it: ISO 8601 UTC with milliseconds. */
export const instantText = (ms: number): string =>
  Temporal.Instant.fromEpochMilliseconds(ms).toString({ smallestUnit: 'millisecond' });
