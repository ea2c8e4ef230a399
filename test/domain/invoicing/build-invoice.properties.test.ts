import fc from 'fast-check';
import { buildInvoice } from '../../support/build-invoice.ts';
import type { InvoiceCoupon } from '../../../domain/invoicing/coupons.ts';
import { keptDiscounts } from '../../../domain/invoicing/draft-edits.ts';
import type { InvoiceRow } from '../../../domain/invoicing/invoice-row.ts';
import { decimal, Decimal, decimalText, sum } from '../../../domain/money.ts';
import { property } from '../../support/properties.ts';
import { redoSettlement } from './redo-settlement.ts';
import {
  shadowInvoice,
  type ShadowCoupon,
  type ShadowRow,
  type ShadowTax,
  type ShadowWallet,
} from './shadow-invoice.ts';

const CURRENCIES = [
  { currency: 'jpy', digits: 0 },
  { currency: 'usd', digits: 2 },
  { currency: 'kwd', digits: 3 },
  { currency: 'clf', digits: 4 },
];
const currencies = fc.constantFrom(...CURRENCIES);
const text = (units: bigint, digits: number) => decimalText(new Decimal(`${units}e-${digits}`));
const percentText = (thousandths: bigint) => text(thousandths, 3);
const instant = (day: number) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString();

const amounts = fc.oneof(
  fc.bigInt(-50n, 400n),
  fc.bigInt(0n, 5n),
  fc.bigInt(-1_000_000n, 9_000_000n),
);
const days = fc.integer({ min: 0, max: 20 });
const windows = fc.tuple(days, fc.integer({ min: 0, max: 10 })).map(([from, length]) => ({
  from,
  to: from + length,
}));
const rows: fc.Arbitrary<ShadowRow> = fc
  .record({
    amount: amounts,
    isCredit: fc.integer({ min: 0, max: 5 }).map((dice) => dice === 0),
    isUsage: fc.boolean(),
    subscription: fc.constantFrom('parent', 'child'),
    item: fc.constantFrom('a', 'b', 'c'),
    window: windows,
  })
  .map(({ window, ...row }) => ({ ...row, ...window }));
const coupons: fc.Arbitrary<ShadowCoupon> = fc
  .record({
    item: fc.option(fc.constantFrom('a', 'b', 'c')),
    subscription: fc.option(fc.constantFrom('parent', 'child')),
    percent: fc.option(fc.bigInt(1n, 100_000n)),
    off: fc.oneof(fc.bigInt(1n, 200n), fc.bigInt(1n, 5_000_000n)),
    since: fc.integer({ min: 0, max: 3 }),
    window: windows,
  })
  .map(({ window, ...coupon }) => ({
    ...coupon,
    from: Math.min(window.from, coupon.since),
    to: window.to,
  }));
const taxes: fc.Arbitrary<ShadowTax> = fc.record({
  percent: fc.oneof(fc.bigInt(0n, 30_000n), fc.bigInt(0n, 100_000n)),
  isInclusive: fc.boolean(),
});
const wallets: fc.Arbitrary<ShadowWallet> = fc.record({
  units: fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, 9_000_000n)),
  pays: fc.constantFrom('usage', 'fixed', 'all'),
});
const cases = fc.record({
  money: currencies,
  rows: fc.array(rows, { maxLength: 8 }),
  coupons: fc.array(coupons, { maxLength: 5 }),
  taxes: fc.array(taxes, { maxLength: 4 }),
  wallets: fc.array(wallets, { maxLength: 3 }),
});
type Case = Parameters<Parameters<typeof cases.map>[0]>[0];

const PAYS = { usage: ['USAGE'], fixed: ['FIXED'], all: ['ALL'] } as const;

/** The case as `domain/` is asked it. */
function build(
  { money, rows: given, coupons: on, taxes: rates, wallets: purses }: Case,
  listed: (coupons: InvoiceCoupon[]) => InvoiceCoupon[] = (all) => all,
) {
  const { currency, digits } = money;
  const lines = given.map((row, index): InvoiceRow => ({
    id: `row-${index}`,
    kind: row.isCredit ? 'credit' : 'base',
    subscription_id: row.subscription,
    subscription_line_item_id: row.item,
    price_type: row.isUsage ? 'USAGE' : 'FIXED',
    amount: text(row.amount, digits),
    period_start: instant(row.from),
    period_end: instant(row.to),
    explanation: {
      kind: 'base',
      currency,
      period: { start: instant(row.from), end: instant(row.to) },
      quantity: '1',
      amount: text(row.amount, digits),
      steps: [],
    },
  }));
  return buildInvoice({
    currency,
    invoice_status: 'FINALIZED',
    lines,
    coupons: listed(on.map((coupon, index) => couponOf(coupon, index, digits))),
    taxes: {
      exemption: null,
      rates: rates.map((rate, index) => ({
        tax_rate_id: String(index),
        tax_association_id: null,
        percentage_value: percentText(rate.percent),
        tax_behavior: rate.isInclusive ? 'inclusive' : 'exclusive',
        priority: 0,
      })),
    },
    wallets: purses.map((purse, index) => ({
      id: String(index),
      credits_available: text(purse.units, digits),
      conversion_rate: '1',
      allowed_price_types: PAYS[purse.pays],
    })),
  });
}

/** Associations are told apart by their start; the order of the ids is the order of the case. */
const couponOf = (coupon: ShadowCoupon, index: number, digits: number): InvoiceCoupon => ({
  coupon_id: `coupon-${index}`,
  coupon_association_id: `association-${index}`,
  type: coupon.percent === null ? 'fixed' : 'percentage',
  percentage_off: coupon.percent === null ? null : percentText(coupon.percent),
  amount_off: coupon.percent === null ? text(coupon.off, digits) : null,
  subscription_id: coupon.subscription,
  subscription_line_item_id: coupon.item,
  start_date: instant(coupon.from),
  end_date: instant(coupon.to),
});

/** The shadow orders by `since`, ours by the start of the window: they are made the same. */
const aligned = cases.map((given) => ({
  ...given,
  coupons: given.coupons.map((coupon) => ({ ...coupon, since: coupon.from })),
}));

property(
  'an invoice agrees with the shadow calculation, row by row',
  fc.property(aligned, (given) => {
    const { digits } = given.money;
    const shadow = shadowInvoice(given.rows, given.coupons, given.taxes, given.wallets);
    const built = build(given);
    const figures = (units: bigint[]) => units.map((each) => text(each, digits));
    expect(built.lines.map((row) => row.line_item_discount)).toEqual(figures(shadow.lineDiscounts));
    expect(built.lines.map((row) => row.invoice_level_discount)).toEqual(
      figures(shadow.invoiceDiscounts),
    );
    expect(built.lines.map((row) => row.prepaid_credits_applied)).toEqual(figures(shadow.credits));
    expect(built.taxes.map((tax) => tax.tax_amount)).toEqual(figures(shadow.taxes));
    expect(
      given.wallets.map(
        (_, index) =>
          built.wallet_debits.find((debit) => debit.wallet_id === String(index))?.amount ?? '0',
      ),
    ).toEqual(figures(shadow.walletDebits));
    expect(built).toMatchObject({
      subtotal: text(shadow.subtotal, digits),
      total_discount: text(shadow.discount, digits),
      total: text(shadow.total, digits),
      negative_net: text(shadow.negative, digits),
      tax_summary: {
        inclusive_tax: text(shadow.inclusive, digits),
        exclusive_tax: text(shadow.exclusive, digits),
      },
    });
  }),
  { quick: 500, deep: 60_000 },
);

property(
  'the identities of the fields hold (billing 9.3, 20.3, 20.13)',
  fc.property(cases, (given) => {
    const built = build(given);
    const total = (texts: readonly string[]) => sum(texts.map(decimal));
    const rows = built.lines;
    const subtotal = total(rows.map((row) => row.amount));
    const discounts = total(
      rows.flatMap((row) => [row.line_item_discount, row.invoice_level_discount]),
    );
    const credits = total(rows.map((row) => row.prepaid_credits_applied));
    const net = subtotal
      .minus(discounts)
      .minus(credits)
      .plus(decimal(built.tax_summary.exclusive_tax));

    expect(built).toMatchObject({
      subtotal: decimalText(subtotal),
      total_discount: decimalText(discounts),
      total_prepaid_credits_applied: decimalText(credits),
      total_tax: decimalText(total(built.taxes.map((tax) => tax.tax_amount))),
      total: decimalText(Decimal.max(net, 0)),
      negative_net: decimalText(Decimal.max(net.neg(), 0)),
      amount_due: built.total,
      amount_remaining: built.total,
    });
    expect(
      total(built.coupon_applications.map((each) => each.discounted_amount)).eq(discounts),
    ).toBe(true);
    expect(total(built.wallet_debits.map((each) => each.amount)).eq(credits)).toBe(true);

    const positive = sum(rows.map((row) => Decimal.max(decimal(row.amount), 0)));
    expect(discounts.lte(positive)).toBe(true);
    expect(discounts.lte(Decimal.max(subtotal, 0))).toBe(true);
  }),
  { quick: 200, deep: 40_000 },
);

property(
  'no row is discounted and paid beyond its amount, and no row below zero is touched',
  fc.property(cases, (given) => {
    for (const row of build(given).lines) {
      const amount = decimal(row.amount);
      const parts = [
        row.line_item_discount,
        row.invoice_level_discount,
        row.prepaid_credits_applied,
      ].map(decimal);
      expect(parts.every((part) => part.gte(0))).toBe(true);
      expect(sum(parts).lte(Decimal.max(amount, 0))).toBe(true);
      if (row.kind === 'credit') expect(sum(parts.slice(0, 2)).isZero()).toBe(true);
    }
  }),
  { quick: 150, deep: 20_000 },
);

property(
  'the shares of an application sum to it, and each application begins where the one before it ended',
  fc.property(cases, (given) => {
    const built = build(given);
    for (const application of built.coupon_applications) {
      expect(decimalText(sum(application.shares.map((share) => decimal(share.amount))))).toBe(
        application.discounted_amount,
      );
      const after = decimal(application.original_price).minus(
        decimal(application.discounted_amount),
      );
      expect(decimalText(after)).toBe(application.final_price);
      expect(decimal(application.final_price).gte(0)).toBe(true);
    }
  }),
  { quick: 150, deep: 20_000 },
);

property(
  'a person can follow every row from its amount to what is left of it',
  fc.property(cases, (given) => {
    for (const row of build(given).lines) {
      expect(redoSettlement(row.explanation!)).toEqual([]);
      const steps = row.explanation!.settlement!.filter((step) => step.step !== 'tax');
      let left = decimal(row.amount);
      for (const step of steps) {
        expect(step.before).toBe(decimalText(left));
        left = left.minus(decimal(step.amount));
        expect(step.after).toBe(decimalText(left));
      }
      const taken = [
        row.line_item_discount,
        row.invoice_level_discount,
        row.prepaid_credits_applied,
      ];
      expect(
        decimal(row.amount)
          .minus(sum(taken.map(decimal)))
          .eq(left),
      ).toBe(true);
    }
  }),
  { quick: 100, deep: 10_000 },
);

property(
  'kept discounts of an unedited draft are the discounts it had',
  fc.property(cases, (given) => {
    const before = build(given);
    const after = buildInvoice({
      currency: given.money.currency,
      invoice_status: 'DRAFT',
      lines: before.lines,
      coupons: keptDiscounts(before.coupon_applications, new Map()),
    });
    expect(after.total_discount).toBe(before.total_discount);
    expect(after.lines.map((row) => row.line_item_discount)).toEqual(
      before.lines.map((row) => row.line_item_discount),
    );
  }),
  { quick: 100, deep: 10_000 },
);

property(
  'the order in which associations are listed does not matter',
  fc.property(cases, (given) => {
    expect(build(given, (on) => on.toReversed())).toEqual(build(given));
  }),
  { quick: 100, deep: 5_000 },
);
