import { keptFormats } from '../../domain/reader-formats.ts';

export {
  LOCALE,
  dayForReaders as formatDay,
  decimalForReaders as formatDecimal,
  moneyForReaders as formatMoney,
} from '../../domain/reader-text.ts';

/** A point in time with the name of its zone: `21 Nov 2026, 12:00 UTC`. */
export function formatTime(at: string, zone: string, options?: { seconds?: boolean }): string {
  return timeFormat(zone, options?.seconds === true).format(new Date(at));
}

const timeFormat = keptFormats(
  (zone: string, hasSeconds: boolean) =>
    new Intl.DateTimeFormat('en-GB', {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      ...(hasSeconds ? { second: '2-digit' as const } : {}),
      hourCycle: 'h23',
      timeZone: zone,
      timeZoneName: 'short',
    }),
);

/** `PARTIALLY_REFUNDED` as `Partially refunded`. */
export function formatWord(word: string): string {
  const text = word
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/^(pre|post) paid$/, '$1paid')
    .replace(/^onetime$/, 'one-time');
  return capitalized(text)
    .replace(/^Api\b/, 'API')
    .replace(/^Ok$/, 'OK');
}

/** The text with a capital first letter. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A finding as a sentence: `none` as `None.`; a number stays as it is. */
export const sentence = (text: string): string =>
  /^\d+$/.test(text) ? text : `${capitalized(text)}${/[.!?]$/.test(text) ? '' : '.'}`;
