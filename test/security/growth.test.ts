import { JsonScanner, numberProblem } from '../../ingest/json-scanner.ts';
import {
  assertFewValues,
  assertOneReading,
  endOfFirstValue,
} from '../../platform/http/json-text.ts';
import { countSteps } from '../support/steps.ts';

const KIBIBYTE = 1024;

/** Inputs of a length that a scanner may be slow on, each with what reads them. */
const SCANNERS: readonly [what: string, scan: (input: string) => unknown, inputOf: InputOf][] = [
  ['the end of a value: a string without end', endOfFirstValue, (length) => `"${'a'.repeat(length)}`],
  ['the end of a value: quotes', endOfFirstValue, (length) => `{${'"'.repeat(length | 1)}`],
  ['the end of a value: escapes', endOfFirstValue, (length) => `"${'\\'.repeat(length)}`],
  ['the end of a value: digits', endOfFirstValue, (length) => `{${'1'.repeat(length)}`],
  ['the end of a value: lists', endOfFirstValue, (length) => '['.repeat(length)],
  ['the end of a value: strings', endOfFirstValue, (length) => `{${'"a":'.repeat(length / 4)}`],
  ['few values: a string without end', assertFewValues, (length) => long(`"${'a'.repeat(length)}`)],
  ['few values: escapes', assertFewValues, (length) => long(`"${'\\\\'.repeat(length)}`)],
  ['few values: digits', assertFewValues, (length) => long('1'.repeat(length))],
  ['few values: commas', assertFewValues, (length) => long(','.repeat(length))],
  ['one reading: zeros', assertOneReading, (length) => `1${'0'.repeat(length)}`],
  ['one reading: zeros before a fraction', assertOneReading, (length) => `0.${'0'.repeat(length)}1`],
  ['one reading: keys', assertOneReading, (length) => objectOf(length)],
  ['one reading: a string', assertOneReading, (length) => `"${'\\"'.repeat(length / 2)}"`],
  ['an event: a string without end', scanEvent, (length) => `{"a":"${'a'.repeat(length)}`],
  ['an event: keys', scanEvent, (length) => objectOf(length)],
  ['an event: escapes', scanEvent, (length) => `{"a":"${'\\u0041'.repeat(length / 6)}"}`],
  ['an event: letters', scanEvent, (length) => `{"a":"${'é'.repeat(length / 2)}"}`],
  ['an event: lists', scanEvent, (length) => `{"a":[${'[],'.repeat(length / 3)}[]]}`],
  ['a number: zeros between', numberProblem, (length) => `1${'0'.repeat(length)}1`],
  ['a number: zeros after', numberProblem, (length) => `1.1${'0'.repeat(length)}`],
]; // prettier-ignore

/** `assertFewValues` reads texts of more than 40,000 characters only. */
const long = (text: string): string => text.repeat(40);

type InputOf = (length: number) => string;

function objectOf(length: number): string {
  const keys = Array.from({ length: length / 16 }, (_none, index) => `"key${index}":1`);
  return `{${keys.join(',')}}`;
}

function scanEvent(text: string): void {
  const scanner = new JsonScanner(Buffer.from(text));
  scanner.propertiesText();
  scanner.end();
}

/** What a scanner refuses has been read too. */
const attempt = (scan: (input: string) => unknown, input: string) => () => {
  try {
    scan(input);
  } catch {
    // Refused.
  }
};

/**
 * An input that is 64 times as long costs about 64 times as many steps (tenancy S15). Patterns are
 * checked by `patterns.test.ts`.
 */
describe('scanners read input of any length in linear time', () => {
  test.each(SCANNERS)('%s', async (_what, scan, inputOf) => {
    const short = await countSteps(attempt(scan, inputOf(KIBIBYTE)));
    const long = await countSteps(attempt(scan, inputOf(64 * KIBIBYTE)));
    expect(short).toBeGreaterThan(0);
    // A square would make it 4,096 times as many.
    expect(long / short).toBeLessThan(2 * 64);
  });
});
