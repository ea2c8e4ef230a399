import { DateTime } from 'luxon';
import { roundToCurrency } from '../../domain/currency.ts';
import { Decimal } from '../../domain/money.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** What an operation answers: JSON, with `Decimal` welcome wherever a decimal is asked for. */
export type Answer =
  | null
  | undefined
  | boolean
  | number
  | string
  | Decimal
  | InAnyOrder
  | ToDecimals
  | readonly Answer[]
  | { readonly [key: string]: Answer };

/** A list whose order the case does not fix. */
export class InAnyOrder {
  readonly items: readonly Answer[];
  constructor(items: readonly Answer[]) {
    this.items = items;
  }
}
export const inAnyOrder = (items: readonly Answer[]): InAnyOrder => new InAnyOrder(items);

/** A decimal that is compared after both sides are rounded to `decimals`. */
export class ToDecimals {
  readonly value: Decimal;
  readonly decimals: number;
  constructor(value: Decimal, decimals: number) {
    this.value = value;
    this.decimals = decimals;
  }
}
export const toDecimals = (value: Decimal, decimals: number): ToDecimals =>
  new ToDecimals(value, decimals);

export interface Difference {
  readonly path: string;
  readonly expected: string;
  readonly actual: string;
}

interface Rounding {
  readonly decimals: number | null;
  /** Round ours to this currency first (`rounding: "currency"`). */
  readonly currency: string | null;
}

/**
 * Every difference between what a case lists and what was answered: decimals as decimals, instants
 * as instants, listed keys only, `null` and absent alike. In a listed object `decimals` and
 * `rounding` say how its decimals are compared and are not looked up in the answer.
 */
export function differences(expected: JsonObject, actual: Answer, currency = 'usd'): Difference[] {
  const found: Difference[] = [];
  compare(expected, actual, '', { decimals: null, currency: null }, currency, found);
  return found;
}

function compare(
  expected: Json,
  actual: Answer,
  path: string,
  rounding: Rounding,
  currency: string,
  found: Difference[],
): void {
  const differs = () => found.push({ path, expected: show(expected), actual: show(actual) });
  if (expected === null) {
    if (actual !== null && actual !== undefined) differs();
  } else if (Array.isArray(expected)) {
    const items = actual instanceof InAnyOrder ? actual.items : actual;
    if (!Array.isArray(items) || items.length !== expected.length) differs();
    else if (actual instanceof InAnyOrder) {
      if (!matchesInSomeOrder(expected, items, rounding, currency)) differs();
    } else {
      expected.forEach((item, index) =>
        compare(item, items[index], `${path}[${index}]`, rounding, currency, found),
      );
    }
  } else if (typeof expected === 'object') {
    if (!isAnswerObject(actual)) differs();
    else {
      const inner = roundingOf(expected, rounding, currency);
      for (const key of Object.keys(expected)) {
        if (isRoundingKey(expected, key)) continue;
        const at = path === '' ? key : `${path}.${key}`;
        compare(expected[key]!, actual[key], at, inner, currency, found);
      }
    }
  } else if (!sameScalar(expected, actual, rounding)) differs();
}

function matchesInSomeOrder(
  expected: readonly Json[],
  actual: readonly Answer[],
  rounding: Rounding,
  currency: string,
): boolean {
  const left = [...actual];
  return expected.every((item) => {
    const index = left.findIndex((candidate) => {
      const found: Difference[] = [];
      compare(item, candidate, '', rounding, currency, found);
      return found.length === 0;
    });
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
}

function sameScalar(
  expected: boolean | number | string,
  actual: Answer,
  rounding: Rounding,
): boolean {
  if (typeof expected === 'boolean') return actual === expected;
  const wanted = asDecimal(expected);
  if (wanted !== null) {
    const got = actual instanceof ToDecimals ? actual.value : asDecimal(actual);
    if (got === null) return false;
    const decimals = actual instanceof ToDecimals ? actual.decimals : rounding.decimals;
    if (decimals !== null) {
      return got.toDecimalPlaces(decimals).eq(wanted.toDecimalPlaces(decimals));
    }
    return (rounding.currency === null ? got : roundToCurrency(got, rounding.currency)).eq(wanted);
  }
  if (typeof expected === 'string' && typeof actual === 'string') {
    const instant = asInstant(expected);
    return instant === null ? actual === expected : asInstant(actual) === instant;
  }
  return false;
}

function isRoundingKey(expected: JsonObject, key: string): boolean {
  return (
    (key === 'decimals' && typeof expected[key] === 'number') ||
    (key === 'rounding' && (expected[key] === 'none' || expected[key] === 'currency'))
  );
}

function roundingOf(expected: JsonObject, outer: Rounding, currency: string): Rounding {
  const decimals = typeof expected['decimals'] === 'number' ? expected['decimals'] : outer.decimals;
  return { decimals, currency: expected['rounding'] === 'currency' ? currency : outer.currency };
}

function asDecimal(value: Answer): Decimal | null {
  if (Decimal.isDecimal(value)) return value as Decimal;
  if (typeof value === 'number') return new Decimal(value);
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? new Decimal(value) : null;
}

/** Milliseconds with the source's finer digits kept as text, so that .9999 and .999 differ. */
function asInstant(text: string): string | null {
  const parts = /^(\d{4}-\d\d-\d\dT[\d:]+)(\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(text);
  if (parts === null) return null;
  const seconds = DateTime.fromISO(`${parts[1]}${parts[3]}`, { zone: 'utc' }).toSeconds();
  return `${seconds}${(parts[2] ?? '').replace(/\.?0*$/, '')}`;
}

function isAnswerObject(value: Answer): value is { readonly [key: string]: Answer } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !Decimal.isDecimal(value) &&
    !(value instanceof InAnyOrder) &&
    !(value instanceof ToDecimals)
  );
}

function show(value: Answer): string {
  const text = JSON.stringify(value, (_key, item: unknown) => {
    if (item instanceof InAnyOrder) return item.items;
    if (item instanceof ToDecimals) return item.value.toFixed();
    return item;
  });
  return text === undefined ? 'nothing' : text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
