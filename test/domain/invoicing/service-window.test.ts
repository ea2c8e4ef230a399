import { overlaps } from '../../../domain/invoicing/service-window.ts';

const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z`;

describe('whether a row is inside a window (billing 7.2, 3.1)', () => {
  test.each`
    row         | window          | inside   | why
    ${[10, 20]} | ${[1, 31]}      | ${true}  | ${'within'}
    ${[10, 20]} | ${[15, 16]}     | ${true}  | ${'around'}
    ${[10, 20]} | ${[1, 10]}      | ${false} | ${'ends where the row begins'}
    ${[10, 20]} | ${[1, 11]}      | ${true}  | ${'overlaps the first day'}
    ${[10, 20]} | ${[20, 31]}     | ${false} | ${'begins where the row ends'}
    ${[10, 20]} | ${[19, 31]}     | ${true}  | ${'overlaps the last day'}
    ${[10, 20]} | ${[null, null]} | ${true}  | ${'is open'}
    ${[10, 20]} | ${[null, 10]}   | ${false} | ${'open start, ends before'}
    ${[10, 20]} | ${[null, 11]}   | ${true}  | ${'open start'}
    ${[10, 20]} | ${[20, null]}   | ${false} | ${'open end, begins after'}
    ${[10, 20]} | ${[19, null]}   | ${true}  | ${'open end'}
    ${[10, 10]} | ${[10, 11]}     | ${true}  | ${'one-time at the start'}
    ${[10, 10]} | ${[9, 10]}      | ${false} | ${'one-time at the end'}
    ${[10, 10]} | ${[9, 11]}      | ${true}  | ${'one-time inside'}
    ${[10, 10]} | ${[11, 12]}     | ${false} | ${'one-time before'}
    ${[10, 10]} | ${[null, null]} | ${true}  | ${'one-time, open'}
    ${[10, 20]} | ${[15, 15]}     | ${false} | ${'is empty'}
    ${[10, 20]} | ${[16, 15]}     | ${false} | ${'ends before it begins'}
    ${[10, 10]} | ${[10, 10]}     | ${false} | ${'one-time, is empty'}
  `('$row in $window: $inside ($why)', ({ row, window, inside }) => {
    const [start, end] = row.map(day);
    const [from, to] = window.map((at: number | null) => (at === null ? null : day(at)));
    expect(overlaps(start, end, from, to)).toBe(inside);
  });

  test('a row without dates is inside every window', () => {
    expect(overlaps(null, null, day(1), day(2))).toBe(true);
    expect(overlaps(null, day(9), day(1), day(2))).toBe(true);
    expect(overlaps(day(9), null, day(1), day(2))).toBe(true);
  });

  test('instants are compared, not texts', () => {
    expect(
      overlaps('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', null, '2026-01-01T00:00:00.000Z'),
    ).toBe(false);
    expect(
      overlaps('2026-01-01T01:00:00+02:00', '2026-01-02T00:00:00Z', null, '2025-12-31T23:30:00Z'),
    ).toBe(true);
  });
});
