const HOUR_MS = 3_600_000;

/** The present hour: lists that compare with it are asked once, not at each render. */
export const isoNow = (): string =>
  new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS).toISOString();
