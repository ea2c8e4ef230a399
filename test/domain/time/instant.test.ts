import {
  earlierOf,
  epochMs,
  intersection,
  isoText,
  isWithin,
  laterOf,
} from '../../../domain/time/instant.ts';

const A = '2026-01-01T00:00:00.000Z';
const B = '2026-02-01T00:00:00.000Z';
const C = '2026-03-01T00:00:00.000Z';

describe('text and milliseconds', () => {
  test.each<[string, string]>([
    ['2026-01-31T09:30:00.000Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:59.999Z', '2026-01-31T09:30:59.999Z'],
    ['2024-02-29T23:59:59.001Z', '2024-02-29T23:59:59.001Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
    ['0000-01-01T00:00:00.000Z', '0000-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['2026-01-31T09:30:00+05:45', '2026-01-31T03:45:00.000Z'],
    ['2026-01-31T09:30:00.123456789Z', '2026-01-31T09:30:00.123Z'],
    ['2026-01-31T09:30Z', '2026-01-31T09:30:00.000Z'],
  ])('%s is %s', (text, canonical) => {
    expect(isoText(epochMs(text))).toBe(canonical);
    expect(epochMs(text)).toBe(epochMs(canonical));
  });

  test.each([
    '2026-02-29T00:00:00.000Z',
    '2026-04-31T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-00-01T00:00:00.000Z',
    '2026-01-32T00:00:00.000Z',
    '2026-01-01T24:00:00.000Z',
    '2026-01-01T23:60:00.000Z',
    '2026-01-01T00:00:00.000',
    '2026-01-01',
    'now',
    '',
  ])('%s is no instant', (text) => expect(() => epochMs(text)).toThrow(RangeError));

  test('a day that a month has not is named', () => {
    expect(() => epochMs('2026-02-29T00:00:00.000Z')).toThrow('there is no day 2026-02-29');
  });

  test.each([0.5, Number.NaN, Infinity])('%d milliseconds are a bug', (ms) => {
    expect(() => isoText(ms)).toThrow('whole number');
  });

  test('beyond the years 0 to 9999 there is no text', () => {
    expect(() => isoText(epochMs('9999-12-31T23:59:59.999Z') + 1)).toThrow('year 10000');
    expect(() => isoText(epochMs('0000-01-01T00:00:00.000Z') - 1)).toThrow('year -1');
  });
});

describe('comparison', () => {
  test('isWithin is half-open, a null end is open', () => {
    expect(isWithin(A, A, B)).toBe(true);
    expect(isWithin(B, A, B)).toBe(false);
    expect(isWithin('2026-01-31T23:59:59.999Z', A, B)).toBe(true);
    expect(isWithin('2025-12-31T23:59:59.999Z', A, B)).toBe(false);
    expect(isWithin(C, A, null)).toBe(true);
    expect(isWithin('2025-12-31T23:59:59.999Z', A, null)).toBe(false);
  });

  test('laterOf and earlierOf compare instants and not text', () => {
    expect(laterOf(A, B)).toBe(B);
    expect(laterOf(B, A)).toBe(B);
    expect(laterOf(A, null)).toBe(A);
    expect(earlierOf(A, B)).toBe(A);
    expect(earlierOf(B, A)).toBe(A);
    expect(earlierOf(B, null)).toBe(B);
    expect(laterOf('2026-01-01T01:00:00+02:00', '2026-01-01T00:00:00Z')).toBe(
      '2026-01-01T00:00:00Z',
    );
    expect(laterOf(A, '2026-01-01T00:00:00Z')).toBe(A);
    expect(earlierOf(A, '2026-01-01T00:00:00Z')).toBe(A);
  });

  test.each<[string, string | null, string | null, string | null]>([
    [A, C, A, C],
    [B, C, B, C],
    [A, B, A, B],
    [A, null, A, C],
    [B, null, B, C],
    [C, null, null, null],
    ['2025-01-01T00:00:00.000Z', A, null, null],
    ['2025-01-01T00:00:00.000Z', B, A, B],
    [B, B, null, null],
    [C, A, null, null],
  ])('[A, C) with [%s, %s)', (start, end, from, to) => {
    expect(intersection({ start: A, end: C }, start, end)).toEqual(
      from === null ? null : { start: from, end: to },
    );
  });
});
