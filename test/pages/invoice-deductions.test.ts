import { discountsOf, taxesOf } from '../../web/app/billing/invoice-deductions.ts';

type Invoice = Parameters<typeof discountsOf>[0];
const coupon = (coupon_id: string, name: string, percent: string | null, amount: string) => ({
  coupon_id,
  coupon_snapshot: { name },
  discount_type: percent === null ? 'fixed' : 'percentage',
  discount_percentage: percent ?? '0',
  discounted_amount: amount,
});
const tax = (name: string | null, percentage_value: string, tax_amount: string, more = {}) => ({
  ...{ tax_rate_id: name ?? 'rate', tax_rate: name === null ? null : { name } },
  ...{ percentage_value, tax_amount, tax_behavior: 'exclusive' },
  ...more,
});
const invoice = (record: object): Invoice =>
  ({ coupon_applications: [], taxes: [], total_discount: '0', total_tax: '0', ...record }) as never;

describe('names of what is deducted and added on an invoice', () => {
  test('a row for each coupon: its shares of several rows are one, a percentage is said', () => {
    const coupon_applications = [
      coupon('a', 'Spring launch', '20', '10'),
      coupon('a', 'Spring launch', '20', '5.65'),
      coupon('b', 'Welcome', null, '3'),
      coupon('c', 'Unused', null, '0'),
    ];
    expect(discountsOf(invoice({ coupon_applications, total_discount: '18.65' }))).toEqual([
      ['Spring launch, 20%', '15.65'],
      ['Welcome', '3'],
    ]);
  });

  test('a row for each tax with its percentage; one that the prices include is marked', () => {
    const taxes = [
      tax('VAT Belgium', '21', '13.15'),
      tax(null, '2.5', '1'),
      tax('City', '1', '2', { tax_behavior: 'inclusive' }),
    ];
    expect(taxesOf(invoice({ taxes, total_tax: '16.15' }))).toEqual([
      ['VAT Belgium, 21%', '13.15'],
      ['Tax, 2.5%', '1'],
      ['City, 1% (included)', '2'],
    ]);
  });

  test('parts that do not add up are one row; nothing is no row', () => {
    expect(taxesOf(invoice({ taxes: [], total_tax: '5' }))).toEqual([['Tax', '5']]);
    expect(discountsOf(invoice({ total_discount: '4' }))).toEqual([['Discounts', '4']]);
    expect([discountsOf(invoice({})), taxesOf(invoice({}))]).toEqual([[], []]);
  });
});
