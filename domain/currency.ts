import assert from 'node:assert/strict';
import { Decimal, ZERO } from './money.ts';

/**
 * An ISO 4217 code in any letter case, or the record that defines a tenant's custom currency or pricing unit.
 */
export type Currency = string | CustomCurrency;

export interface CustomCurrency {
  readonly code: string;
  readonly symbol: string;
  /** Decimals of its smallest amount; absent or null = 2 (billing 0.4). */
  readonly precision?: number | null;
}

/** Decimals of the currency's minor unit: 0, 2, 3 or 4 by ISO 4217, 2 for an unknown code (billing 0.4). */
export function minorDigits(currency: Currency): number {
  if (typeof currency === 'string') return MINOR_DIGITS.get(currency.toLowerCase()) ?? 2;
  const digits = currency.precision ?? 2;
  assert(Number.isInteger(digits) && digits >= 0 && digits <= 18, `precision ${digits}`);
  return digits;
}

/** Whether the code, in any letter case, is an ISO 4217 code. Custom codes must not be (money 12.3). */
export function isIsoCurrency(code: string): boolean {
  return ISO_CODES.has(code.toLowerCase());
}

/** The nearest amount in minor units, ties away from zero, never `-0` (billing 0.3, money 1.4). */
export function roundToCurrency(amount: Decimal, currency: Currency): Decimal {
  assert(amount.isFinite(), 'amount is not finite');
  const rounded = amount.toDecimalPlaces(minorDigits(currency), Decimal.ROUND_HALF_UP);
  return rounded.isZero() ? ZERO : rounded;
}

/** Whether the amount is a whole number of minor units. */
export function isRounded(amount: Decimal, currency: Currency): boolean {
  return amount.decimalPlaces() <= minorDigits(currency);
}

/**
 * Splits a rounded amount in proportion to the weights. Returns one part per weight; each part is a whole
 * number of minor units, and the parts sum exactly to the amount. Each share is rounded down; the units
 * left over go to the largest remainders, ties to the earlier line (billing 0.6).
 *
 * Weights are not negative. When they are rounded amounts that sum to at least |amount|, no part is
 * larger than its weight. A negative amount is split as its absolute value; then the sign is restored.
 * Only zero can be split over weights that are all zero.
 */
export function allocate(
  amount: Decimal,
  weights: readonly Decimal[],
  currency: Currency,
): Decimal[] {
  assert(isRounded(amount, currency), `${amount.toFixed()} is not in minor units`);
  assert(
    weights.every((weight) => weight.isFinite() && weight.gte(0)),
    'a weight is negative',
  );
  if (amount.isZero()) return weights.map(() => ZERO);

  const digits = minorDigits(currency);
  const units = scaled(amount.abs(), digits);
  const scale = Math.max(...weights.map((weight) => weight.decimalPlaces()));
  const shares = weights.map((weight) => scaled(weight, scale));
  const total = shares.reduce((left, right) => left + right, 0n);
  assert(total > 0n, 'all weights are zero');

  const parts = shares.map((share) => (units * share) / total);
  const remainders = shares.map((share) => (units * share) % total);
  let left = units - parts.reduce((one, other) => one + other, 0n);
  for (const index of byRemainder(remainders)) {
    if (left === 0n) break;
    parts[index] = parts[index]! + 1n;
    left -= 1n;
  }
  return parts.map((part) => (part === 0n ? ZERO : unscaled(amount.lt(0) ? -part : part, digits)));
}

/**
 * Symbol, then the amount with all its stored decimals, at least the currency's minor digits:
 * `$12.50`, `$0.0004`, `¥1000`, `-$3.00`. An unknown code, in upper case, replaces the symbol (billing 2.6).
 */
export function displayAmount(amount: Decimal, currency: Currency): string {
  const digits = Math.max(minorDigits(currency), amount.decimalPlaces());
  const sign = amount.lt(0) ? '-' : '';
  return `${sign}${currencySymbol(currency)}${amount.abs().toFixed(digits)}`;
}

export function currencySymbol(currency: Currency): string {
  if (typeof currency !== 'string') return currency.symbol;
  return SYMBOLS.get(currency.toLowerCase()) ?? currency.toUpperCase();
}

function byRemainder(remainders: readonly bigint[]): number[] {
  return remainders
    .map((_, index) => index)
    .sort((left, right) => {
      const difference = remainders[right]! - remainders[left]!;
      return difference > 0n ? 1 : difference < 0n ? -1 : left - right;
    });
}

/**
 * Integers, because shares and remainders must be exact: a product of two amounts can need more than 40
 * digits.
 */
const scaled = (value: Decimal, digits: number): bigint =>
  BigInt(value.toFixed(digits).replace('.', ''));
const unscaled = (units: bigint, digits: number): Decimal => new Decimal(`${units}e-${digits}`);

const codes = (list: string): string[] => list.trim().split(/\s+/);

/** ISO 4217: active currencies, and funds with a minor unit. */
const ISO_CODES: ReadonlySet<string> = new Set(
  codes(`
    aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob bov brl bsd btn bwp byn bzd
    cad cdf che chf chw clf clp cny cop cou crc cup cve czk djf dkk dop dzd egp ern etb eur fjd fkp gbp gel
    ghs gip gmd gnf gtq gyd hkd hnl htg huf idr ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd
    kyd kzt lak lbp lkr lrd lsl lyd mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn mxv myr mzn nad ngn nio
    nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd scr sdg sek sgd shp sle sos srd
    ssp stn svc syp szl thb tjs tmt tnd top try ttd twd tzs uah ugx usd usn uyi uyu uyw uzs ved ves vnd vuv
    wst xad xaf xcd xcg xof xpf yer zar zmw zwg`),
);

const MINOR_DIGITS: ReadonlyMap<string, number> = new Map([
  ...codes('bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf').map(
    (code) => [code, 0] as const,
  ),
  ...codes('bhd iqd jod kwd lyd omr tnd').map((code) => [code, 3] as const),
  ...codes('clf uyw').map((code) => [code, 4] as const),
]);

const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['usd', '$'], ['eur', '€'], ['gbp', '£'], ['jpy', '¥'], ['inr', '₹'], ['cny', 'CN¥'], ['krw', '₩'],
  ['aud', 'A$'], ['cad', 'CA$'], ['nzd', 'NZ$'], ['hkd', 'HK$'], ['sgd', 'S$'], ['twd', 'NT$'],
  ['mxn', 'MX$'], ['brl', 'R$'], ['clp', 'CLP$'], ['vnd', '₫'], ['thb', '฿'], ['php', '₱'],
  ['ils', '₪'], ['ngn', '₦'], ['uah', '₴'], ['try', '₺'], ['pln', 'zł'], ['czk', 'Kč'],
  ['huf', 'Ft'], ['idr', 'Rp'], ['myr', 'RM'], ['zar', 'R'],
]); // prettier-ignore
