/** The only source of "now". Tests hand in one that moves when told to. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601 in UTC with milliseconds, as every record and answer carries it. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
