import { decimalText } from '../../domain/money.ts';
import { chargeModel } from '../../domain/pricing/price.ts';
import {
  monthlyRevenue,
  type RecurringContract,
} from '../../domain/subscription/recurring-revenue.ts';

const AT = '2026-11-21T12:00:00.000Z';
const flat = (amount: string) => chargeModel({ billing_model: 'FLAT_FEE', amount });
const every = (billing_period: 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'ANNUAL', count = 1) => ({
  billing_period,
  billing_period_count: count,
}); // prettier-ignore
const fee = (amount: string, quantity: string, cadence = every('MONTHLY')) => ({
  subscription_line_item_id: `line ${amount}`,
  model: flat(amount),
  quantity,
  cadence,
});
const coupon = (fields: object): RecurringContract['coupons'][number] => ({
  coupon_id: 'coupon',
  coupon_association_id: 'association',
  type: 'percentage',
  cadence: 'forever',
  percentage_off: '10',
  amount_off: null,
  subscription_id: 'subs',
  subscription_line_item_id: null,
  start_date: '2026-01-01T00:00:00.000Z',
  end_date: null,
  ...fields,
});
const revenue = (fields: Partial<RecurringContract>): string =>
  decimalText(
    monthlyRevenue(
      {
        subscription_id: 'subs',
        fees: [],
        cadence: every('MONTHLY'),
        currency: 'usd',
        coupons: [],
        ...fields,
      },
      AT,
    ),
  );

/** Monthly recurring revenue (money 19.15). */
describe('recurring revenue per month', () => {
  const fixed = { type: 'fixed' as const, percentage_off: null, amount_off: '5' };
  test.each<[string, Partial<RecurringContract>, string]>([
    ['nothing', {}, '0'],
    ['a fee times its quantity', { fees: [fee('10', '3')] }, '30'],
    ['a quantity of zero', { fees: [fee('10', '0')] }, '0'],
    ['a year', { fees: [fee('120', '1', every('ANNUAL'))], cadence: every('ANNUAL') }, '10'],
    ['half a year', { fees: [fee('60', '1', every('QUARTERLY', 2))], cadence: every('QUARTERLY', 2) }, '10'],
    ['a year less 10%', { fees: [fee('120', '1', every('ANNUAL'))], cadence: every('ANNUAL'), coupons: [coupon({})] }, '9'],
    ['two periods on one subscription', { fees: [fee('10', '1'), fee('120', '1', every('ANNUAL'))] }, '20'],
    ['a coupon in money, once per invoice', { fees: [fee('10', '1'), fee('20', '1')], coupons: [coupon(fixed)] }, '25'],
    ['a coupon in money on a year', { fees: [fee('120', '1', every('ANNUAL'))], cadence: every('ANNUAL'), coupons: [coupon({ ...fixed, amount_off: '12' })] }, '9'],
    ['a coupon above the fee', { fees: [fee('3', '1')], coupons: [coupon(fixed)] }, '0'],
    ['a coupon for one line', { fees: [fee('10', '1'), fee('20', '1')], coupons: [coupon({ subscription_line_item_id: 'line 20' })] }, '28'],
    ['a coupon for one invoice', { fees: [fee('10', '1')], coupons: [coupon({ cadence: 'once' })] }, '10'],
    ['a coupon that has ended', { fees: [fee('10', '1')], coupons: [coupon({ end_date: AT })] }, '10'],
    ['a coupon that begins later', { fees: [fee('10', '1')], coupons: [coupon({ start_date: '2027-01-01T00:00:00.000Z' })] }, '10'],
  ])('%s', (_title, contract, expected) => {
    expect(revenue(contract)).toBe(expected);
  }); // prettier-ignore

  test('a week counts as a share of the mean month', () => {
    const weekly = { fees: [fee('7', '1', every('WEEKLY'))], cadence: every('WEEKLY') };
    expect(revenue(weekly).slice(0, 9)).toBe('30.436875');
  });
});
