import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { text } from './primitives.ts';

/**
 * A name of the IANA database, for example `Europe/Berlin`, in any letter case; returned as the database
 * writes it. `UTC` is accepted. Abbreviations such as `IST` are refused: several countries share them.
 */
export const timezone = text(64).transform(ianaName);

/** Checked with the calendar that computes periods: billing needs a zone that this calendar knows. */
function ianaName(zone: string, context: z.core.$RefinementCtx): string {
  if (/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(zone))
    try {
      return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId;
    } catch {
      // Unknown zone.
    }
  const message = 'must be a time zone of the IANA database';
  context.issues.push({ code: 'custom', message, input: zone });
  return z.NEVER;
}
