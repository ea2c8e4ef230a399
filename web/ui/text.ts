export {
  LOCALE,
  dayForReaders as formatDay,
  decimalForReaders as formatDecimal,
  moneyForReaders as formatMoney,
  timeForReaders as formatTime,
} from '../../domain/reader-text.ts';

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

/** The code of a currency as people write it: `usd` as `USD`. */
export const formatCurrency = (code: string): string => code.trim().toUpperCase();

/** The text with a capital first letter. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A finding as a sentence: `none` as `None.`; a number stays as it is. */
export const sentence = (text: string): string =>
  /^\d+$/.test(text) ? text : `${capitalized(text)}${/[.!?]$/.test(text) ? '' : '.'}`;
