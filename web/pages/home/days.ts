const DAY_MS = 86_400_000;

const text = (ms: number): string => new Date(ms).toISOString();

export interface Days {
  /** The day as `YYYY-MM-DD`, and its first instant. */
  readonly date: string;
  readonly start: string;
  readonly end: string;
  readonly startOfYesterday: string;
  readonly startOfMonth: string;
}

/** The UTC day that contains the instant, the day before it, and the start of its month. */
export function daysAt(nowMs: number): Days {
  const startMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const start = text(startMs);
  return {
    date: start.slice(0, 10),
    start,
    end: text(startMs + DAY_MS),
    startOfYesterday: text(startMs - DAY_MS),
    startOfMonth: `${start.slice(0, 7)}-01T00:00:00.000Z`,
  };
}
