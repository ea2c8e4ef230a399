import { BillingError } from '../../domain/errors.ts';

const SIGNIFICANT_DIGITS_MAX = 15;

/** Keys of one object. No schema accepts as many; a megabyte of distinct keys takes 450 ms to compare with one. */
const KEYS_MAX = 2_000;

/**
 * Values of a body at all depths; objects and lists count too. The largest bulk requests have some 8,000. A
 * megabyte has room for 350,000; such a body held the event loop for 55 ms in `JSON.parse` alone.
 */
const VALUES_MAX = 20_000;
/** A value takes two characters: itself and a comma. */
const LENGTH_OF_MANY_VALUES = 2 * VALUES_MAX;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const ZERO = 0x30;
const NINE = 0x39;
const MINUS = 0x2d;

interface Level {
  /** The keys so far; null inside a list. */
  readonly keys: Set<string> | null;
  /** The key or index of the current value. */
  at: string | number;
}

/**
 * The end of the first JSON value of the text; the text's length if it does not begin with a JSON value. The
 * functions of this file read each character once: the text comes from a caller who is not authenticated yet.
 */
export function endOfFirstValue(text: string): number {
  let depth = 0;
  for (let start = 0; start < text.length;) {
    const code = text.charCodeAt(start);
    const end = endOfToken(text, start, code);
    if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1;
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth -= 1;
    else if (depth === 0 && (code === COMMA || code === COLON)) return text.length;
    if (depth <= 0 && !isSpace(code)) return end;
    start = end;
  }
  return text.length;
}

/**
 * Throws 400 for a text with more than 20,000 JSON values (tenancy S17). Runs before `JSON.parse`, so the text
 * need not be valid JSON; text that follows the first value counts too.
 */
export function assertFewValues(text: string): void {
  if (text.length <= LENGTH_OF_MANY_VALUES) return;
  let values = 0;
  for (let start = 0; start < text.length;) {
    const code = text.charCodeAt(start);
    start = endOfToken(text, start, code);
    // A string may be a key: only the colon after it tells.
    if (values > VALUES_MAX && code !== QUOTE && code !== COLON)
      throw bad([], 'too_big', `has more than ${VALUES_MAX} values: send several smaller requests`);
    if (code === COLON) values -= 1;
    else if (code !== COMMA && code !== CLOSE_OBJECT && code !== CLOSE_LIST && !isSpace(code))
      values += 1;
  }
}

/**
 * Throws 400 for JSON that `JSON.parse` accepts silently but two readers may read differently: a duplicate
 * key in one object, and a number of more than 15 digits, which would be rounded. Throws 400 also for an
 * object of more than 2,000 keys (tenancy S17). `text` is valid JSON; the path in the error is that of the
 * value.
 */
export function assertOneReading(text: string): void {
  const levels: Level[] = [];
  let expectsKey = false;
  for (let start = 0; start < text.length;) {
    const code = text.charCodeAt(start);
    const end = endOfToken(text, start, code);
    const level = levels.at(-1);
    switch (code) {
      case OPEN_OBJECT:
        levels.push({ keys: new Set(), at: '' });
        expectsKey = true;
        break;
      case OPEN_LIST:
        levels.push({ keys: null, at: 0 });
        expectsKey = false;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        levels.pop();
        expectsKey = false;
        break;
      case COMMA:
        if (level!.keys === null) level!.at = (level!.at as number) + 1;
        expectsKey = level!.keys !== null;
        break;
      case QUOTE:
        if (expectsKey) takeKey(level!, text.slice(start, end), levels);
        expectsKey = false;
        break;
      default:
        if (isNumberStart(code) && digitsOf(text, start, end) > SIGNIFICANT_DIGITS_MAX)
          throw bad(levels, 'too_big', `has more than ${SIGNIFICANT_DIGITS_MAX} digits: send text`);
    }
    start = end;
  }
}

/** The end of the token that starts here: a string, a number, a word, or one other character. */
function endOfToken(text: string, start: number, code: number): number {
  if (code === QUOTE) return endOfString(text, start);
  let end = start + 1;
  if (isScalar(code)) while (end < text.length && isScalar(text.charCodeAt(end))) end += 1;
  return end;
}

/** The position after the closing quote; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
const isNumberStart = (code: number): boolean => code === MINUS || isDigit(code);

/** Whether the character is part of a number or a word. */
function isScalar(code: number): boolean {
  if (code === QUOTE || code === COMMA || code === COLON || isSpace(code)) return false;
  return code !== OPEN_OBJECT && code !== CLOSE_OBJECT && code !== OPEN_LIST && code !== CLOSE_LIST;
}

function takeKey(level: Level, token: string, levels: readonly Level[]): void {
  const key = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
  level.at = key;
  if (level.keys!.has(key)) throw bad(levels, 'duplicate_key', 'is a duplicate key');
  if (level.keys!.size >= KEYS_MAX)
    throw bad(levels, 'too_big', `is one key too many: an object has at most ${KEYS_MAX} keys`);
  level.keys!.add(key);
}

/** Digits between the first and the last non-zero digit, without the exponent. */
function digitsOf(text: string, start: number, end: number): number {
  let digits = 0;
  let significant = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if ((code | 0x20) === 0x65) break;
    if (!isDigit(code) || (digits === 0 && code === ZERO)) continue;
    digits += 1;
    if (code !== ZERO) significant = digits;
  }
  return significant;
}

function bad(levels: readonly Level[], code: string, message: string): BillingError {
  const path = levels
    .map(({ at }, index) => (typeof at === 'number' ? `[${at}]` : index === 0 ? at : `.${at}`))
    .join('')
    .slice(0, 500);
  const details = [{ path: path || 'body', code, message }];
  return new BillingError('invalid', 'validation_error', `${path || 'body'}: ${message}`, details);
}
