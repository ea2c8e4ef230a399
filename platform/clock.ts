/** The only source of the current time. Tests pass a clock that they move. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601 in UTC with milliseconds, the format of all records and answers. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
