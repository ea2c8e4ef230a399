import { buildInvoice } from '../../support/build-invoice.ts';
import type { InvoiceCoupon } from '../../../domain/invoicing/coupons.ts';
import { editLines, keptDiscounts, type LineEdit } from '../../../domain/invoicing/draft-edits.ts';
import type { InvoiceRow } from '../../../domain/invoicing/invoice-row.ts';
import { reportPayment, type KnownPayment } from '../../../domain/invoicing/manual-payment.ts';
import { assertCollectable, payFromWallets } from '../../../domain/invoicing/pay-from-wallets.ts';
import { deriveInvoicePayment, EMPTY_LEDGER } from '../../../domain/invoicing/payment-ledger.ts';
import type { PrepaidWallet } from '../../../domain/invoicing/prepaid-credits.ts';
import type { InvoiceTaxRate } from '../../../domain/invoicing/taxes.ts';
import { invoiceTotals } from '../../../domain/invoicing/totals.ts';
import { unpaidSummary, type OpenInvoice } from '../../../domain/invoicing/unpaid.ts';
import {
  activatesSubscription,
  skipsAsZero,
  type BillingReason,
} from '../../../domain/invoicing/zero-invoice.ts';
import { decimal, Decimal, decimalText, sum, ZERO } from '../../../domain/money.ts';
import type { PriceType } from '../../../domain/pricing/price.ts';
import { rateFixedLine } from '../../../domain/pricing/rate-fixed-line.ts';
import { rateUsageLine } from '../../../domain/pricing/rate-usage-line.ts';
import { type InvoiceStatus, moveInvoice } from '../../../domain/states/invoice.ts';
import type { PaymentStatus } from '../../../domain/states/payment-status.ts';
import { chargesOnInvoice, type ChargedLine } from '../../../domain/subscription/charges.ts';
import { billingPeriods, type BillingSchedule } from '../../../domain/time/billing-periods.ts';
import type { JsonObject } from '../compare.ts';
import { oneOf, UnsupportedCase, type AreaOperations } from '../operation.ts';
import { ANY_PERIOD, caseTerms, wholeCell, wholeUsage } from './price.ts';

export const invoice: AreaOperations = {
  peers(given) {
    const of = given as unknown as PeerInvoice;
    const lines = of.lines.map((line) => row(line.id, amountOf(line, of.currency), line));
    const lineCoupons = Object.entries(of.line_item_coupons ?? {}).flatMap(([id, coupons]) =>
      coupons.map((coupon) => couponOf(coupon, id)),
    );
    const built = buildInvoice({
      currency: of.currency,
      invoice_status: 'FINALIZED',
      lines,
      coupons: [...lineCoupons, ...(of.coupons ?? []).map((coupon) => couponOf(coupon))],
      taxes: { rates: (of.taxes ?? []).map(taxOf), exemption: null },
      wallets: (of.wallets ?? []).map(({ id, balance }) => walletOf(id, balance)),
    });
    const debited = sum(built.wallet_debits.map((debit) => decimal(debit.amount)));
    return {
      ...figures(built),
      coupon_applications: built.coupon_applications
        .filter((application) => application.invoice_line_item_id === null)
        .map((application) => application.discounted_amount),
      lines: Object.fromEntries(built.lines.map((line) => [line.id, settled(line)])),
      wallet_balance_after: sum((of.wallets ?? []).map((wallet) => decimal(wallet.balance))).minus(
        debited,
      ),
    };
  },

  discount_then_prepaid_credit(given) {
    const of = given as unknown as {
      currency: string;
      line_items: PeerLine[];
      coupons: (CaseCoupon & { scope: string; line?: number })[];
      prepaid_wallet_balances: string[];
    };
    return figures(
      buildInvoice({
        currency: of.currency,
        invoice_status: 'FINALIZED',
        lines: of.line_items.map((line, index) => row(String(index), line.amount!, line)),
        coupons: of.coupons.map((coupon) =>
          couponOf(
            coupon,
            oneOf('scope', coupon.scope, ['line', 'invoice']) === 'line'
              ? String(coupon.line)
              : null,
          ),
        ),
        wallets: of.prepaid_wallet_balances.map((balance, index) =>
          walletOf(String(index), balance),
        ),
      }),
    );
  },

  recalculate_totals(given) {
    const of = given as unknown as {
      line_amounts: string[];
      total_discount: string;
      total_tax: string;
      total_prepaid_credits_applied: string;
      amount_paid: string;
    };
    const totals = invoiceTotals({
      subtotal: sum(of.line_amounts.map(decimal)),
      totalDiscount: decimal(of.total_discount),
      totalPrepaidCredits: decimal(of.total_prepaid_credits_applied),
      inclusiveTax: ZERO,
      exclusiveTax: decimal(of.total_tax),
    });
    return {
      ...totals,
      ...deriveInvoicePayment('FINALIZED', decimal(totals.total), paid(of.amount_paid)),
    };
  },

  draft_line_item_edits(given) {
    const edits = given['edits'] as unknown as CaseEdit[];
    const existing = edits.filter((edit) => edit.existing !== undefined);
    const before = existing.map((edit, index) => ({
      ...row(String(index), edit.existing!),
      quantity: edit.quantity ?? '1',
    }));
    const edited = editLines(
      before,
      edits.filter((edit) => edit.existing === undefined).map((edit) => editOf(edit)),
    );
    const built = buildInvoice({
      currency: 'usd',
      invoice_status: moveInvoice('DRAFT', 'edit'),
      lines: edited.lines,
      coupons: keptDiscounts([], edited.renamed),
    });
    const [line] = built.lines;
    return {
      ...figures(built),
      published_line_items: built.lines.length,
      is_manually_edited: true,
      line: { amount: line!.amount, quantity: line!.quantity },
      new_line_item_id: edited.renamed.has('0'),
      old_line_status: edited.archived_ids.includes('0') ? 'archived' : 'published',
    };
  },

  draft_line_item_edit_allowed(given) {
    const { add } = given['edit'] as unknown as { add: { amount: string; quantity: string }[] };
    editLines(
      [],
      add.map((line) => editOf({ add: line })),
    );
    return {};
  },

  fixed_charge_schedule(given) {
    const of = given as unknown as {
      subscription: Omit<BillingSchedule, 'end_date' | 'billing_cycle' | 'customer_timezone'>;
      line_items: CaseFixedLine[];
      periods: number;
    };
    const schedule = anniversary(of.subscription);
    const lines = of.line_items.map((line, index) => chargedLine(String(index), line, schedule));
    const charged = billingPeriods(schedule, schedule.start_date, FAR, of.periods).map(
      (closing, index, all) =>
        chargesOnInvoice(schedule, lines, {
          closing,
          opening: all[index + 1] ?? null,
        }).map(({ line, cell }) => rateFixed(line, cell)),
    );
    return {
      totals: charged.map((rows) => totalOf(rows)),
      line_counts: charged.map((rows) => rows.length),
    };
  },

  subscription_invoice(given) {
    const point = oneOf('reference_point', given['reference_point'] ?? 'period_end', [
      'period_start',
      'period_end',
    ]);
    const of = given as unknown as {
      subscription: Pick<BillingSchedule, 'billing_period'> & { start_date?: string };
      period_start?: string;
      line_items: (CaseFixedLine & { id?: string; usage?: string })[];
      already_invoiced_line_items?: string[];
    };
    const start = of.subscription.start_date ?? ANY_PERIOD.start;
    const schedule = anniversary({
      ...of.subscription,
      start_date: start,
      billing_anchor: start,
      billing_period_count: 1,
    });
    const [period, next] = billingPeriods(schedule, of.period_start ?? start, FAR, 2);
    const lines = of.line_items
      .map((line, index) => chargedLine(line.id ?? String(index), line, schedule))
      .filter((line) => !(of.already_invoiced_line_items ?? []).includes(line.id));
    const scope =
      point === 'period_start'
        ? { closing: null, opening: period! }
        : { closing: period!, opening: next! };
    const rows = chargesOnInvoice(schedule, lines, scope).map(({ line, cell }) => ({
      id: line.id,
      amount: rateFixed(line, cell),
    }));
    const built = buildInvoice({
      currency: 'usd',
      invoice_status: 'DRAFT',
      lines: rows.map(({ id, amount }) => row(id, decimalText(amount))),
    });
    const kind = {
      invoice_type: 'SUBSCRIPTION',
      billing_reason: 'SUBSCRIPTION_CYCLE',
      is_manually_edited: false,
    } as const;
    return {
      line_item_ids: built.lines.map((line) => line.id),
      amount_due: built.amount_due,
      invoice_status: moveInvoice(
        'DRAFT',
        skipsAsZero(kind, built.lines) ? 'compute_zero' : 'compute_value',
      ),
      invoice_type: kind.invoice_type,
    };
  },

  apply_discount_on_draft(given) {
    const of = given as unknown as {
      subtotal: string;
      coupon: (CaseCoupon & { scope: string }) | null;
      tax: { percentage_value: string } | null;
      amount_paid: string;
    };
    const built = buildInvoice({
      currency: 'usd',
      invoice_status: 'DRAFT',
      lines: [row('line', of.subtotal)],
      coupons: of.coupon === null ? [] : [couponOf(of.coupon)],
      taxes: { rates: of.tax === null ? [] : [taxOf(of.tax)], exemption: null },
      ledger: paid(of.amount_paid),
    });
    return figures(built);
  },

  update_invoice_payment_status(given) {
    const of = given as unknown as {
      invoice_status: InvoiceStatus;
      amount_due: string;
      new_payment_status: PaymentStatus;
      amount: string | null;
      payment_records: number;
    };
    const real: KnownPayment[] = Array.from({ length: of.payment_records }, () => ({
      payment_status: 'SUCCEEDED',
      amount: '1',
      payment_method_type: 'OFFLINE',
      is_manual: false,
    }));
    const payments = reportPayment(
      {
        currency: 'usd',
        invoice_status: of.invoice_status,
        payment_status: (given['payment_status'] ?? 'PENDING') as PaymentStatus,
        amount_due: of.amount_due,
        payments: real,
      },
      of.new_payment_status,
      of.amount === null ? null : decimal(of.amount),
    );
    return {
      ...deriveInvoicePayment(of.invoice_status, decimal(of.amount_due), {
        ...EMPTY_LEDGER,
        payments,
      }),
    };
  },

  attempt_payment_from_wallets(given) {
    const of = given as unknown as {
      invoice_status: InvoiceStatus;
      payment_status?: PaymentStatus;
      amount_due: string;
      postpaid_wallet_balance?: string;
    };
    assertCollectable({
      invoice_status: of.invoice_status,
      payment_status: of.payment_status ?? 'PENDING',
    });
    const due = decimal(of.amount_due);
    const payments = payFromWallets(
      { remaining: due, usage: due, fixed: ZERO },
      [{ id: 'w', balance: of.postpaid_wallet_balance!, allowed_price_types: ['ALL'] }],
      'usd',
    );
    return { ...deriveInvoicePayment(of.invoice_status, due, creditPayments(payments)) };
  },

  unpaid_summary(given) {
    const { currency, invoices } = given as unknown as { currency: string; invoices: JsonObject[] };
    return { ...unpaidSummary(invoices.map(openInvoice), currency) };
  },

  billing_reason_activates_subscription(given) {
    return { activates_when_paid: activatesSubscription(given['billing_reason'] as BillingReason) };
  },
};

interface CaseCoupon {
  readonly type: 'fixed' | 'percentage';
  readonly percentage_off?: string;
  readonly amount_off?: string;
}

interface PeerLine {
  readonly id: string;
  readonly price_type: PriceType;
  readonly amount?: string;
  readonly price?: JsonObject;
  readonly quantity?: string;
  readonly commitment?: {
    readonly type?: string;
    readonly amount: string;
    readonly overage_factor: string;
    readonly true_up_enabled: boolean;
  };
}

interface PeerInvoice {
  readonly currency: string;
  readonly lines: readonly PeerLine[];
  readonly line_item_coupons?: Readonly<Record<string, readonly CaseCoupon[]>>;
  readonly coupons?: readonly CaseCoupon[];
  readonly taxes?: readonly { readonly percentage_value: string }[];
  readonly wallets?: readonly { readonly id: string; readonly balance: string }[];
}

interface CaseEdit {
  readonly existing?: string;
  readonly quantity?: string;
  readonly add?: { readonly amount: string; readonly quantity: string };
  readonly update?: { readonly quantity: string };
  readonly remove?: number;
}

interface CaseFixedLine {
  readonly price_type?: PriceType;
  readonly billing_period?: ChargedLine['billing_period'];
  readonly amount?: string;
  readonly invoice_cadence: ChargedLine['invoice_cadence'];
  readonly quantity?: string;
  readonly usage?: string;
  readonly price?: JsonObject;
}

const FAR = '2100-01-01T00:00:00.000Z';

export function row(
  id: string,
  amount: string,
  line: { readonly price_type?: PriceType } = {},
): InvoiceRow {
  return {
    id,
    kind: 'base',
    subscription_id: null,
    subscription_line_item_id: id,
    price_type: line.price_type ?? 'USAGE',
    amount,
    period_start: null,
    period_end: null,
  };
}

export const couponOf = (coupon: CaseCoupon, lineItemId: string | null = null): InvoiceCoupon => ({
  coupon_id: 'coupon',
  coupon_association_id: null,
  type: coupon.type,
  percentage_off: coupon.percentage_off ?? null,
  amount_off: coupon.amount_off ?? null,
  subscription_id: null,
  subscription_line_item_id: lineItemId,
  start_date: null,
  end_date: null,
});

export const taxOf = (tax: {
  readonly percentage_value: string;
  readonly tax_behavior?: string;
}): InvoiceTaxRate => ({
  tax_rate_id: 'rate',
  tax_association_id: null,
  percentage_value: tax.percentage_value,
  tax_behavior: tax.tax_behavior === 'inclusive' ? 'inclusive' : 'exclusive',
  priority: 0,
});

export const walletOf = (id: string, balance: string): PrepaidWallet => ({
  id,
  credits_available: balance,
  conversion_rate: '1',
  allowed_price_types: ['USAGE'],
});

const settled = (line: {
  readonly amount: string;
  readonly line_item_discount: string;
  readonly invoice_level_discount: string;
  readonly prepaid_credits_applied: string;
}) => ({
  amount: line.amount,
  line_item_discount: line.line_item_discount,
  invoice_level_discount: line.invoice_level_discount,
  prepaid_credits_applied: line.prepaid_credits_applied,
});

const figures = (built: ReturnType<typeof buildInvoice>) => ({
  subtotal: built.subtotal,
  total_discount: built.total_discount,
  total_tax: built.total_tax,
  total_prepaid_credits_applied: built.total_prepaid_credits_applied,
  total: built.total,
  amount_due: built.amount_due,
  amount_remaining: built.amount_remaining,
});

/** The row's rated amount: given, or of its price, quantity and commitment. */
function amountOf(line: PeerLine, currency: string): string {
  if (line.price === undefined && line.commitment === undefined) return line.amount!;
  if (line.commitment !== undefined)
    oneOf('commitment.type', line.commitment.type ?? 'amount', ['amount']);
  const price = line.price ?? { billing_model: 'FLAT_FEE', amount: '1' };
  const [rated] = rateUsageLine({
    line: {
      commitment_amount: line.commitment?.amount ?? null,
      commitment_overage_factor: line.commitment?.overage_factor ?? null,
      commitment_true_up_enabled: line.commitment?.true_up_enabled ?? null,
    },
    price: caseTerms({ currency, ...price }),
    aggregation: 'SUM',
    bucket_size: null,
    timezone: '',
    rows: wholeUsage(line.price === undefined ? line.amount! : line.quantity!),
    cell: wholeCell(),
    proration_behavior: 'none',
  });
  return decimalText(rated!.amount);
}

const anniversary = (
  subscription: Omit<BillingSchedule, 'end_date' | 'billing_cycle' | 'customer_timezone'>,
): BillingSchedule => ({
  ...subscription,
  billing_cycle: 'anniversary',
  customer_timezone: '',
  end_date: null,
});

type CaseCharged = ChargedLine & { readonly given: CaseFixedLine };

const chargedLine = (id: string, given: CaseFixedLine, schedule: BillingSchedule): CaseCharged => ({
  id,
  price_type: given.price_type ?? 'FIXED',
  invoice_cadence: given.invoice_cadence,
  billing_period: given.billing_period ?? schedule.billing_period,
  billing_period_count: 1,
  start_date: schedule.start_date,
  end_date: null,
  given,
});

function rateFixed(
  line: CaseCharged,
  cell: ReturnType<typeof chargesOnInvoice<CaseCharged>>[number]['cell'],
): Decimal {
  const price = caseTerms({
    billing_model: 'FLAT_FEE',
    currency: 'usd',
    amount: line.given.amount ?? '0',
    ...line.given.price,
  });
  return rateFixedLine({
    price,
    quantity: line.given.usage ?? line.given.quantity ?? '1',
    cell,
    proration_behavior: 'none',
  }).amount;
}

const totalOf = (amounts: readonly Decimal[]): string =>
  buildInvoice({
    currency: 'usd',
    invoice_status: 'DRAFT',
    lines: amounts.map((amount, index) => row(String(index), decimalText(amount))),
  }).total;

function editOf(edit: CaseEdit): LineEdit<InvoiceRow & { quantity: string }> {
  if (edit.add !== undefined) {
    return {
      action: 'add',
      line: { ...row('added', edit.add.amount), quantity: edit.add.quantity },
    };
  }
  if (edit.update !== undefined) {
    return { action: 'update', id: '0', new_id: 'new', changes: edit.update };
  }
  if (edit.remove === undefined) throw new UnsupportedCase(`edit: ${JSON.stringify(edit)}`);
  return { action: 'remove', id: String(edit.remove) };
}

const paid = (amount: string) => ({
  ...EMPTY_LEDGER,
  payments: [{ payment_status: 'SUCCEEDED', amount, payment_method_type: 'OFFLINE' } as const],
});

export const creditPayments = (payments: readonly { readonly amount: Decimal }[]) => ({
  ...EMPTY_LEDGER,
  payments: payments.map(
    ({ amount }) =>
      ({
        payment_status: 'SUCCEEDED',
        amount: decimalText(amount),
        payment_method_type: 'CREDITS',
      }) as const,
  ),
});

/** An invoice of a case, finalized, with the columns that it leaves out. */
export function openInvoice(given: JsonObject): OpenInvoice {
  const lines = (given['lines'] ?? []) as unknown as Partial<OpenInvoice['lines'][number]>[];
  return {
    currency: 'usd',
    invoice_status: 'FINALIZED',
    payment_status: 'PENDING',
    amount_paid: '0',
    amount_remaining: '0',
    ...(given as object),
    lines: lines.map((line) => ({
      price_type: null,
      amount: '0',
      line_item_discount: '0',
      invoice_level_discount: '0',
      prepaid_credits_applied: '0',
      ...line,
    })),
  };
}
