import { crc32 } from 'node:zlib';
import { FUNCTIONS } from '../../../domain/metering/expression/functions.ts';
import { patternParts } from '../../../domain/metering/expression/pattern-parts.ts';
import type { Scope, Value } from '../../../domain/metering/expression/value.ts';
import { nearMiss } from '../../../domain/near-miss.ts';
import { JsonScanner, numberProblem } from '../../../ingest/json-scanner.ts';
import {
  assertFewValues,
  assertOneReading,
  endOfFirstValue,
} from '../../../platform/http/json-text.ts';
import { parseEvents } from '../../../ingest/parse-events.ts';
import { readFontFamilies } from '../../../platform/pdf/font-families.ts';
import { textRuns } from '../../../platform/pdf/text-runs.ts';
import { withoutTrailing } from '../../../schemas/digits.ts';
import { jpegWithoutExtras, pngWithoutExtras } from '../../../schemas/image-parts.ts';
import { parseTimestamp } from '../../../schemas/events/timestamp.ts';

/** An image of one pixel, up to its pixels. */
const PNG_START = `\x89PNG\r\n\x1a\n${pngChunk('IHDR', '\0\0\0\x01\0\0\0\x01\x08\0\0\0\0')}`;
const JPEG_FRAME = '\xff\xc0\0\x0b\x08\0\x01\0\x01\x01\x01\x11\0';
const fonts = readFontFamilies();

/** What reads an input, and the input of a length. */
export type Scanner = readonly [
  what: string,
  scan: (input: string) => unknown,
  inputOf: (length: number) => string,
];

/** Inputs of a length that a scanner may be slow on, each with what reads them. */
export const SCANNERS: readonly Scanner[] = [
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
  ['events by line: empty lines', scanLines, (length) => '\n'.repeat(length)],
  ['events by line: empty events', scanLines, (length) => '{}\n'.repeat(length / 3)],
  ['a time: digits', parseTimestamp, (length) => `2026-11-22T10:00:00.${'0'.repeat(length)}Z`],
  ['zeros at the end', (input) => withoutTrailing(input, '0'), (length) => '0'.repeat(length)],
  ['a near miss', (input) => nearMiss(input, ['metadata', input.slice(1)]), (length) => 'metadata'.repeat(Math.min(length / 8, 32))],
  ['a pattern: letters', patternParts, (length) => 'a'.repeat(length)],
  ['a pattern: a class', patternParts, (length) => `[${'\\]'.repeat(length / 2)}`],
  ['a pattern: groups', patternParts, (length) => '('.repeat(length)],
  ['a pattern: counts', patternParts, (length) => 'a{2}'.repeat(length / 4)],
  ['text on paper: two directions', (input) => textRuns(input, 'proportional', fonts), (length) => 'aש'.repeat(length / 2)],
  ['size of a text: pairs', (input) => evaluate('size', input), (length) => '😀'.repeat(length / 2)],
  ['contains: a part that almost matches everywhere',
    (input) => evaluate('contains', input, `${'a'.repeat(input.length / 2)}b`), (length) => 'a'.repeat(length)],
  ['a PNG image: chunks', (input) => pngWithoutExtras(bytesOf(input)), (length) => `${PNG_START}${pngChunk('tEXt', '').repeat(length / 12)}`],
  ['a PNG image: pixels', (input) => pngWithoutExtras(bytesOf(input)), (length) => `${PNG_START}${pngChunk('IDAT', 'a'.repeat(length))}`],
  ['a JPEG image: fill bytes', (input) => jpegWithoutExtras(bytesOf(input)), (length) => `\xff\xd8${'\xff'.repeat(length)}`],
  ['a JPEG image: comments', (input) => jpegWithoutExtras(bytesOf(input)), (length) => `\xff\xd8${'\xff\xfe\0\x02'.repeat(length / 4)}`],
  ['a JPEG image: pixels', (input) => jpegWithoutExtras(bytesOf(input)), (length) => `\xff\xd8${JPEG_FRAME}\xff\xda\0\x02${'a'.repeat(length)}`],
]; // prettier-ignore

function bytesOf(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}

function pngChunk(name: string, content: string): string {
  const numbers = Buffer.alloc(8);
  numbers.writeUInt32BE(content.length);
  numbers.writeUInt32BE(crc32(bytesOf(name + content)), 4);
  const [length, checksum] = [numbers.subarray(0, 4), numbers.subarray(4)];
  return length.toString('latin1') + name + content + checksum.toString('latin1');
}

/** `assertFewValues` reads texts of more than 40,000 characters only. */
const long = (text: string): string => text.repeat(40);

function objectOf(length: number): string {
  const keys = Array.from({ length: length / 16 }, (_none, index) => `"key${index}":1`);
  return `{${keys.join(',')}}`;
}

function scanEvent(text: string): void {
  const scanner = new JsonScanner(Buffer.from(text));
  scanner.propertiesText();
  scanner.end();
}

function scanLines(text: string): void {
  const context = { tenant_id: 't', environment_id: 'e', now: 0, newEventId: () => 'id' };
  parseEvents(Buffer.from(text), 'lines', context);
}

/** Calls a function of the expression language without a budget. */
function evaluate(name: string, ...values: Value[]): Value {
  const budget = { steps: Infinity, bytes: Infinity };
  const scope: Scope = {
    budget,
    steps: 0,
    bytes: 0,
    properties: {},
    item: null,
    accumulator: null,
  };
  return FUNCTIONS.get(name)!.call(values, scope);
}
