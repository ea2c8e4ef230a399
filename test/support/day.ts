/** Midnight of a day in UTC, as the API writes it: `2026-01-05` is `2026-01-05T00:00:00.000Z`. */
export const day = (text: string) => `${text}T00:00:00.000Z`;
