import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { BILLING_PERIODS } from './words.ts';

/** Text of a field that a person writes. Empty text is text; `null` is not. */
export const text = (lengthMax = 255) => z.string().max(lengthMax);

/** Text that says something: surrounding space is dropped, and what remains is not empty. */
export const name = (lengthMax = 255) => z.string().trim().min(1, 'is required').max(lengthMax);

/** A reference to a record. Opaque: nothing may be read out of it. */
export const id = z.string().min(1).max(255);

/** An integer that Postgres keeps in four bytes. */
export const integer = z.int32();

const DECIMAL = /^([+-]?)0*(\d{1,20})(?:\.(\d{1,18})0{0,40})?$/;
const NUMBER_DIGITS_MAX = 15;

/**
 * A decimal as canonical text (`10.50` and `10.5` are the same). Numbers are accepted with at most 15
 * significant digits, because a JSON number with more has lost some on its way; exponents are not.
 * At most 20 digits before the point and 18 after it. Signs and ranges are the caller's to bound.
 */
export const decimal = z
  .union([z.string(), z.number()], { error: 'expected a decimal as text, for example "12.5"' })
  .transform(canonicalDecimal);

export const nonNegativeDecimal = decimal.refine((value) => !value.startsWith('-'), {
  message: 'must not be negative',
});

const isPositive = (value: string): boolean => !value.startsWith('-') && /[1-9]/.test(value);
const mustBePositive = { message: 'must be above 0' };
export const positiveDecimal = decimal.refine(isPositive, mustBePositive);

/** Of a number that must not have passed through a JSON number, such as a rate. */
export const positiveDecimalText = z
  .string()
  .transform(canonicalDecimal)
  .refine(isPositive, mustBePositive);

function canonicalDecimal(value: string | number, context: z.core.$RefinementCtx): string {
  const written = typeof value === 'number' ? numberText(value) : value.trim();
  const match = written === null ? null : DECIMAL.exec(written);
  if (match === null) {
    const message =
      typeof value === 'number'
        ? 'a number may have at most 15 digits; send the decimal as text'
        : 'is no decimal of at most 20 digits before the point and 18 after it';
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  }
  const fraction = (match[3] ?? '').replace(/0+$/, '');
  const digits = fraction === '' ? match[2]! : `${match[2]}.${fraction}`;
  return match[1] === '-' && /[1-9]/.test(digits) ? `-${digits}` : digits;
}

function numberText(value: number): string | null {
  const written = String(value);
  const digits = written.replace(/e.*$/, '').replace(/[-.]/g, '').replace(/^0+/, '');
  if (digits.length > NUMBER_DIGITS_MAX || Math.abs(value) >= 1e15) return null;
  // Below 1e-6 JavaScript prints an exponent, and `toFixed` the noise of the double.
  const [mantissa = '', exponent] = written.split('e-');
  if (exponent === undefined) return written;
  const sign = mantissa.startsWith('-') ? '-' : '';
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${mantissa.replace(/[-.]/g, '')}`;
}

/**
 * An instant with `Z` or an offset, as UTC with milliseconds. Local times are refused: whose would they
 * be? Years 1900 to 9998.
 */
export const time = z.iso
  .datetime({ offset: true, abort: true, error: 'expected a time such as 2026-03-01T00:00:00Z' })
  .refine((value) => value >= '1900' && value < '9999', { message: 'is out of range' })
  .transform((value) => new Date(value).toISOString());

/** A three-letter code, put into lower case. A custom currency has a code of the same form. */
export const currency = z
  .string()
  .regex(/^[A-Za-z0-9]{3}$/, 'expected a currency code of three letters')
  .transform((code) => code.toLowerCase());

/** Free key-value pairs of text. */
export const metadata = z
  .record(z.string().max(255), z.string().max(10_000), {
    error: (issue) => (issue.code === 'invalid_key' ? 'a key is too long' : undefined),
  })
  .refine((value) => Object.keys(value).length <= 256, { message: 'has more than 256 keys' });

/** Absent stays absent (an update leaves the field alone); null and empty text both clear it. */
const cleared = (value: string | null | undefined): string | null | undefined =>
  value === '' ? null : value;

export const optionalText = (lengthMax = 255) => text(lengthMax).nullish().transform(cleared);
/** What somebody is called, if they are: surrounding space is dropped, and nothing but space is nothing. */
export const optionalName = (lengthMax = 255) =>
  z.string().trim().max(lengthMax).nullish().transform(cleared);
export const optionalId = id.or(z.literal('')).nullish().transform(cleared);
export const lookupKey = z.string().trim().max(255);
export const optionalLookupKey = lookupKey.nullish().transform(cleared);

/** Absent stays absent; null is no pairs. */
export const optionalMetadata = metadata
  .nullish()
  .transform((value) => (value === null ? {} : value));

/**
 * A name of the IANA database, for example `Europe/Berlin`, in any letter case and as the database writes
 * it; `UTC` too. Abbreviations such as `IST` are no names: several countries have one of their own.
 */
export const timezone = z.string().max(64).transform(ianaName);

/** Asked of the calendar that periods are counted with: what it does not know, nothing can be billed in. */
function ianaName(zone: string, context: z.core.$RefinementCtx): string {
  if (/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(zone))
    try {
      return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId;
    } catch {
      // No such zone.
    }
  const message = 'is no time zone of the IANA database';
  context.issues.push({ code: 'custom', message, input: zone });
  return z.NEVER;
}

/** One of the words, or nothing: null and empty text both say nothing. */
export const optionalOneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z
    .enum(words)
    .or(z.literal('').transform(() => null))
    .nullish();

export const billingPeriod = z.enum(BILLING_PERIODS);
export const recurringPeriod = billingPeriod.exclude(['ONETIME']);

/** `published`, and after a delete `deleted` or `archived`. */
export const STATUSES = ['published', 'deleted', 'archived'] as const;
export const status = z.enum(STATUSES);

/** An instant in an answer: ISO 8601, UTC, milliseconds. */
export const instant = z.iso.datetime();

/** A decimal in an answer, canonical text. */
export const decimalText = z.string();

/** What every record carries (specification, conventions 6). */
export const recordFields = {
  id: z.string(),
  tenant_id: z.string(),
  environment_id: z.string(),
  status,
  created_at: instant,
  updated_at: instant,
  created_by: z.string(),
  updated_by: z.string(),
};

/** Parameters of a route about one record. */
export const IdParams = z.object({ id });

/** The answer to an action that has nothing else to say. */
export const Message = z.object({ message: z.string() });
