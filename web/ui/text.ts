export {
  LOCALE,
  dayForReaders as formatDay,
  decimalForReaders as formatDecimal,
  moneyForReaders as formatMoney,
} from '../../domain/reader-text.ts';

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

/** `PARTIALLY_REFUNDED` as `Partially refunded`. */
export function formatWord(word: string): string {
  const text = word
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/^(pre|post) paid$/, '$1paid');
  return (text.charAt(0).toUpperCase() + text.slice(1)).replace(/^Api\b/, 'API');
}
