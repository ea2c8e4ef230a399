import { buildInvoice } from '../../support/build-invoice.ts';
import { redeem } from '../../../domain/invoicing/coupon-gate.ts';
import { assertRecalculable } from '../../../domain/invoicing/draft-edits.ts';
import { isDeletable } from '../../../domain/invoicing/payments.ts';
import { voidInvoice } from '../../../domain/invoicing/void-invoice.ts';
import { skipsAsZero } from '../../../domain/invoicing/zero-invoice.ts';
import { resumedPeriod } from '../../../domain/subscription/pause.ts';
import { debitWallet } from '../../../domain/wallet/wallet.ts';
import { reverseDebit } from '../../../domain/wallet/reversal.ts';
import { refusalOf } from '../../support/refusal.ts';
import { amountOff, exclusive, line, percentOff, wallet } from './invoice-input.ts';
import { block, counter, debit, walletOf } from '../wallet/wallet-input.ts';

/** Points on which other billing systems answer otherwise. Each names the rule that decides for us. */
describe('invoices', () => {
  test('billing 7.3: a once coupon applies in full; its rest after an earlier invoice does not carry over', () => {
    const built = buildInvoice({
      currency: 'eur',
      invoice_status: 'DRAFT',
      lines: [line('fee1', '2.00'), line('fee2', '1.00')],
      coupons: [amountOff('0.12')],
    });
    expect([built.total_discount, built.total]).toEqual(['0.12', '2.88']);
  });

  test('billing 9.1: prepaid credits pay rows and not the tax on them', () => {
    const built = buildInvoice({
      currency: 'eur',
      invoice_status: 'FINALIZED',
      lines: [line('charge', '14.27')],
      taxes: { rates: [exclusive('24')], exemption: null },
      wallets: [wallet('w', '21.28')],
    });
    expect(built).toMatchObject({
      total_prepaid_credits_applied: '14.27',
      total: '3.42',
      wallet_debits: [{ wallet_id: 'w', amount: '14.27', credits: '14.27' }],
    });
  });

  test('billing 9.2: fixed fees are paid by credits only where the wallet allows it', () => {
    const built = buildInvoice({
      currency: 'usd',
      invoice_status: 'FINALIZED',
      lines: [line('flat', '7', { price_type: 'FIXED' })],
      wallets: [wallet('w', '5')],
    });
    expect([built.total_prepaid_credits_applied, built.total]).toEqual(['0', '7']);
  });

  test('billing 7.1: a coupon without redemptions left refuses a one-off invoice, and is not skipped', () => {
    const coupon = {
      id: 'c',
      status: 'published',
      type: 'percentage',
      amount_off: null,
      percentage_off: '10',
      currency: null,
      cadence: 'once',
      duration_in_periods: null,
      max_redemptions: 2,
      redeem_after: null,
      redeem_before: null,
    } as const;
    const at = '2026-01-01T00:00:00Z';
    const first = redeem({ ...coupon, total_redemptions: 0 }, at, 'usd');
    const second = redeem({ ...coupon, total_redemptions: first }, at, 'usd');
    expect(() => redeem({ ...coupon, total_redemptions: second }, at, 'usd')).toThrow(
      'has no redemption left',
    );
  });

  test('billing 7.3, 10.1: a line coupon that names no line of the invoice discounts nothing', () => {
    const built = buildInvoice({
      currency: 'usd',
      invoice_status: 'DRAFT',
      lines: [line('a', '200'), line('b', '300')],
      coupons: [percentOff('10', { subscription_line_item_id: 'unknown' })],
    });
    expect(built.total_discount).toBe('0');
  });

  test('billing 17.3: an invoice on which nothing is left to charge is skipped', () => {
    const cycle = {
      invoice_type: 'SUBSCRIPTION',
      billing_reason: 'SUBSCRIPTION_CYCLE',
      is_manually_edited: false,
    } as const;
    expect(skipsAsZero(cycle, [])).toBe(true);
  });

  test('billing 9.3, 10.4: a trial preview of nothing is paid, however it would be collected', () => {
    const built = buildInvoice({
      currency: 'usd',
      invoice_status: 'FINALIZED',
      lines: [line('fee', '0')],
    });
    expect([built.total, built.payment_status]).toEqual(['0', 'SUCCEEDED']);
  });

  test('interface, states: a draft is not recalculated', () => {
    const draft = {
      invoice_type: 'SUBSCRIPTION',
      invoice_status: 'DRAFT',
      recalculated_invoice_id: null,
    };
    expect(refusalOf(() => assertRecalculable(draft)).code).toBe('invalid_operation');
  });

  test('interface: a PENDING payment can be deleted', () => {
    expect(isDeletable('PENDING')).toBe(true);
  });
});

describe('voiding an invoice that credits paid in part (money 9.11, 9.12)', () => {
  const spent = debitWallet(
    walletOf('70'),
    [block('a', '70')],
    debit('20', { transaction_reason: 'CREDIT_ADJUSTMENT' }),
    '2026-03-01T00:00:00.000Z',
  );

  test('the money goes back as a refund, the credits to their block, and neither counts as the other', () => {
    const { refund } = voidInvoice({
      currency: 'usd',
      invoice_status: 'FINALIZED',
      payment_status: 'SUCCEEDED',
      amount_paid: '30',
      refunded_amount: '0',
      refunds_in_flight: '0',
      recalculated_invoice_id: null,
    });
    expect(refund.toFixed()).toBe('30');
    const returned = reverseDebit(
      spent.wallet,
      { open: spent.blocks, consumed: spent.blocks },
      spent.rows[0]!,
      counter(),
      '2026-03-01T00:00:00.000Z',
    );
    expect(returned.wallet.balance).toBe('70');
    expect(refund.plus(returned.wallet.balance).toFixed()).toBe('100');
  });
});

test('billing 12.4: after a pause the period continues for its remaining time', () => {
  const { current_period_end } = resumedPeriod(
    {
      billing_cycle: 'anniversary',
      billing_anchor: '2026-03-01T00:00:00.000Z',
      current_period_start: '2026-03-01T00:00:00.000Z',
      current_period_end: '2026-04-01T00:00:00.000Z',
    },
    { pause_start: '2026-03-11T00:00:00.000Z' },
    '2026-05-10T00:00:00.000Z',
  );
  expect(current_period_end).toBe('2026-05-31T00:00:00.000Z');
});
