import { currency, decimal, metadata, positiveDecimal, time } from '../../schemas/primitives.ts';
import { timezone } from '../../schemas/timezone.ts';
import * as words from '../../schemas/words.ts';
import { BILLING_PERIODS } from '../../schemas/words.ts';

describe('decimal: text in one form, for every input form', () => {
  test.each`
    written                       | text
    ${'10.50'}                    | ${'10.5'}
    ${'+0010.00'}                 | ${'10'}
    ${'-0.000'}                   | ${'0'}
    ${'-.5'}                      | ${null}
    ${'0.000000000000000001'}     | ${'0.000000000000000001'}
    ${'0.0000000000000000001'}    | ${null}
    ${'0.1000000000000000000000'} | ${'0.1'}
    ${'99999999999999999999'}     | ${'99999999999999999999'}
    ${'100000000000000000000'}    | ${null}
    ${'1e3'}                      | ${null}
    ${' 7 '}                      | ${'7'}
    ${''}                         | ${null}
    ${'NaN'}                      | ${null}
    ${'1,000'}                    | ${null}
    ${12.5}                       | ${'12.5'}
    ${0.1}                        | ${'0.1'}
    ${1e-7}                       | ${'0.0000001'}
    ${123456789012345}            | ${'123456789012345'}
    ${1234567890123456}           | ${null}
    ${0.1234567890123456}         | ${null}
    ${-3}                         | ${'-3'}
    ${true}                       | ${null}
    ${null}                       | ${null}
  `('$written → $text', ({ written, text }) => {
    const result = decimal.safeParse(written);
    expect(result.success ? result.data : null).toBe(text);
  });

  test('positive means above zero', () => {
    const accepted = ['0', '0.00', '-1', '0.01'].map(
      (text) => positiveDecimal.safeParse(text).success,
    );
    expect(accepted).toEqual([false, false, false, true]);
  });
});

describe('time: an instant with a zone, in UTC with milliseconds', () => {
  test.each`
    written                          | instant
    ${'2026-03-01T00:00:00Z'}        | ${'2026-03-01T00:00:00.000Z'}
    ${'2026-03-01T05:30:00+05:30'}   | ${'2026-03-01T00:00:00.000Z'}
    ${'2026-03-01T00:00:00.123456Z'} | ${'2026-03-01T00:00:00.123Z'}
    ${'2024-02-29T00:00:00Z'}        | ${'2024-02-29T00:00:00.000Z'}
    ${'2026-02-29T00:00:00Z'}        | ${null}
    ${'2026-03-01T00:00:00'}         | ${null}
    ${'2026-03-01'}                  | ${null}
    ${'0000-01-01T00:00:00Z'}        | ${null}
    ${'9999-12-31T23:59:59Z'}        | ${null}
    ${1767225600000}                 | ${null}
  `('$written → $instant', ({ written, instant }) => {
    const result = time.safeParse(written);
    expect(result.success ? result.data : null).toBe(instant);
  });
});

test('currency codes are put into lower case', () => {
  expect(currency.parse('EUR')).toBe('eur');
  expect(currency.safeParse('euro').success).toBe(false);
  expect(currency.safeParse('').success).toBe(false);
});

test('time zones are those of the IANA database', () => {
  const zones = [
    'Europe/Berlin',
    'UTC',
    'America/Argentina/Ushuaia',
    'Mars/Base',
    '',
    '+02:00',
    'europe berlin',
    'IST',
    'PST',
  ];
  expect(zones.filter((zone) => timezone.safeParse(zone).success)).toEqual(zones.slice(0, 3));
});

test('a time zone is kept as the IANA database writes it', () => {
  expect(timezone.parse('europe/brussels')).toBe('Europe/Brussels');
  expect(timezone.parse('utc')).toBe('UTC');
});

test('metadata is text by text, and not without end', () => {
  expect(metadata.safeParse({ a: '1' }).success).toBe(true);
  expect(metadata.safeParse({ a: 1 }).success).toBe(false);
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`k${index}`, '']));
  expect(metadata.safeParse(many).success).toBe(false);
});

test('every set of words is without repetition', () => {
  for (const [name, list] of Object.entries(words))
    expect([name, new Set<string>(list).size]).toEqual([name, list.length]);
  expect(BILLING_PERIODS).toContain('ONETIME');
});
