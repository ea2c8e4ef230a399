import { keptFormats } from './reader-formats.ts';

/** The language of everything that people read. */
export const LOCALE = 'en-US';

/** U+2212, as wide as a digit: a negative number stays aligned and cannot be taken for a hyphen. */
const MINUS = '\u2212';

const withMinus = (text: string): string => text.replace('-', MINUS);

const decimalFormat = keptFormats(
  (digits: number | null) =>
    new Intl.NumberFormat(LOCALE, {
      minimumFractionDigits: digits ?? 0,
      maximumFractionDigits: digits ?? 20,
    }),
);

/** Exact decimal text with separators: no digit is lost, however long it is. */
export const decimalForReaders = (value: string, digits?: number): string =>
  withMinus(decimalFormat(digits ?? null).format(value as `${number}`));

/** Throws a `RangeError` if the unit is no ISO currency. */
const moneyFormat = keptFormats((currency: string) => {
  const style = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const;
  const digits = new Intl.NumberFormat(LOCALE, style).resolvedOptions().maximumFractionDigits ?? 2;
  return new Intl.NumberFormat(LOCALE, {
    ...style,
    minimumFractionDigits: digits,
    maximumFractionDigits: 20,
  });
});

/**
 * Exact money: at least the digits of its currency, and all digits that the amount has (rates have more). A
 * unit that is no ISO currency is written after the number.
 */
export function moneyForReaders(amount: string, currency: string): string {
  try {
    return withMinus(moneyFormat(currency).format(amount as `${number}`));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${decimalForReaders(amount)} ${currency.toUpperCase()}`;
  }
}

const dayFormat = keptFormats(
  (zone: string) =>
    new Intl.DateTimeFormat('en-GB', {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      timeZone: zone,
    }),
);

/** A day of a zone: `21 Nov 2026`. */
export const dayForReaders = (at: string, zone: string): string =>
  dayFormat(zone).format(Date.parse(at));

const timeFormat = keptFormats(
  (zone: string, hasSeconds: boolean, hasMilliseconds: boolean) =>
    new Intl.DateTimeFormat('en-GB', {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      ...(hasSeconds || hasMilliseconds ? { second: '2-digit' as const } : {}),
      ...(hasMilliseconds ? { fractionalSecondDigits: 3 as const } : {}),
      hourCycle: 'h23',
      timeZone: zone,
      timeZoneName: 'short',
    }),
);

/** A point in time with the name of its zone: `21 Nov 2026, 12:00 UTC`. */
export const timeForReaders = (
  at: string,
  zone: string,
  { seconds = false, milliseconds = false }: { seconds?: boolean; milliseconds?: boolean } = {},
): string => timeFormat(zone, seconds, milliseconds).format(Date.parse(at));
