import { buildInvoice } from '../../../domain/invoicing/build-invoice.ts';
import { amountOff, exclusive, line, percentOff, wallet } from './invoice-input.ts';

describe('the worked example of billing-semantics 9.3', () => {
  const built = buildInvoice({
    currency: 'usd',
    invoice_status: 'FINALIZED',
    lines: [
      line('usage', '80', { price_type: 'USAGE', subscription_line_item_id: 'item' }),
      line('flat', '20', { price_type: 'FIXED' }),
    ],
    coupons: [amountOff('10'), percentOff('25', { subscription_line_item_id: 'item' })],
    taxes: { rates: [exclusive('8.25')], exemption: null },
    wallets: [wallet('w', '5')],
  });

  test('totals', () => {
    expect(built).toMatchObject({
      subtotal: '100',
      total_discount: '30',
      total_prepaid_credits_applied: '5',
      total_tax: '5.78',
      total: '70.78',
      amount_due: '70.78',
      amount_paid: '0',
      amount_remaining: '70.78',
      overpaid_amount: '0',
      adjustment_amount: '0',
      refunded_amount: '0',
      payment_status: 'PENDING',
      negative_net: '0',
    });
  });
});
