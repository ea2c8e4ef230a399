/** The language of the console. Numbers are written as its readers expect them. */
export const LOCALE = 'en-US';

/** U+2212, as wide as a digit: a negative number stays aligned and cannot be taken for a hyphen. */
const MINUS = '\u2212';

const withMinus = (text: string): string => text.replace('-', MINUS);

/** Exact decimal text with separators: no digit is lost, however long it is. */
export function formatDecimal(value: string, digits?: number): string {
  const format = new Intl.NumberFormat(LOCALE, {
    minimumFractionDigits: digits ?? 0,
    maximumFractionDigits: digits ?? 20,
  });
  return withMinus(format.format(value as `${number}`));
}

/**
 * Exact money: at least the digits of its currency, and all digits that the amount has (rates have more). A
 * unit that is no ISO currency is written after the number.
 */
export function formatMoney(amount: string, currency: string): string {
  try {
    const format = new Intl.NumberFormat(LOCALE, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
    });
    const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
    const exact = new Intl.NumberFormat(LOCALE, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: digits,
      maximumFractionDigits: 20,
    });
    return withMinus(exact.format(amount as `${number}`));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${formatDecimal(amount)} ${currency.toUpperCase()}`;
  }
}

/** A point in time with the name of its zone: `21 Nov 2026, 12:00 UTC`. */
export function formatTime(at: string, zone: string, options?: { seconds?: boolean }): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    ...(options?.seconds === true ? { second: '2-digit' } : {}),
    hourCycle: 'h23',
    timeZone: zone,
    timeZoneName: 'short',
  });
  return format.format(new Date(at));
}

/** A day of a zone: `21 Nov 2026`. */
export const formatDay = (at: string, zone: string): string =>
  new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: zone,
  }).format(new Date(at));

/** `PARTIALLY_REFUNDED` as `Partially refunded`. */
export function formatWord(word: string): string {
  const text = word.toLowerCase().replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
