import { BillingError } from '../../domain/errors.ts';

const SIGNIFICANT_DIGITS_MAX = 15;
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|-?\d[\d.eE+-]*|true|false|null/g;

interface Level {
  /** The keys so far; null inside a list. */
  readonly keys: Set<string> | null;
  /** The key or the index of the value that comes. */
  at: string | number;
}

/** Where the first JSON value of the text ends; of what is no JSON some place. */
export function endOfFirstValue(text: string): number {
  let depth = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (depth <= 0) return match.index + token.length;
  }
  return text.length;
}

/**
 * Throws 400 for what `JSON.parse` takes in silence, so that two readers of one text may differ: a key
 * that stands twice in its object, and a number of more than 15 digits, which would be rounded
 * (reliability, S17). `text` is valid JSON; the path is that of the value.
 */
export function assertOneReading(text: string): void {
  const levels: Level[] = [];
  let expectsKey = false;
  for (const [token] of text.matchAll(TOKEN)) {
    const level = levels.at(-1);
    switch (token[0]) {
      case '{':
      case '[':
        levels.push({ keys: token === '{' ? new Set() : null, at: token === '{' ? '' : 0 });
        expectsKey = token === '{';
        break;
      case '}':
      case ']':
        levels.pop();
        expectsKey = false;
        break;
      case ',':
        if (level!.keys === null) level!.at = (level!.at as number) + 1;
        expectsKey = level!.keys !== null;
        break;
      case '"':
        if (expectsKey) takeKey(level!, token, levels);
        expectsKey = false;
        break;
      default:
        if (/^[-\d]/.test(token) && digitsOf(token) > SIGNIFICANT_DIGITS_MAX)
          throw bad(levels, 'too_big', `has more than ${SIGNIFICANT_DIGITS_MAX} digits: send text`);
    }
  }
}

function takeKey(level: Level, token: string, levels: readonly Level[]): void {
  const key = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
  level.at = key;
  if (level.keys!.has(key)) throw bad(levels, 'duplicate_key', 'stands twice in its object');
  level.keys!.add(key);
}

/** Digits between the first and the last that is not zero. */
const digitsOf = (number: string): number =>
  number
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '').length;

function bad(levels: readonly Level[], code: string, message: string): BillingError {
  const path = levels
    .map(({ at }, index) => (typeof at === 'number' ? `[${at}]` : index === 0 ? at : `.${at}`))
    .join('')
    .slice(0, 500);
  const details = [{ path: path || 'body', code, message }];
  return new BillingError('invalid', 'validation_error', `${path || 'body'}: ${message}`, details);
}
