import { Explanation } from '../../../schemas/explanation.ts';
import { buildInvoice } from '../../support/build-invoice.ts';
import { amountOff, exclusive, inclusive, line, percentOff, wallet } from './invoice-input.ts';

const explanation = (amount: string): Explanation => ({
  kind: 'base',
  currency: 'usd',
  period: { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' },
  quantity: '1',
  amount,
  steps: [],
});
const explainedLine = (id: string, amount: string, over = {}) => ({
  ...line(id, amount, over),
  explanation: explanation(amount),
});

const built = buildInvoice({
  currency: 'usd',
  invoice_status: 'FINALIZED',
  lines: [
    explainedLine('usage', '80'),
    explainedLine('flat', '20', { price_type: 'FIXED' }),
    { ...line('by-hand', '0'), explanation: null },
    line('older', '0'),
  ],
  coupons: [
    amountOff('10', { coupon_id: 'ten', coupon_association_id: 'a-ten' }),
    percentOff('25', { subscription_line_item_id: 'item-usage', coupon_id: 'quarter' }),
  ],
  taxes: { rates: [exclusive('8.25', { tax_rate_id: 'vat' })], exemption: null },
  wallets: [wallet('w1', '2'), wallet('w2', '3')],
});
const [usage, flat, byHand, older] = built.lines;

test('the explanation of a row has its discounts, credits and taxes in order of application', () => {
  expect(usage!.explanation!.settlement).toEqual([
    {
      step: 'discount',
      rule: 'billing 7.3',
      level: 'line_item',
      coupon_id: 'quarter',
      coupon_association_id: null,
      discount_type: 'percentage',
      percentage_off: '25',
      amount_off: null,
      base: '80',
      subtotal_left: '100',
      discount: '20',
      before: '80',
      amount: '20',
      after: '60',
    },
    {
      step: 'discount',
      rule: 'billing 7.3',
      level: 'invoice',
      coupon_id: 'ten',
      coupon_association_id: 'a-ten',
      discount_type: 'fixed',
      percentage_off: null,
      amount_off: '10',
      base: '80',
      subtotal_left: '80',
      discount: '10',
      before: '60',
      amount: '7.5',
      after: '52.5',
    },
    {
      step: 'prepaid_credit',
      rule: 'billing 9.2',
      wallet_id: 'w1',
      wallet_left: '2',
      invoice_left: '70',
      before: '52.5',
      amount: '2',
      after: '50.5',
    },
    {
      step: 'prepaid_credit',
      rule: 'billing 9.2',
      wallet_id: 'w2',
      wallet_left: '3',
      invoice_left: '68',
      before: '50.5',
      amount: '3',
      after: '47.5',
    },
    {
      step: 'tax',
      rule: 'billing 8.2',
      tax_rate_id: 'vat',
      tax_behavior: 'exclusive',
      percentage_value: '8.25',
      line_base: '52.5',
      invoice_base: '70',
      taxable_amount: '70',
      tax_amount: '5.78',
    },
  ]);
});

test('the explanation of a row has its own parts only', () => {
  expect(flat!.explanation!.settlement!.map(({ step }) => step)).toEqual(['discount', 'tax']);
});

test('a row without an explanation gets none', () => {
  expect(byHand!.explanation).toBeNull();
  expect(older).not.toHaveProperty('explanation');
});

test('the explanation of the rating stays unchanged, and the result matches the schema', () => {
  const { settlement, ...rated } = usage!.explanation!;
  expect(settlement).toHaveLength(5);
  expect(rated).toEqual(explanation('80'));
  expect(Explanation.parse(usage!.explanation)).toEqual(usage!.explanation);
});

test('a person can redo the row: each step begins where the one before it ended', () => {
  const steps = usage!.explanation!.settlement!.filter((step) => step.step !== 'tax');
  expect(steps[0]!.before).toBe(usage!.amount);
  steps.slice(1).forEach((step, index) => expect(step.before).toBe(steps[index]!.after));
});

test('a row without a settlement has no such part', () => {
  const [row] = buildInvoice({
    currency: 'usd',
    invoice_status: 'DRAFT',
    lines: [explainedLine('a', '5')],
  }).lines;
  expect(row!.explanation!.settlement).toEqual([]);
});

test('a row that discounts took whole has no part in the taxes', () => {
  const [whole, rest] = buildInvoice({
    currency: 'usd',
    invoice_status: 'DRAFT',
    lines: [explainedLine('a', '5'), explainedLine('b', '5')],
    coupons: [percentOff('100', { subscription_line_item_id: 'item-a' })],
    taxes: { rates: [inclusive('10')], exemption: null },
  }).lines;
  expect(whole!.explanation!.settlement!.map(({ step }) => step)).toEqual(['discount']);
  expect(rest!.explanation!.settlement).toEqual([
    expect.objectContaining({
      step: 'tax',
      line_base: '5',
      invoice_base: '5',
      taxable_amount: '4.55',
    }),
  ]);
});
