import assert from 'node:assert/strict';
import { Decimal as DecimalJs } from 'decimal.js';
import { invalidField } from './errors.ts';

/**
 * The only configured Decimal. 40 significant digits (compute with 40, store numeric(38,18)). Rounds
 * half away from zero (decimal.js ROUND_HALF_UP does so for negatives too). Exponents are wide enough
 * that `toString` never prints `1e-7`.
 */
export const Decimal = DecimalJs.clone({
  precision: 40,
  rounding: DecimalJs.ROUND_HALF_UP,
  toExpNeg: -40,
  toExpPos: 60,
});
export type Decimal = DecimalJs;

export const ZERO: Decimal = new Decimal(0);
export const ONE: Decimal = new Decimal(1);

/** Digits that `numeric(38,18)` holds: the limit of every stored amount, rate and quantity. */
export const MAX_INTEGER_DIGITS = 20;
export const MAX_DECIMALS = 18;

/** Canonical decimal text: no exponent, no trailing zeros, no plus sign, `0` for zero (never `-0`). */
export function decimalText(value: Decimal): string {
  return value.isZero() ? '0' : value.toFixed();
}

/**
 * Parses text of a stored record (no exponent; trailing zeros allowed). Other text is a bug of the
 * caller: client input goes through `parseDecimal`.
 */
export function decimal(text: string): Decimal {
  assert(PLAIN_DECIMAL.test(text), `not decimal text: ${text}`);
  return new Decimal(text);
}

/**
 * Parses a client's number: plain decimal text (`-12.50`), or a finite JSON number of at most 15
 * significant digits, because a double keeps no more. At most 20 integer and 18 decimal digits.
 * Refuses with `validation_error`, naming `path` (money 1.1, 1.2).
 */
export function parseDecimal(input: string | number, path: string): Decimal {
  const text = typeof input === 'number' ? numberText(input, path) : input.trim();
  if (!PLAIN_DECIMAL.test(text))
    throw invalidField(path, 'must be a decimal number such as "12.50"');
  if (text.length > MAX_TEXT) throw outOfRange(path);
  const value = new Decimal(text);
  if (!isStorable(value)) throw outOfRange(path);
  return value.isZero() ? ZERO : value;
}

/** Whether `numeric(38,18)` keeps the value without loss. */
export function isStorable(value: Decimal): boolean {
  return (
    value.isFinite() && value.decimalPlaces() <= MAX_DECIMALS && value.abs().lt(STORABLE_BELOW)
  );
}

/** Rounds a quotient or product for storage: 18 decimals, half away from zero (money 1.2). */
export function roundToStorage(value: Decimal): Decimal {
  return value.toDecimalPlaces(MAX_DECIMALS);
}

/** The exact sum; zero for no values. */
export function sum(values: Iterable<Decimal>): Decimal {
  let total = ZERO;
  for (const value of values) total = total.plus(value);
  return total;
}

const PLAIN_DECIMAL = /^-?\d+(?:\.\d+)?$/;
const STORABLE_BELOW = new Decimal(10).pow(MAX_INTEGER_DIGITS);
/** Leaves room for redundant zeros. Prevents parsing a megabyte of digits. */
const MAX_TEXT = 100;

function numberText(input: number, path: string): string {
  if (!Number.isFinite(input)) throw invalidField(path, 'must be a finite number');
  const value = new Decimal(input);
  if (value.precision() > 15) {
    throw invalidField(path, 'has more than 15 significant digits: send it as a string');
  }
  return value.toFixed();
}

const outOfRange = (path: string) =>
  invalidField(
    path,
    `must have at most ${MAX_INTEGER_DIGITS} integer and ${MAX_DECIMALS} decimal digits`,
  );
