import { Decimal, MAX_DECIMALS, MAX_INTEGER_DIGITS } from './money.ts';

/**
 * A property of an event as parsed from JSON. Numbers are exact: ingest refuses more than 15 significant
 * digits, and a double keeps 15.
 */
export type JsonValue = unknown;

/** Why an event that passes a meter's filters does not count (metering 6). */
export const UNMETERED_REASONS = [
  'value_missing', 'value_not_numeric', 'value_out_of_range', 'expression_failed',
] as const; // prettier-ignore
export type UnmeteredReason = (typeof UNMETERED_REASONS)[number];

/**
 * Text of a JSON scalar: a string unchanged, a number as canonical decimal text, `true`, `false`.
 * Returns null for null, an object, a list and an absent property. An inherited member (a property named
 * `constructor`) is never a scalar, so a look-up cannot leave the event.
 */
export function scalarText(value: JsonValue): string | null {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return numberText(value);
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      return null;
  }
}

/**
 * Canonical decimal text of a number or a numeric string. Returns null for other types and for values that
 * `numeric(38,18)` cannot hold; `whyNotNumeric` tells these cases apart. A numeric string is a JSON
 * number, optionally surrounded by spaces.
 */
export function numericText(value: JsonValue): string | null {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value === 0 ? '0' : String(value);
    const text = numberText(value);
    return text !== null && fits(text) ? text : null;
  }
  if (typeof value !== 'string') return null;
  if (CANONICAL.test(value)) return value === '-0' ? '0' : value;
  const text = canonicalText(value);
  return text !== null && fits(text) ? text : null;
}

/** The reason why `numericText` returned null. */
export function whyNotNumeric(value: JsonValue): UnmeteredReason {
  if (value === undefined || value === null) return 'value_missing';
  if (typeof value === 'number') return 'value_out_of_range';
  if (typeof value !== 'string') return 'value_not_numeric';
  const numeric =
    value.length > MAX_NUMERIC_LENGTH ? LIKE_A_NUMBER.test(value) : NUMERIC.test(value.trim());
  return numeric ? 'value_out_of_range' : 'value_not_numeric';
}

/** The form most senders use; it needs no conversion: no plus sign, no redundant zeros, no exponent. */
const CANONICAL = /^-?(?:0|[1-9]\d{0,19})(?:\.\d{0,17}[1-9])?$/;
const NUMERIC = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,4})?$/;
const LIKE_A_NUMBER = /^-?\d/;
/**
 * Well above 38 digits with redundant zeros; the limit exists because parsing a decimal is quadratic in its
 * length.
 */
const MAX_NUMERIC_LENGTH = 100;

function numberText(value: number): string | null {
  const text = String(value);
  if (text === '0' || text === '-0') return '0';
  if (!Number.isFinite(value)) return null;
  return text.includes('e') ? new Decimal(text).toFixed() : text;
}

function canonicalText(value: string): string | null {
  if (value.length > MAX_NUMERIC_LENGTH) return null;
  const text = value.trim();
  if (!NUMERIC.test(text)) return null;
  const number = new Decimal(text);
  if (number.isZero()) return '0';
  // Checked before `toFixed` writes the digits: 1e-9999 has ten thousand of them.
  return number.e < MAX_INTEGER_DIGITS && number.decimalPlaces() <= MAX_DECIMALS
    ? number.toFixed()
    : null;
}

/** Whether canonical text has at most 20 integer and 18 decimal digits. */
function fits(text: string): boolean {
  const point = text.indexOf('.');
  const integer = (point < 0 ? text.length : point) - (text.startsWith('-') ? 1 : 0);
  const decimals = point < 0 ? 0 : text.length - point - 1;
  return integer <= MAX_INTEGER_DIGITS && decimals <= MAX_DECIMALS;
}

/** Properties of an event. */
export type Properties = Readonly<Record<string, JsonValue>>;
