import { decimal } from '../../../domain/money.ts';
import { realTimeBalance, type ClaimingInvoice } from '../../../domain/wallet/real-time-balance.ts';
import type { AllowedPriceType } from '../../../domain/invoicing/prepaid-credits.ts';
import { block, NOW, walletOf } from './wallet-input.ts';

const USAGE: AllowedPriceType[] = ['USAGE'];
const ALL: AllowedPriceType[] = ['ALL'];
const invoice = (over: Partial<ClaimingInvoice> = {}): ClaimingInvoice => ({
  currency: 'usd',
  invoice_status: 'FINALIZED',
  payment_status: 'PENDING',
  amount_paid: '0',
  amount_remaining: '75',
  period_end: null,
  is_top_up: false,
  lines: [
    {
      price_type: 'USAGE',
      amount: '30',
      line_item_discount: '0',
      invoice_level_discount: '0',
      prepaid_credits_applied: '5',
    },
    {
      price_type: 'FIXED',
      amount: '50',
      line_item_discount: '0',
      invoice_level_discount: '0',
      prepaid_credits_applied: '0',
    },
  ],
  ...over,
});
const balance = (
  of: {
    credits?: string;
    wallet?: object;
    blocks?: ReturnType<typeof block>[];
    allowed?: AllowedPriceType[];
    usage?: string;
    invoices?: ClaimingInvoice[];
  } = {},
) => {
  const credits = of.credits ?? '100';
  return realTimeBalance(
    walletOf(credits, of.wallet),
    of.blocks ?? [block('a', credits)],
    of.allowed ?? USAGE,
    { usage: decimal(of.usage ?? '0'), invoices: of.invoices ?? [] },
    NOW,
  );
};

describe('example F (money 2.8)', () => {
  test.each`
    allowed      | result    | unpaid
    ${USAGE}     | ${'56.6'} | ${'25'}
    ${ALL}       | ${'6.6'}  | ${'75'}
    ${['FIXED']} | ${'25'}   | ${'75'}
    ${[]}        | ${'6.6'}  | ${'75'}
  `('allowed $allowed: $result', ({ allowed, result, unpaid }) => {
    expect(balance({ allowed, usage: '18.40', invoices: [invoice()] })).toMatchObject({
      real_time_balance: result,
      real_time_credit_balance: result,
      current_period_usage: allowed[0] === 'FIXED' ? '0' : '18.4',
      unpaid_invoices_amount: unpaid,
    });
  });
});

describe('what counts as unpaid', () => {
  test.each`
    why                            | over                                                                   | taken
    ${'finalized'}                 | ${{}}                                                                  | ${'75'}
    ${'another currency'}          | ${{ currency: 'eur' }}                                                 | ${'0'}
    ${'it sells credits'}          | ${{ is_top_up: true }}                                                 | ${'0'}
    ${'paid'}                      | ${{ payment_status: 'SUCCEEDED', amount_remaining: '0' }}              | ${'0'}
    ${'voided'}                    | ${{ invoice_status: 'VOIDED' }}                                        | ${'0'}
    ${'draft of a running period'} | ${{ invoice_status: 'DRAFT', period_end: '2026-03-01T00:00:00.001Z' }} | ${'0'}
    ${'draft of a closed period'}  | ${{ invoice_status: 'DRAFT', period_end: NOW }}                        | ${'75'}
    ${'draft without a period'}    | ${{ invoice_status: 'DRAFT' }}                                         | ${'75'}
    ${'finalized before its end'}  | ${{ period_end: '2026-04-01T00:00:00.000Z' }}                          | ${'75'}
  `('$why: $taken', ({ over, taken }) => {
    expect(balance({ allowed: ALL, invoices: [invoice(over)] }).unpaid_invoices_amount).toBe(taken);
  });

  test('all of them together', () => {
    expect(
      balance({ invoices: [invoice(), invoice({ amount_remaining: '10' })] })
        .unpaid_invoices_amount,
    ).toBe('35');
  });
});

describe('what the wallet has', () => {
  test('credits become money at the conversion rate, and back', () => {
    expect(balance({ wallet: { conversion_rate: '0.5' }, usage: '10' })).toMatchObject({
      real_time_balance: '40',
      real_time_credit_balance: '80',
    });
  });

  test('it may go below zero', () => {
    expect(balance({ usage: '150' })).toMatchObject({
      real_time_balance: '-50',
      real_time_credit_balance: '-50',
    });
  });

  test('expired credits no longer count, held ones neither (2.7.5)', () => {
    const blocks = [
      block('a', '60'),
      block('dead', '40', { expiry_date: '2026-02-28T00:00:00.000Z' }),
    ];
    expect(balance({ blocks }).real_time_balance).toBe('60');
  });

  test('an overdraft counts', () => {
    expect(balance({ credits: '-20', blocks: [] }).real_time_balance).toBe('-20');
    const held = [block('held', '5', { expiry_date: '2026-02-28T00:00:00.000Z' })];
    expect(balance({ credits: '3', blocks: held }).real_time_balance).toBe('-2');
  });

  test.each(['frozen', 'closed'] as const)('a %s wallet shows zero', (wallet_status) => {
    expect(balance({ wallet: { wallet_status }, usage: '10' })).toEqual({
      real_time_balance: '0',
      real_time_credit_balance: '0',
      current_period_usage: '0',
      unpaid_invoices_amount: '0',
    });
  });

  test('a POST_PAID wallet shows its settled balance', () => {
    expect(
      balance({
        wallet: { wallet_type: 'POST_PAID', conversion_rate: '2' },
        usage: '10',
        invoices: [invoice()],
        allowed: ALL,
      }),
    ).toEqual({
      real_time_balance: '200',
      real_time_credit_balance: '100',
      current_period_usage: '0',
      unpaid_invoices_amount: '0',
    });
  });
});
