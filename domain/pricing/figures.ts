import { minorDigits } from '../currency.ts';
import { decimal, Decimal, decimalText } from '../money.ts';
import type { LineStep } from '../../schemas/explanation.ts';
import { shortInstant, spanText } from './span-text.ts';
import { withThousands } from './thousands.ts';

/** The reader of a printed explanation. */
export interface Reader {
  /** Zone of the dates. Default: UTC. */
  readonly timezone?: string;
  /** By id: the names of coupons, tax rates and wallets. An id without a name is printed itself. */
  readonly names?: ReadonlyMap<string, string>;
  /** Returns the character that stands before a rounded figure, given the exact one. Default: `≈`. */
  readonly mark?: (exact: string) => string;
}

/**
 * Stored figures as a person reads them. `≈` marks a figure that is rounded for the reader; the exact one
 * stays in the stored explanation.
 */
export interface Figures {
  /** At least the minor digits of the currency, at most 6 decimals. */
  money(exact: string): string;
  /** The price of a unit: as `money`, but a very small one keeps four significant digits. */
  price(exact: string): string;
  /** A quantity, a factor or a percentage: at most 6 decimals, no trailing zeros. */
  number(exact: string): string;
  instant(at: string): string;
  span(period: { readonly start: string; readonly end: string }): string;
  name(id: string): string;
}

/** Decimals that a reader gets at most. */
const DECIMALS_MAX = 6;
const PRICE_DIGITS_MIN = 4;

/** `digits`: the minor digits of the currency that the figures are in. */
export const figuresOf = (digits: number, { timezone = 'UTC', names, mark }: Reader): Figures => ({
  money: (exact) => shown(decimal(exact), digits, Math.max(digits, DECIMALS_MAX), mark),
  price: (exact) =>
    shown(decimal(exact), digits, Math.max(digits, priceDecimals(decimal(exact))), mark),
  number: (exact) => shown(decimal(exact), 0, DECIMALS_MAX, mark),
  instant: (at) => shortInstant(at, timezone),
  span: (period) => spanText(period, timezone),
  name: (id) => names?.get(id) ?? id,
});

/** Figures of the steps up to a conversion are in the custom currency, whose digits its rounding names. */
export function digitsOfSteps(steps: readonly LineStep[], currency: string): readonly number[] {
  const converted = steps.findIndex(({ step }) => step === 'conversion');
  const rounding = steps.slice(0, Math.max(converted, 0)).findLast(isRounding);
  const digits = minorDigits(currency);
  return steps.map((_, index) => (index <= converted ? (rounding?.decimals ?? digits) : digits));
}

const isRounding = (step: LineStep): step is Extract<LineStep, { step: 'rounding' }> =>
  step.step === 'rounding';

const priceDecimals = (exact: Decimal): number =>
  exact.isZero() ? DECIMALS_MAX : Math.max(DECIMALS_MAX, PRICE_DIGITS_MIN - 1 - exact.e);

/** With `least` to `most` decimals, half away from zero, and a comma between thousands. */
export function shown(
  exact: Decimal,
  least: number,
  most: number,
  mark: NonNullable<Reader['mark']> = () => '≈',
): string {
  const rounded = exact.toDecimalPlaces(most, Decimal.ROUND_HALF_UP);
  const text = rounded.toFixed(Math.max(least, rounded.decimalPlaces()));
  const unsigned = withThousands(rounded.isZero() ? text.replace('-', '') : text);
  return rounded.equals(exact) ? unsigned : `${mark(decimalText(exact))}${unsigned}`;
}

/** A stored word as a reader knows it: `MONTHLY` as `monthly`, `COUNT_UNIQUE` as `count unique`. */
export const inWords = (stored: string): string => stored.toLowerCase().replaceAll('_', ' ');
