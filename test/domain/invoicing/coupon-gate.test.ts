import {
  MAX_REDEMPTIONS_CAP,
  redeem,
  unredeem,
  validateCoupon,
  type Coupon,
} from '../../../domain/invoicing/coupon-gate.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const percentage: Coupon = {
  id: 'coupon_1',
  status: 'published',
  type: 'percentage',
  amount_off: null,
  percentage_off: '10',
  currency: null,
  cadence: 'forever',
  duration_in_periods: null,
  max_redemptions: null,
  total_redemptions: 0,
  redeem_after: null,
  redeem_before: null,
};
const fixed: Coupon = {
  ...percentage,
  type: 'fixed',
  amount_off: '5',
  percentage_off: null,
  currency: 'usd',
};

describe('terms of a coupon (billing 7.1)', () => {
  test.each`
    coupon
    ${percentage}
    ${{ ...percentage, percentage_off: '100' }}
    ${{ ...percentage, percentage_off: '0.001' }}
    ${{ ...percentage, currency: 'usd' }}
    ${fixed}
    ${{ ...fixed, amount_off: '0.01' }}
    ${{ ...fixed, cadence: 'once' }}
    ${{ ...fixed, cadence: 'repeated', duration_in_periods: 1 }}
    ${{ ...fixed, max_redemptions: 1 }}
    ${{ ...fixed, max_redemptions: MAX_REDEMPTIONS_CAP }}
    ${{ ...fixed, redeem_after: '2026-01-01T00:00:00Z' }}
    ${{ ...fixed, redeem_before: '2026-01-01T00:00:00Z' }}
    ${{ ...fixed, redeem_after: '2026-01-01T00:00:00Z', redeem_before: '2026-01-01T00:00:01Z' }}
  `('accepted: $coupon.type $coupon.cadence', ({ coupon }) => {
    expect(() => validateCoupon(coupon)).not.toThrow();
  });

  test.each`
    path                     | coupon
    ${'percentage_off'}      | ${{ ...percentage, percentage_off: '0' }}
    ${'percentage_off'}      | ${{ ...percentage, percentage_off: '-1' }}
    ${'percentage_off'}      | ${{ ...percentage, percentage_off: '100.001' }}
    ${'percentage_off'}      | ${{ ...percentage, percentage_off: null }}
    ${'amount_off'}          | ${{ ...percentage, amount_off: '5' }}
    ${'amount_off'}          | ${{ ...fixed, amount_off: '0' }}
    ${'amount_off'}          | ${{ ...fixed, amount_off: '-5' }}
    ${'amount_off'}          | ${{ ...fixed, amount_off: null }}
    ${'percentage_off'}      | ${{ ...fixed, percentage_off: '10' }}
    ${'currency'}            | ${{ ...fixed, currency: null }}
    ${'duration_in_periods'} | ${{ ...fixed, cadence: 'repeated' }}
    ${'duration_in_periods'} | ${{ ...fixed, cadence: 'repeated', duration_in_periods: 0 }}
    ${'duration_in_periods'} | ${{ ...fixed, cadence: 'repeated', duration_in_periods: 1.5 }}
    ${'duration_in_periods'} | ${{ ...fixed, cadence: 'once', duration_in_periods: 1 }}
    ${'duration_in_periods'} | ${{ ...fixed, duration_in_periods: 3 }}
    ${'max_redemptions'}     | ${{ ...fixed, max_redemptions: 0 }}
    ${'max_redemptions'}     | ${{ ...fixed, max_redemptions: -1 }}
    ${'max_redemptions'}     | ${{ ...fixed, max_redemptions: 2.5 }}
    ${'max_redemptions'}     | ${{ ...fixed, max_redemptions: MAX_REDEMPTIONS_CAP + 1 }}
    ${'redeem_before'}       | ${{ ...fixed, redeem_after: '2026-01-01T00:00:00Z', redeem_before: '2026-01-01T00:00:00Z' }}
  `('refused: $path', ({ path, coupon }) => {
    expect(refusalText(() => validateCoupon(coupon))).toBe(`invalid validation_error ${path}`);
  });

  test.each`
    coupon                                                                                       | message
    ${{ ...percentage, percentage_off: '0' }}                                                    | ${'percentage_off: must be above 0 and at most 100'}
    ${{ ...percentage, percentage_off: null }}                                                   | ${'percentage_off: is required'}
    ${{ ...percentage, amount_off: '5' }}                                                        | ${'amount_off: is for fixed coupons'}
    ${{ ...fixed, amount_off: '0' }}                                                             | ${'amount_off: must be above 0'}
    ${{ ...fixed, percentage_off: '5' }}                                                         | ${'percentage_off: is for percentage coupons'}
    ${{ ...fixed, currency: null }}                                                              | ${'currency: is required on a fixed coupon'}
    ${{ ...fixed, cadence: 'repeated' }}                                                         | ${'duration_in_periods: must be at least 1 on a repeated coupon'}
    ${{ ...fixed, duration_in_periods: 1 }}                                                      | ${'duration_in_periods: is for repeated coupons'}
    ${{ ...fixed, max_redemptions: 0 }}                                                          | ${'max_redemptions: must be from 1 to 1000000'}
    ${{ ...fixed, redeem_after: '2026-01-01T00:00:00Z', redeem_before: '2026-01-01T00:00:00Z' }} | ${'redeem_before: must be after redeem_after'}
  `('says what would be right: $message', ({ coupon, message }) => {
    expect(refusalOf(() => validateCoupon(coupon)).message).toBe(message);
  });
});

describe('the gate when a coupon is attached (billing 7.1)', () => {
  const at = '2026-03-01T00:00:00.000Z';

  test.each`
    coupon                                                     | total
    ${percentage}                                              | ${1}
    ${{ ...percentage, total_redemptions: 7 }}                 | ${8}
    ${{ ...fixed, max_redemptions: 3, total_redemptions: 2 }}  | ${3}
    ${{ ...fixed, redeem_after: at }}                          | ${1}
    ${{ ...fixed, redeem_before: '2026-03-01T00:00:00.001Z' }} | ${1}
  `('redeemed $total times', ({ coupon, total }) => {
    expect(redeem(coupon, at, 'usd')).toBe(total);
  });

  test.each`
    code                                 | coupon
    ${'coupon_not_published'}            | ${{ ...percentage, status: 'archived' }}
    ${'coupon_not_published'}            | ${{ ...percentage, status: 'deleted' }}
    ${'coupon_not_active'}               | ${{ ...percentage, redeem_after: '2026-03-01T00:00:00.001Z' }}
    ${'coupon_expired'}                  | ${{ ...percentage, redeem_before: at }}
    ${'coupon_expired'}                  | ${{ ...percentage, redeem_before: '2026-02-01T00:00:00Z' }}
    ${'coupon_redemption_limit_reached'} | ${{ ...percentage, max_redemptions: 3, total_redemptions: 3 }}
    ${'coupon_redemption_limit_reached'} | ${{ ...percentage, max_redemptions: 3, total_redemptions: 4 }}
    ${'coupon_currency_mismatch'}        | ${{ ...fixed, currency: 'eur' }}
  `('refused: $code', ({ code, coupon }) => {
    const refusal = refusalOf(() => redeem(coupon, at, 'usd'));
    expect([refusal.kind, refusal.code]).toEqual(['invalid', 'validation_error']);
    expect(refusal.details).toEqual([{ path: 'coupons', code, message: refusal.message }]);
    expect(refusal.message).toContain('coupon_1');
  });

  test.each`
    coupon                                                         | message
    ${{ ...percentage, status: 'archived' }}                       | ${'Coupon coupon_1 is not published.'}
    ${{ ...percentage, redeem_after: '2026-04-01T00:00:00Z' }}     | ${'Coupon coupon_1 can be redeemed from 2026-04-01T00:00:00Z.'}
    ${{ ...percentage, redeem_before: '2026-02-01T00:00:00Z' }}    | ${'Coupon coupon_1 could be redeemed before 2026-02-01T00:00:00Z.'}
    ${{ ...percentage, max_redemptions: 1, total_redemptions: 1 }} | ${'Coupon coupon_1 has no redemption left.'}
    ${{ ...fixed, currency: 'eur' }}                               | ${'Coupon coupon_1 is in eur, not usd.'}
  `('says why: $message', ({ coupon, message }) => {
    expect(refusalOf(() => redeem(coupon, at, 'usd')).message).toBe(message);
  });

  test('a percentage has no currency to mismatch', () => {
    expect(redeem({ ...percentage, currency: 'eur' }, at, 'usd')).toBe(1);
  });

  test('a checkout that expires gives its redemption back, and never more', () => {
    expect(unredeem({ total_redemptions: 3 })).toBe(2);
    expect(unredeem({ total_redemptions: 1 })).toBe(0);
    expect(unredeem({ total_redemptions: 0 })).toBe(0);
  });
});

describe('redemptions of one-off invoices count one for each invoice', () => {
  test('the third of three with a limit of two is refused', () => {
    let coupon: Coupon = { ...percentage, max_redemptions: 2 };
    for (let invoice = 0; invoice < 2; invoice += 1) {
      coupon = { ...coupon, total_redemptions: redeem(coupon, '2026-01-01T00:00:00Z', 'usd') };
    }
    expect(coupon.total_redemptions).toBe(2);
    expect(refusalOf(() => redeem(coupon, '2026-01-01T00:00:00Z', 'usd')).details[0]!.code).toBe(
      'coupon_redemption_limit_reached',
    );
  });
});
