import { Decimal } from '../../../domain/money.ts';
import {
  chargedSlice,
  isWhole,
  lengthMs,
  prorate,
  timeShare,
} from '../../../domain/pricing/proration.ts';
import { APRIL, at, span } from './lines.ts';

const DAY = 86_400_000;

describe('coefficients are ratios of instants (5.1)', () => {
  test('in whole milliseconds', () => {
    expect(timeShare(span('2026-04-21', '2026-05-01'), APRIL)).toEqual({
      part_ms: 10 * DAY,
      whole_ms: 30 * DAY,
    });
    expect(timeShare(APRIL, APRIL)).toEqual({ part_ms: 30 * DAY, whole_ms: 30 * DAY });
  });

  test('a first period some hours longer than its cell counts as full, never as more (1.4)', () => {
    const longer = span('2026-03-31T20:00', '2026-05-01');
    expect(isWhole(timeShare(longer, APRIL))).toBe(true);
    expect(prorate(new Decimal(30), timeShare(longer, APRIL)).toFixed()).toBe('30');
  });

  test('an empty slice is worth nothing, an empty reference is a bug', () => {
    const instant = span('2026-04-10', '2026-04-10');
    expect(prorate(new Decimal(30), timeShare(instant, APRIL)).toFixed()).toBe('0');
    expect(() => timeShare(APRIL, instant)).toThrow('an empty reference period');
    expect(() => lengthMs({ start: at('2026-04-10'), end: at('2026-04-09') })).toThrow(
      'ends before it starts',
    );
  });

  test('a whole share gives the amount back exactly, however long its decimals', () => {
    const amount = new Decimal('12345678901234567890.123456789012345678');
    expect(prorate(amount, timeShare(APRIL, APRIL)).eq(amount)).toBe(true);
    expect(isWhole(timeShare(APRIL, APRIL))).toBe(true);
    expect(isWhole(timeShare(span('2026-04-01', '2026-04-30'), APRIL))).toBe(false);
  });

  test.each`
    slice                               | share
    ${span('2026-04-01', '2026-04-11')} | ${'0.3333333333333333333333333333333333333333'}
    ${span('2026-04-11', '2026-05-01')} | ${'0.6666666666666666666666666666666666666667'}
    ${span('2026-04-16', '2026-05-01')} | ${'0.5'}
  `('computes with 40 digits: $share', ({ slice, share }) => {
    expect(prorate(new Decimal(1), timeShare(slice, APRIL)).toFixed()).toBe(share);
  });
});

describe('the slice that is paid for (5.2)', () => {
  const cell = { reference: APRIL, cell: span('2026-04-05', '2026-04-25') };
  const slice = (service: ReturnType<typeof span>, behavior: 'none' | 'create_prorations') =>
    chargedSlice({ ...cell, service }, behavior);

  test('create_prorations: the service', () => {
    const service = span('2026-04-05', '2026-04-25');
    expect(slice(service, 'create_prorations')).toEqual(service);
  });

  test.each`
    service                             | paid
    ${span('2026-04-05', '2026-04-25')} | ${APRIL}
    ${span('2026-04-05', '2026-04-10')} | ${span('2026-04-01', '2026-04-10')}
    ${span('2026-04-10', '2026-04-20')} | ${span('2026-04-10', '2026-04-20')}
    ${span('2026-04-20', '2026-04-25')} | ${span('2026-04-20', '2026-05-01')}
  `('none: what the subscription cuts is paid for', ({ service, paid }) => {
    expect(slice(service, 'none')).toEqual(paid);
  });
});
