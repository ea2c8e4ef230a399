import {
  analyticsDiscounts,
  associationWindow,
  couponsInForce,
  type CouponAssociation,
  type EarlierApplication,
} from '../../../domain/invoicing/coupon-association.ts';
import type { BillingSchedule } from '../../../domain/time/billing-periods.ts';
import { amountOff, line as row, percentOff } from './invoice-input.ts';

const monthly: BillingSchedule = {
  start_date: '2026-01-01T00:00:00.000Z',
  end_date: null,
  billing_anchor: '2026-01-01T00:00:00.000Z',
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  customer_timezone: '',
};
const repeated = (duration_in_periods: number) => ({
  cadence: 'repeated' as const,
  duration_in_periods,
});

describe('the window of an association (billing 7.2)', () => {
  test.each`
    coupon                    | from            | given           | end                           | why
    ${repeated(1)}            | ${'2026-01-01'} | ${null}         | ${'2026-02-01T00:00:00.000Z'} | ${'one period'}
    ${repeated(3)}            | ${'2026-01-01'} | ${null}         | ${'2026-04-01T00:00:00.000Z'} | ${'three periods'}
    ${repeated(3)}            | ${'2026-01-31'} | ${null}         | ${'2026-04-01T00:00:00.000Z'} | ${'counted from the period that holds the start'}
    ${repeated(1)}            | ${'2026-02-01'} | ${null}         | ${'2026-03-01T00:00:00.000Z'} | ${'a boundary is in the next period'}
    ${repeated(12)}           | ${'2026-03-15'} | ${null}         | ${'2027-03-01T00:00:00.000Z'} | ${'a year'}
    ${repeated(2)}            | ${'2025-12-01'} | ${null}         | ${'2026-03-01T00:00:00.000Z'} | ${'attached before the subscription starts'}
    ${repeated(3)}            | ${'2026-01-01'} | ${'2026-01-20'} | ${'2026-01-20T00:00:00.000Z'} | ${'a given end wins'}
    ${{ cadence: 'once' }}    | ${'2026-01-01'} | ${null}         | ${null}                       | ${'spent by use'}
    ${{ cadence: 'forever' }} | ${'2026-01-01'} | ${null}         | ${null}                       | ${'for ever'}
    ${{ cadence: 'forever' }} | ${'2026-01-01'} | ${'2026-05-05'} | ${'2026-05-05T00:00:00.000Z'} | ${'until a given end'}
  `('$coupon.cadence from $from: until $end, $why', ({ coupon, from, given, end }) => {
    const start = `${from}T00:00:00.000Z`;
    const until = given === null ? null : `${given}T00:00:00.000Z`;
    expect(associationWindow(coupon, monthly, start, until)).toEqual({
      start_date: start,
      end_date: end,
    });
  });

  test('periods are those of the customer zone', () => {
    const kolkata = {
      ...monthly,
      billing_cycle: 'calendar' as const,
      customer_timezone: 'Asia/Kolkata',
      billing_anchor: '2026-01-31T18:30:00.000Z',
      start_date: '2026-01-15T00:00:00.000Z',
    };
    expect(associationWindow(repeated(2), kolkata, kolkata.start_date, null).end_date).toBe(
      '2026-02-28T18:30:00.000Z',
    );
  });

  test('the end of the subscription ends it', () => {
    const ending = { ...monthly, end_date: '2026-02-10T00:00:00.000Z' };
    expect(associationWindow(repeated(5), ending, ending.start_date, null).end_date).toBe(
      '2026-02-10T00:00:00.000Z',
    );
    expect(associationWindow(repeated(5), ending, '2026-03-01T00:00:00.000Z', null).end_date).toBe(
      '2026-03-01T00:00:00.000Z',
    );
  });
});

describe('which associations apply to an invoice', () => {
  const association = (id: string, cadence: CouponAssociation['cadence']): CouponAssociation => ({
    ...percentOff('10'),
    coupon_association_id: id,
    cadence,
  });
  const used = (over: Partial<EarlierApplication> = {}): EarlierApplication => ({
    coupon_association_id: 'once',
    invoice_id: 'first',
    invoice_status: 'FINALIZED',
    ...over,
  });
  const once = association('once', 'once');

  test.each`
    why                                 | applications                                    | stands
    ${'never used'}                     | ${[]}                                           | ${true}
    ${'used by another invoice'}        | ${[used()]}                                     | ${false}
    ${'used by a draft'}                | ${[used({ invoice_status: 'DRAFT' })]}          | ${false}
    ${'that invoice was voided'}        | ${[used({ invoice_status: 'VOIDED' })]}         | ${true}
    ${'used by this invoice'}           | ${[used({ invoice_id: 'this' })]}               | ${true}
    ${'another association was used'}   | ${[used({ coupon_association_id: 'other' })]}   | ${true}
    ${'voided once and used once more'} | ${[used({ invoice_status: 'VOIDED' }), used()]} | ${false}
  `('once, $why: $stands', ({ applications, stands }) => {
    expect(couponsInForce([once], applications, 'this')).toEqual(stands ? [once] : []);
  });

  test('a preview has no id, so that every use counts', () => {
    expect(couponsInForce([once], [used()], null)).toEqual([]);
    expect(couponsInForce([once], [], null)).toEqual([once]);
  });

  test('the other cadences are not spent', () => {
    const rest = [association('a', 'forever'), association('b', 'repeated')];
    const applications = rest.map((each) =>
      used({ coupon_association_id: each.coupon_association_id }),
    );
    expect(couponsInForce(rest, applications, 'this')).toEqual(rest);
  });
});

describe('usage analytics take percentages that are not once (money 19.10)', () => {
  const coupon = (
    off: ReturnType<typeof percentOff>,
    cadence: CouponAssociation['cadence'],
    is_line_level = false,
  ): CouponAssociation => ({
    ...off,
    coupon_association_id: 'association',
    cadence,
    subscription_line_item_id: is_line_level ? 'item-a' : null,
  });
  const discountOf = (amount: string, coupons: readonly CouponAssociation[]) =>
    analyticsDiscounts([row('a', amount)], coupons, 'usd').map(String);

  test.each`
    coupons                                                                             | discount
    ${[]}                                                                               | ${'0'}
    ${[coupon(percentOff('10'), 'forever')]}                                            | ${'10'}
    ${[coupon(percentOff('10'), 'repeated')]}                                           | ${'10'}
    ${[coupon(percentOff('10'), 'once')]}                                               | ${'0'}
    ${[coupon(amountOff('20'), 'forever')]}                                             | ${'0'}
    ${[coupon(percentOff('10'), 'forever'), coupon(percentOff('50'), 'forever', true)]} | ${'55'}
    ${[coupon(percentOff('33.335'), 'forever'), coupon(percentOff('0.01'), 'forever')]} | ${'33.35'}
  `('$discount', ({ coupons, discount }) => {
    expect(discountOf('100', coupons)).toEqual([discount]);
  });

  test('line-level ones come first, which a rounding can tell', () => {
    const line = coupon(percentOff('33'), 'forever', true);
    const invoice = coupon(percentOff('25'), 'forever');
    expect(discountOf('0.05', [line, invoice])).toEqual(['0.03']);
    expect(discountOf('0.05', [invoice, line])).toEqual(['0.03']);
    const swapped = [
      coupon(percentOff('33'), 'forever'),
      coupon(percentOff('25'), 'forever', true),
    ];
    expect(discountOf('0.05', swapped)).toEqual(['0.02']);
  });

  test('a cost of nothing or less has no discount', () => {
    const all = [coupon(percentOff('50'), 'forever')];
    expect(discountOf('0', all)).toEqual(['0']);
    expect(discountOf('-5', all)).toEqual(['0']);
  });

  test('a row outside the window of a coupon, and the row of another line, keep their cost', () => {
    const july = {
      period_start: '2026-07-01T00:00:00.000Z',
      period_end: '2026-08-01T00:00:00.000Z',
    };
    const until = coupon(percentOff('10', { end_date: july.period_start }), 'repeated');
    const ofLine = coupon(percentOff('20'), 'forever', true);
    const rows = [row('a', '100', july), row('b', '50', july), row('c', '10')];
    expect(analyticsDiscounts(rows, [until, ofLine], 'usd').map(String)).toEqual(['20', '0', '1']);
  });
});
