import fc from 'fast-check';
import { payFromWallets } from '../../../domain/invoicing/pay-from-wallets.ts';
import { applyPrepaidCredits } from '../../../domain/invoicing/prepaid-credits.ts';
import { creditsToPay } from '../../../domain/invoicing/worth-of-credits.ts';
import { decimal, Decimal, decimalText, roundToStorage, ZERO } from '../../../domain/money.ts';
import { property } from '../../support/properties.ts';

/** Credits bought with whole cents at a rate, and amounts in cents that they are to pay one after the other. */
const cases = fc.record({
  rate: fc.constantFrom('3', '0.3', '7', '0.07', '1.1', '13', '0.0003', '1', '0.5'),
  bought: fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 8 }),
  asked: fc.array(fc.integer({ min: 1, max: 5_000 }), { maxLength: 30 }),
});
const money = (cents: number) => new Decimal(cents).div(100);

type Pay = (credits: Decimal, rate: Decimal, amount: Decimal) => { paid: Decimal; taken: Decimal };

/** From a POST_PAID wallet, as a payment does. */
const asPayment: Pay = (credits, rate, amount) => {
  const balance = decimalText(roundToStorage(credits.times(rate)));
  const wallets = [{ id: 'w', balance, allowed_price_types: ['ALL'] as const }];
  const open = { remaining: amount, usage: amount, fixed: ZERO };
  const [payment] = payFromWallets(open, wallets, 'usd');
  if (payment === undefined) return { paid: ZERO, taken: ZERO };
  return { paid: payment.amount, taken: creditsToPay(payment.amount, rate, credits) };
};

/** From a PRE_PAID wallet, as an invoice does. */
const asCredits: Pay = (credits, rate, amount) => {
  const wallet = {
    id: 'w',
    credits_available: decimalText(credits),
    conversion_rate: decimalText(rate),
    allowed_price_types: ['ALL'] as const,
  };
  const rows = [{ price_type: 'USAGE' as const, net: amount }];
  const { debits } = applyPrepaidCredits(rows, [wallet], amount, 'usd');
  const [debit] = debits;
  return { paid: decimal(debit?.amount ?? '0'), taken: decimal(debit?.credits ?? '0') };
};

describe.each([
  ['POST_PAID', asPayment],
  ['PRE_PAID', asCredits],
])('a %s wallet (money 2.2.6)', (_type, pay) => {
  property(
    'pays what is asked, or all the money that bought its credits, and takes no credit that it does not have',
    fc.property(cases, ({ rate: text, bought, asked }) => {
      const rate = decimal(text);
      let credits = bought.reduce(
        (total, cents) => total.plus(roundToStorage(money(cents).div(rate))),
        ZERO,
      );
      let cents = bought.reduce((total, one) => total + one, 0);
      for (const wanted of asked) {
        const due = Math.min(wanted, cents);
        const { paid, taken } = pay(credits, rate, money(wanted));
        expect(paid.toFixed()).toBe(money(due).toFixed());
        expect(taken.lte(credits)).toBe(true);
        credits = credits.minus(taken);
        cents -= due;
      }
    }),
  );
});
