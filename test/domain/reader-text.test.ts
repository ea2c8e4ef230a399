import { keptFormats } from '../../domain/reader-formats.ts';
import { dayForReaders, decimalForReaders, moneyForReaders } from '../../domain/reader-text.ts';

describe('numbers and days for readers', () => {
  test.each([
    ['1234567.891', 'usd', '$1,234,567.891'],
    ['-5', 'usd', '\u2212$5.00'],
    ['1234', 'jpy', '\u00a51,234'],
    [
      '12345678901234567890123456789012345678',
      'eur',
      '\u20ac12,345,678,901,234,567,890,123,456,789,012,345,678.00',
    ],
    ['1.5', 'credits', '1.5 CREDITS'],
  ])('%s %s is %s, also the second time', (amount, currency, text) => {
    expect(moneyForReaders(amount, currency)).toBe(text);
    expect(moneyForReaders(amount, currency)).toBe(text);
  });

  test('digits and zones are not mixed up', () => {
    expect([
      decimalForReaders('1.5'),
      decimalForReaders('1.5', 2),
      decimalForReaders('1.5'),
    ]).toEqual(['1.5', '1.50', '1.5']);
    const at = '2026-11-20T23:30:00Z';
    expect([
      dayForReaders(at, 'UTC'),
      dayForReaders(at, 'Asia/Tokyo'),
      dayForReaders(at, 'UTC'),
    ]).toEqual(['20 Nov 2026', '21 Nov 2026', '20 Nov 2026']);
  });

  test('a format is made once for the same parameters, and the kept ones stay few', () => {
    let made = 0;
    const format = keptFormats((zone: string, digits: number) => ({
      zone,
      digits,
      made: (made += 1),
    }));
    expect(format('UTC', 1)).toBe(format('UTC', 1));
    expect(format('UTC', 2)).not.toBe(format('UTC', 1));
    expect(made).toBe(2);
    for (let at = 0; at < 1_000; at += 1) format('UTC', at);
    expect(format('UTC', 999)).toMatchObject({ digits: 999 });
    expect(() =>
      keptFormats(() => {
        throw new RangeError('no');
      })(),
    ).toThrow(RangeError);
  });
});
