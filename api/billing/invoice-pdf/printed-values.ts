import { displayAmount } from '../../../domain/currency.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import { civilDate, dayNumber } from '../../../domain/time/civil.ts';
import { epochMs } from '../../../domain/time/instant.ts';
import { zoneOf } from '../../../domain/time/zone.ts';

/** Decimals of a quantity on paper. The annex and the API have the exact value. */
const QUANTITY_DECIMALS = 6;

/** `$1,234.50`: every stored decimal, at least the minor digits of the currency. */
export const printedAmount = (text: string, currency: string): string =>
  grouped(displayAmount(decimal(text), currency));

/** At most 6 decimals; `≈` marks a rounded value. */
export function printedQuantity(text: string): string {
  const exact = decimal(text);
  const rounded = exact.toDecimalPlaces(QUANTITY_DECIMALS);
  return `${rounded.equals(exact) ? '' : '≈ '}${grouped(decimalText(rounded))}`;
}

/** Groups the digits before the decimal point in thousands; a sign or a symbol may come first. */
function grouped(text: string): string {
  const [whole = '', ...rest] = text.split('.');
  const first = whole.search(/\d/);
  const digits = whole.slice(first);
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3)
    groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return [whole.slice(0, first) + groups.join(','), ...rest].join('.');
}

/**
 * `22 November 2026` in the time zone. Not from the ICU data of Node: another version would give other bytes.
 */
export function printedDay(instant: string, timezone: string): string {
  const { year, month, day } = civilDate(dayNumber(zoneOf(timezone).toLocal(epochMs(instant))));
  return `${day} ${MONTHS[month - 1]} ${year}`;
}

/** `1 October 2026 to 1 November 2026`; the end is not included in the period. */
export const printedPeriod = (start: string, end: string, timezone: string): string =>
  `${printedDay(start, timezone)} to ${printedDay(end, timezone)}`;

const MONTHS = [
  'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October',
  'November', 'December',
]; // prettier-ignore
