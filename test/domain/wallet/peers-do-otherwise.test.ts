import { decimal } from '../../../domain/money.ts';
import type { AllowedPriceType } from '../../../domain/invoicing/prepaid-credits.ts';
import { decideAutoTopUp } from '../../../domain/wallet/auto-top-up.ts';
import { takeCredits } from '../../../domain/wallet/credit-block.ts';
import { realTimeBalance, type ClaimingInvoice } from '../../../domain/wallet/real-time-balance.ts';
import { block, NOW, walletOf } from './wallet-input.ts';

/** Points on which other billing systems answer otherwise. Each names the rule that decides for us. */
describe('real-time balance with two open invoices (money 2.8.5)', () => {
  const row = (price_type: 'USAGE' | 'FIXED', amount: string, off = '0', credits = '0') => ({
    price_type,
    amount,
    line_item_discount: off,
    invoice_level_discount: '0',
    prepaid_credits_applied: credits,
  });
  const open = (over: Partial<ClaimingInvoice>): ClaimingInvoice => ({
    currency: 'usd',
    invoice_status: 'FINALIZED',
    payment_status: 'PENDING',
    amount_paid: '0',
    amount_remaining: '0',
    period_end: null,
    is_top_up: false,
    lines: [],
    ...over,
  });
  const invoices = [
    open({
      amount_paid: '30',
      amount_remaining: '100',
      lines: [row('USAGE', '80', '5', '10'), row('FIXED', '50')],
    }),
    open({ amount_remaining: '50', lines: [row('USAGE', '50')] }),
  ];

  test.each`
    allowed                     | balance  | unpaid
    ${['USAGE']}                | ${'885'} | ${'115'}
    ${['FIXED']}                | ${'850'} | ${'150'}
    ${['ALL']}                  | ${'850'} | ${'150'}
    ${[] as AllowedPriceType[]} | ${'850'} | ${'150'}
  `(
    '$allowed: $balance; what was paid of an invoice does not raise it',
    ({ allowed, balance, unpaid }) => {
      expect(
        realTimeBalance(
          walletOf('1000'),
          [block('a', '1000')],
          allowed,
          { usage: decimal('0'), invoices },
          NOW,
        ),
      ).toMatchObject({ real_time_balance: balance, unpaid_invoices_amount: unpaid });
    },
  );
});

test('money 3.6: one evaluation tops up once, however far below the threshold', () => {
  const config = {
    enabled: true,
    invoicing: false,
    threshold: '50',
    amount: '10',
    cooldown_ms: null,
    off_session: false,
  };
  const history = { pending: [], has_unpaid_auto_invoice: false, last_auto_top_up_at: null };
  const decision = decideAutoTopUp({ wallet_status: 'active' }, config, decimal('5'), history, NOW);
  expect(decision).toMatchObject({ tops_up: true, credits: decimal('10') });
  const again = { ...history, last_auto_top_up_at: NOW };
  expect(decideAutoTopUp({ wallet_status: 'active' }, config, decimal('15'), again, NOW)).toEqual({
    tops_up: false,
    because: 'cooldown',
  });
});

test('money 2.5, 5.3: usage that no credit covered is not deducted from a later one', () => {
  const early = takeCredits([], decimal('25'), '2023-12-31T23:00:00Z');
  expect(early.uncovered.toFixed()).toBe('25');
  const later = takeCredits([block('g1', '100')], decimal('25'), '2024-01-01T01:00:00Z');
  expect(later.blocks[0]!.credits_available).toBe('75');
});
