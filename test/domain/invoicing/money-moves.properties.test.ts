import { INVOICE_STATUSES, PAYMENT_STATUSES, REFUND_STATUSES } from '../../../schemas/words.ts';
import fc from 'fast-check';
import { BillingError } from '../../../domain/errors.ts';
import {
  checkCreditNote,
  type CreditableInvoice,
  type StoredCreditNote,
} from '../../../domain/invoicing/credit-notes.ts';
import { payFromWallets, type PayingWallet } from '../../../domain/invoicing/pay-from-wallets.ts';
import {
  deriveInvoicePayment,
  type InvoiceLedger,
  type LedgerPayment,
} from '../../../domain/invoicing/payment-ledger.ts';
import {
  allocateRefund,
  refundCapacity,
  type Refund,
  type RefundablePayment,
} from '../../../domain/invoicing/refunds.ts';
import { computeTaxes } from '../../../domain/invoicing/taxes.ts';
import { decimal, Decimal, decimalText, sum, ZERO } from '../../../domain/money.ts';
import { property } from '../../support/properties.ts';

const cents = (most: number) => fc.integer({ min: 0, max: most });
const dollars = (units: number) => (units / 100).toFixed(2);
const total = (amounts: readonly number[]) => amounts.reduce((one, other) => one + other, 0);

describe('the payment fields of an invoice', () => {
  const payment = fc.record({
    status: fc.constantFrom(...PAYMENT_STATUSES),
    units: cents(10_000),
    method: fc.constantFrom('CARD', 'OFFLINE', 'CREDITS'),
  });
  const cases = fc.record({
    status: fc.constantFrom(...INVOICE_STATUSES),
    total: cents(20_000),
    payments: fc.array(payment, { maxLength: 5 }),
    refunds: fc.array(
      fc.record({ status: fc.constantFrom(...REFUND_STATUSES), units: cents(5_000) }),
      { maxLength: 4 },
    ),
    notes: fc.array(
      fc.record({
        type: fc.constantFrom('ADJUSTMENT' as const, 'REFUND' as const),
        status: fc.constantFrom('DRAFT' as const, 'FINALIZED' as const, 'VOIDED' as const),
        units: cents(5_000),
      }),
      { maxLength: 4 },
    ),
  });

  property(
    'agree with whole cents counted apart, and the status with the figures (money 8.4)',
    fc.property(cases, (given) => {
      const ledger: InvoiceLedger = {
        payments: given.payments.map(({ status, units, method }): LedgerPayment => ({
          payment_status: status,
          amount: dollars(units),
          payment_method_type: method,
        })),
        refunds: given.refunds.map(({ status, units }) => ({
          refund_status: status,
          amount: dollars(units),
        })),
        credit_notes: given.notes.map(({ type, status, units }) => ({
          credit_note_type: type,
          credit_note_status: status,
          total_amount: dollars(units),
        })),
      };
      const derived = deriveInvoicePayment(given.status, decimal(dollars(given.total)), ledger);

      const settled = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'];
      const paid = total(
        given.payments.filter(({ status }) => settled.includes(status)).map(({ units }) => units),
      );
      const refunded = total(
        given.refunds.filter(({ status }) => status === 'SUCCEEDED').map(({ units }) => units),
      );
      const adjusted = total(
        given.notes
          .filter(({ type, status }) => type === 'ADJUSTMENT' && status === 'FINALIZED')
          .map(({ units }) => units),
      );
      const due = Math.max(given.total - adjusted, 0);
      const same = (text: string, units: number) =>
        expect(Number(text) * 100).toBeCloseTo(units, 6);
      same(derived.amount_paid, paid);
      same(derived.refunded_amount, refunded);
      same(derived.adjustment_amount, adjusted);
      same(derived.amount_due, due);
      same(derived.amount_remaining, Math.max(due - paid, 0));
      same(derived.overpaid_amount, Math.max(paid - due, 0));

      const { payment_status: status } = derived;
      if (refunded > 0 && !(given.status === 'VOIDED' && paid === 0)) {
        expect(status).toBe(refunded >= paid ? 'REFUNDED' : 'PARTIALLY_REFUNDED');
      } else if (given.status === 'VOIDED' && paid === 0) expect(status).toBe('VOIDED');
      else if (paid > due) expect(status).toBe('OVERPAID');
      else if (paid < due) {
        expect(['PENDING', 'PROCESSING', 'INITIATED', 'FAILED']).toContain(status);
      } else
        expect(status).toBe(
          given.status === 'FINALIZED' || given.status === 'VOIDED' ? 'SUCCEEDED' : 'PENDING',
        );
    }),
    { quick: 300, deep: 30_000 },
  );
});

describe('taxes', () => {
  const rates = fc.array(
    fc.record({ thousandths: fc.integer({ min: 0, max: 100_000 }), inclusive: fc.boolean() }),
    { maxLength: 4 },
  );

  property(
    'are within half a minor unit of the exact share, and inclusive ones never exceed the base',
    fc.property(fc.integer({ min: 0, max: 5_000_000 }), rates, (units, given) => {
      const base = decimal(dollars(units));
      const taxes = computeTaxes(
        base,
        given.map((rate, index) => ({
          tax_rate_id: String(index),
          tax_association_id: null,
          percentage_value: decimalText(new Decimal(rate.thousandths).div(1000)),
          tax_behavior: rate.inclusive ? 'inclusive' : 'exclusive',
          priority: 0,
        })),
        'usd',
      );
      const all = total(given.filter((rate) => rate.inclusive).map((rate) => rate.thousandths));
      const net = base.minus(taxes.inclusive);
      expect(net.gte(0)).toBe(true);
      expect(
        sum(taxes.rows.map((tax) => decimal(tax.tax_amount))).eq(
          taxes.inclusive.plus(taxes.exclusive),
        ),
      ).toBe(true);
      given.forEach((rate, index) => {
        const exact = rate.inclusive
          ? base.times(rate.thousandths).div(100_000 + all)
          : net.times(rate.thousandths).div(100_000);
        const off = decimal(taxes.rows[index]!.tax_amount).minus(exact).abs();
        // Only where the base is used up may an inclusive tax fall short of its share.
        expect(off.lte('0.005') || (rate.inclusive && net.isZero())).toBe(true);
      });
    }),
    { quick: 300, deep: 30_000 },
  );
});

describe('payments out of wallets', () => {
  const wallet = fc.record({
    units: fc.integer({ min: -1_000, max: 20_000 }),
    allowed: fc.constantFrom<PayingWallet['allowed_price_types']>(
      ['USAGE'],
      ['FIXED'],
      ['ALL'],
      ['USAGE', 'FIXED'],
      [],
    ),
  });

  property(
    'never exceed a balance, what is open, or the rows that a wallet may pay for',
    fc.property(
      cents(10_000),
      cents(10_000),
      cents(3_000),
      fc.array(wallet, { maxLength: 5 }),
      (usage, fixed, tax, wallets) => {
        const open = {
          usage: decimal(dollars(usage)),
          fixed: decimal(dollars(fixed)),
          remaining: decimal(dollars(usage + fixed + tax)),
        };
        const payments = payFromWallets(
          open,
          wallets.map(({ units, allowed }, index) => ({
            id: String(index),
            balance: dollars(units),
            allowed_price_types: allowed,
          })),
          'usd',
        );
        expect(sum(payments.map(({ amount }) => amount)).lte(open.remaining)).toBe(true);
        const restricted = { USAGE: ZERO, FIXED: ZERO };
        for (const { wallet_id: id, amount } of payments) {
          const { units, allowed } = wallets[Number(id)]!;
          expect(amount.gt(0)).toBe(true);
          expect(amount.lte(dollars(units))).toBe(true);
          const [only] = allowed;
          if (allowed.length === 1 && (only === 'USAGE' || only === 'FIXED')) {
            restricted[only] = restricted[only].plus(amount);
          }
        }
        expect(restricted.USAGE.lte(open.usage)).toBe(true);
        expect(restricted.FIXED.lte(open.fixed)).toBe(true);
        // Nobody who could pay is left out while something is open.
        const paid = sum(payments.map(({ amount }) => amount));
        const unrestricted = wallets.filter(
          ({ allowed, units }) => units > 0 && (allowed.length !== 1 || allowed[0] === 'ALL'),
        );
        if (unrestricted.length > 0 && paid.lt(open.remaining)) {
          const spent = (index: number) =>
            payments.find(({ wallet_id: id }) => id === String(index))?.amount ?? ZERO;
          wallets.forEach((each, index) => {
            if (unrestricted.includes(each))
              expect(spent(index).eq(dollars(each.units))).toBe(true);
          });
        }
      },
    ),
    { quick: 200, deep: 20_000 },
  );
});

describe('refunds', () => {
  const payment = fc.record({
    units: fc.integer({ min: 1, max: 5_000 }),
    method: fc.constantFrom('CARD', 'OFFLINE', 'CREDITS'),
    status: fc.constantFrom('SUCCEEDED' as const, 'FAILED' as const, 'PARTIALLY_REFUNDED' as const),
  });
  const earlier = fc.record({
    payment: fc.integer({ min: 0, max: 4 }),
    units: cents(3_000),
    status: fc.constantFrom(...REFUND_STATUSES),
  });

  property(
    'sum exactly, stay inside each capacity, and use up the newest first (money 9.7, 24 I9)',
    fc.property(
      fc.array(payment, { maxLength: 5 }),
      fc.array(earlier, { maxLength: 4 }),
      fc.integer({ min: 1, max: 12_000 }),
      (given, past, asked) => {
        const payments = given.map((each, index): RefundablePayment => ({
          id: String(index),
          amount: dollars(each.units),
          payment_method_type: each.method,
          payment_status: each.status,
        }));
        const refunds = past.map((each): Refund => ({
          payment_id: String(each.payment),
          amount: dollars(each.units),
          refund_status: each.status,
        }));
        const capacity = payments.map((each) => refundCapacity(each, refunds));
        const all = sum(capacity);
        const amount = decimal(dollars(asked));
        if (amount.gt(all)) {
          expect(() => allocateRefund(amount, 'PREPAID_WALLET', payments, refunds)).toThrow(
            BillingError,
          );
          return;
        }
        const parts = allocateRefund(amount, 'PREPAID_WALLET', payments, refunds);
        expect(sum(parts.map((part) => part.amount)).eq(amount)).toBe(true);
        const oldest = Math.min(...parts.map((part) => Number(part.payment_id)));
        for (const part of parts) {
          const place = Number(part.payment_id);
          expect(part.amount.gt(0) && part.amount.lte(capacity[place]!)).toBe(true);
          // All but the oldest that is used are used up.
          if (place !== oldest) expect(part.amount.eq(capacity[place]!)).toBe(true);
        }
      },
    ),
    { quick: 300, deep: 20_000 },
  );
});

describe('credit notes', () => {
  const note = fc.record({
    row: fc.integer({ min: 0, max: 2 }),
    units: fc.integer({ min: 1, max: 3_000 }),
    isFinalized: fc.boolean(),
  });

  property(
    'finalized in any order never credit more than was paid, nor a row beyond its net (money 10.5, 10.6)',
    fc.property(
      fc.array(cents(3_000), { minLength: 3, maxLength: 3 }),
      cents(1_000),
      fc.array(note, { maxLength: 12 }),
      (amounts, discount, notes) => {
        const nets = amounts.map((units, index) =>
          index === 0 ? Math.max(units - discount, 0) : units,
        );
        const paid = total(nets);
        let refunded = 0;
        const credited = [0, 0, 0];
        const stored: StoredCreditNote[] = [];
        for (const each of notes) {
          const invoice: CreditableInvoice = {
            id: 'inv',
            currency: 'usd',
            invoice_status: 'FINALIZED',
            payment_status: 'SUCCEEDED',
            total: dollars(paid),
            adjustment_amount: '0',
            amount_paid: dollars(paid),
            refunded_amount: dollars(refunded),
            refunds_in_flight: '0',
            exclusive_tax: '0',
            lines: amounts.map((units, index) => ({
              id: String(index),
              amount: dollars(units),
              line_item_discount: index === 0 ? dollars(Math.min(discount, units)) : '0',
              invoice_level_discount: '0',
            })),
          };
          const lines = [{ invoice_line_item_id: String(each.row), amount: dollars(each.units) }];
          const fits =
            each.units <= paid - refunded && each.units <= nets[each.row]! - credited[each.row]!;
          const attempt = () => checkCreditNote(invoice, 'REFUND', lines, stored);
          if (!fits) {
            expect(attempt).toThrow(BillingError);
            continue;
          }
          expect(attempt().eq(dollars(each.units))).toBe(true);
          stored.push({
            credit_note_status: each.isFinalized ? 'FINALIZED' : 'DRAFT',
            line_items: lines,
          });
          if (!each.isFinalized) continue;
          refunded += each.units;
          credited[each.row] = credited[each.row]! + each.units;
        }
        expect(refunded).toBeLessThanOrEqual(paid);
      },
    ),
    { quick: 200, deep: 10_000 },
  );
});
