import { z } from 'zod';
import { withoutTrailing } from './digits.ts';
import { BILLING_PERIODS } from './words.ts';

/**
 * Text written by a person. Empty text is valid; `null` is not. The length is checked first, and no further
 * check reads a text that is too long: the cost of a pattern can grow faster than its text.
 * Every text of a request uses this, `name` or `matching`.
 */
export const text = (lengthMax = 255, tooLong?: string) =>
  z.string().max(lengthMax, { abort: true, ...(tooLong === undefined ? {} : { error: tooLong }) });

/** Text that is not empty after surrounding space is removed. */
export const name = (lengthMax = 255) =>
  z.string().trim().min(1, 'is required').max(lengthMax, { abort: true });

/** Text of a given form. `expected` is the message for every other text, including text that is too long. */
export const matching = (pattern: RegExp, lengthMax: number, expected: string) =>
  text(lengthMax, expected).regex(pattern, expected);

/** A reference to a record. Opaque: clients must not parse it. */
export const id = text().min(1);

/**
 * Pairs with keys that the caller chooses. If there are too many, none is checked: each wrong pair would be
 * a separate problem.
 */
export const pairs = <Value extends z.ZodType>(
  value: Value,
  keysMax: number,
  key: z.ZodType<string, string> = text(),
) =>
  z.preprocess(
    (given, context) => {
      if (typeof given !== 'object' || given === null || Object.keys(given).length <= keysMax)
        return given;
      context.issues.push({
        code: 'custom',
        message: `has more than ${keysMax} keys`,
        input: given,
      });
      return z.NEVER;
    },
    z.record(key, value, {
      error: (issue) => (issue.code === 'invalid_key' ? 'a key is too long' : undefined),
    }),
  );

/** An integer that fits Postgres `integer` (four bytes). */
export const integer = z.int32();

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?$/;
const DECIMAL_LENGTH_MAX = 100;
const INTEGER_DIGITS_MAX = 20;
const FRACTION_DIGITS_MAX = 18;
const NO_DECIMAL = 'must be a decimal with at most 20 digits before the point and 18 after it';
const NUMBER_DIGITS_MAX = 15;

/**
 * A decimal as canonical text (`10.50` and `10.5` are the same). Numbers are accepted with at most 15
 * significant digits, because a JSON number with more has already lost digits. Exponents are refused.
 * At most 20 digits before the point and 18 after it. The caller checks sign and range.
 */
export const decimal = z
  .union([text(DECIMAL_LENGTH_MAX), z.number()], {
    error: ({ input }) =>
      typeof input === 'string' ? NO_DECIMAL : 'expected a decimal as text, for example "12.5"',
  })
  .transform(canonicalDecimal);

export const nonNegativeDecimal = decimal.refine((value) => !value.startsWith('-'), {
  message: 'must not be negative',
});

const isPositive = (value: string): boolean => !value.startsWith('-') && /[1-9]/.test(value);
const mustBePositive = { message: 'must be above 0' };
export const positiveDecimal = decimal.refine(isPositive, mustBePositive);

/** For a number that must not be sent as a JSON number, for example a rate. */
export const positiveDecimalText = text(DECIMAL_LENGTH_MAX, NO_DECIMAL)
  .transform(canonicalDecimal)
  .refine(isPositive, mustBePositive);

function canonicalDecimal(value: string | number, context: z.core.$RefinementCtx): string {
  const written = typeof value === 'number' ? numberText(value) : value.trim();
  const digits = written === null ? null : canonicalDigits(written);
  if (digits === null) {
    const message =
      typeof value === 'number'
        ? 'a number may have at most 15 digits; send the decimal as text'
        : NO_DECIMAL;
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  }
  return digits;
}

/** Null for text that is not a decimal, or has more digits than are stored. */
function canonicalDigits(written: string): string | null {
  const [, sign, whole, decimals = ''] = DECIMAL.exec(written) ?? [];
  if (whole === undefined) return null;
  const integer = whole.replace(/^0+/, '') || '0';
  const fraction = withoutTrailing(decimals, '0');
  if (integer.length > INTEGER_DIGITS_MAX || fraction.length > FRACTION_DIGITS_MAX) return null;
  const digits = fraction === '' ? integer : `${integer}.${fraction}`;
  return sign === '-' && /[1-9]/.test(digits) ? `-${digits}` : digits;
}

function numberText(value: number): string | null {
  const written = String(value);
  // Below 1e-6 JavaScript prints an exponent, and `toFixed` prints the error of the double.
  const [mantissa = '', exponent] = written.split('e-');
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '');
  if (digits.length > NUMBER_DIGITS_MAX || Math.abs(value) >= 1e15) return null;
  if (exponent === undefined) return written;
  const sign = mantissa.startsWith('-') ? '-' : '';
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${mantissa.replace(/[-.]/g, '')}`;
}

const TIME_LENGTH_MAX = 64;
const NO_TIME = 'expected a time such as 2026-03-01T00:00:00Z';

/**
 * An instant with `Z` or an offset, converted to UTC with milliseconds. Local times are refused: their zone
 * is unknown. Years 1900 to 9998.
 */
export const time = text(TIME_LENGTH_MAX, NO_TIME)
  .check(z.iso.datetime({ offset: true, abort: true, error: NO_TIME }))
  .refine((value) => value >= '1900' && value < '9999', { message: 'is out of range' })
  .transform((value) => new Date(value).toISOString());

/**
 * When a subscription or a pause begins or ends. Periods of up to 1200 years begin there and must end in a
 * four-digit year.
 */
export const plannedDate = time.refine((value) => value < '3000', {
  message: 'must be before the year 3000',
});

/** A three-letter code, converted to lower case. A custom currency has a code of the same form. */
export const currency = matching(
  /^[A-Za-z0-9]{3}$/,
  3,
  'expected a currency code of three letters',
).transform((code) => code.toLowerCase());

/** Free key-value pairs of text. */
export const metadata = pairs(text(10_000), 256);

/** Letters of every script are allowed where a Latin letter is (RFC 6531). */
const isEmail = (value: string): boolean =>
  z.regexes.email.test(
    value.replace(/[^\0-\x7f]/gu, (letter) => (LETTER.test(letter) ? 'a' : ' ')),
  );
const LETTER = /[\p{L}\p{M}\p{N}]/u;

/** A mail address; only its form is checked. */
export const email = text().refine(isEmail, 'must be an e-mail address').meta({ format: 'email' });

/** Absent stays absent (an update does not change the field); null and empty text both clear it. */
const cleared = (value: string | null | undefined): string | null | undefined =>
  value === '' ? null : value;

/** Text that is stored as it was written; text of only spaces is empty (api 37). */
export const optionalText = (lengthMax = 255) =>
  text(lengthMax)
    .nullish()
    .transform((value) => (value?.trim() === '' ? null : value));
/** An optional name: surrounding space is removed; a name of only spaces clears it. */
export const optionalName = (lengthMax = 255) =>
  z.string().trim().max(lengthMax, { abort: true }).nullish().transform(cleared);
export const lookupKey = z.string().trim().max(255, { abort: true });
export const optionalLookupKey = lookupKey.nullish().transform(cleared);

/** Absent stays absent; null means no pairs. */
export const optionalMetadata = metadata
  .nullish()
  .transform((value) => (value === null ? {} : value));

/** A choice that may be left open: null and empty text both mean unset (api 37). */
export const optionalChoice = <Choice extends z.ZodType<string>>(choice: Choice) =>
  choice.or(z.literal('').transform(() => null)).nullish();

export const optionalId = optionalChoice(id);

/** One of the words, or unset. */
export const optionalOneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  optionalChoice(z.enum(words));

export const billingPeriod = z.enum(BILLING_PERIODS);
export const recurringPeriod = billingPeriod.exclude(['ONETIME']);

/** `published`, and after a delete `deleted` or `archived`. */
export const STATUSES = ['published', 'deleted', 'archived'] as const;
export const status = z.enum(STATUSES);

/** An instant in an answer: ISO 8601, UTC, milliseconds. */
export const instant = z.iso.datetime();

/** A decimal in an answer, canonical text. */
export const decimalText = z.string();

/** Fields of every record (specification, conventions 6). */
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

/** Parameters of a route for one record. */
export const IdParams = z.object({ id });

/** The answer to an action without other data. */
export const Message = z.object({ message: z.string() });

const emptyWhenUnsetSchemas = new WeakSet<z.ZodType>();

/**
 * A text that an answer shows as "" when unset (api 37). Rows and code hold null;
 * `platform/http/empty-texts.ts` replaces it when the answer is sent.
 */
export function emptyWhenUnset<Text extends z.ZodString | z.ZodEnum>(
  text: Text,
): z.ZodNullable<Text> {
  const filled = text instanceof z.ZodEnum ? z.enum([...(text.options as string[]), '']) : text;
  const schema = filled.nullable();
  emptyWhenUnsetSchemas.add(schema);
  return schema as unknown as z.ZodNullable<Text>;
}

export const isEmptyWhenUnset = (schema: z.ZodType): boolean => emptyWhenUnsetSchemas.has(schema);

/** Plain text, "" when unset. */
export const textOrEmpty = emptyWhenUnset(z.string());
