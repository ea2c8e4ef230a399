/**
 * Milliseconds since 1970-01-01T00:00:00Z of an RFC 3339 time with a zone, truncated to the millisecond;
 * null for any other text. Our own code, because it runs for every event: `Date.parse` accepts more forms
 * than the RFC, reads text without a zone as local time, and takes twice as long.
 */
export function parseTimestamp(text: string): number | null {
  const length = text.length;
  if (length < 20 || length > 64) return null;
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return null;
  if ((text.charCodeAt(10) | 0x20) !== LOWER_T) return null;
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return null;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  // NaN (from a character that is not a digit) fails these comparisons too.
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)))
    return null;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return null;

  let at = 19;
  let milliseconds = 0;
  if (text.charCodeAt(at) === DOT) {
    const first = ++at;
    for (let digit = text.charCodeAt(at) - ZERO; digit >= 0 && digit <= 9;) {
      if (at - first < 3) milliseconds = milliseconds * 10 + digit;
      digit = text.charCodeAt(++at) - ZERO;
    }
    if (at === first) return null;
    for (let places = at - first; places < 3; places++) milliseconds *= 10;
  }
  const offsetMinutes = zoneOffset(text, at);
  if (offsetMinutes === null) return null;
  // Date.UTC maps years below 100 to 1900 and later; callers accept none of these years.
  return (
    Date.UTC(year < 100 ? 100 : year, month - 1, day, hour, minute, second, milliseconds) -
    offsetMinutes * 60_000
  );
}

const ZERO = 0x30;
const DASH = 0x2d;
const PLUS = 0x2b;
const COLON = 0x3a;
const DOT = 0x2e;
const LOWER_T = 0x74;
const LOWER_Z = 0x7a;

/** The number at `at`; NaN when one of its two characters is not a digit. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}

function zoneOffset(text: string, at: number): number | null {
  const sign = text.charCodeAt(at);
  if ((sign | 0x20) === LOWER_Z) return at + 1 === text.length ? 0 : null;
  if ((sign !== PLUS && sign !== DASH) || at + 6 !== text.length) return null;
  const hours = twoDigits(text, at + 1);
  const minutes = twoDigits(text, at + 4);
  if (text.charCodeAt(at + 3) !== COLON || !(hours <= 23 && minutes <= 59)) return null;
  return sign === PLUS ? hours * 60 + minutes : -(hours * 60 + minutes);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
