import assert from 'node:assert/strict';
import { buildInvoice, type InvoiceInput } from '../../../domain/invoicing/build-invoice.ts';
import { storedDiscounts } from './coupon-applications.ts';
import { storedTaxes } from './tax-rows.ts';
import type { CouponApplication } from '../../../domain/invoicing/coupons.ts';
import { dueDate } from '../../../domain/invoicing/due-date.ts';
import { paidAt } from '../../../domain/invoicing/payment-ledger.ts';
import type { WalletDebit } from '../../../domain/invoicing/prepaid-credits.ts';
import type { TaxRow } from '../../../domain/invoicing/taxes.ts';
import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import { moveInvoice } from '../../../domain/states/invoice.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';

/** Days until an invoice is due without terms and without a setting (billing 17.5). */
const DUE_DAYS = 1;

/** The customer's payment terms. */
export interface DueTerms {
  readonly payment_terms: string | null;
  readonly customer_timezone: string;
}

/** A draft uses no credits (billing 9.2). */
export const NO_CREDITS = { wallets: [] } as const;

/** `dueDays`: the setting `due_date_days`, for customers without terms. */
export const dueOn = (issuedAt: string, terms: DueTerms, dueDays = DUE_DAYS): string =>
  dueDate(issuedAt, terms.payment_terms, dueDays, terms.customer_timezone);

export interface Settled {
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
}

/** An invoice with the discounts and taxes of its rows. */
export interface SettledNow extends Settled {
  readonly applications: readonly CouponApplication[];
  readonly taxes: readonly TaxRow[];
  /** What the prepaid wallets pay. */
  readonly debits: readonly WalletDebit[];
}

/** An invoice as it is issued, with the credits that it uses. */
export interface Issued extends Settled {
  readonly debits: readonly WalletDebit[];
}

/**
 * What determines the amounts of an invoice in addition to its rows. Every part is required; none defaults to
 * empty.
 */
export type Settlement = Pick<
  InvoiceInput<InvoiceLineRecord>,
  'coupons' | 'taxes' | 'wallets' | 'ledger'
>;

/** The invoice with every amount computed from its rows, none patched (billing 9.3). */
export function settle(
  invoice: InvoiceRecord,
  lines: readonly InvoiceLineRecord[],
  settlement: Settlement,
): SettledNow {
  const { currency, invoice_status } = invoice;
  const built = buildInvoice({ currency, invoice_status, lines, ...settlement });
  assert(built.negative_net === '0', 'rows of this invoice do not sum below zero');
  return {
    invoice: {
      ...invoice,
      subtotal: built.subtotal,
      total_discount: built.total_discount,
      total_prepaid_credits_applied: built.total_prepaid_credits_applied,
      total_tax: built.total_tax,
      total: built.total,
      adjustment_amount: built.adjustment_amount,
      amount_due: built.amount_due,
      amount_paid: built.amount_paid,
      amount_remaining: built.amount_remaining,
      overpaid_amount: built.overpaid_amount,
      refunded_amount: built.refunded_amount,
      payment_status: built.payment_status,
      tax_summary: built.tax_summary,
    },
    lines: built.lines,
    applications: built.coupon_applications,
    taxes: built.taxes,
    debits: built.wallet_debits,
  };
}

/**
 * The computed draft as issued at `at`: its number, its due date counted from the issue, and status paid if
 * nothing is due (billing 17.4, 17.5, 9.3).
 */
export function issue(
  draft: Settled,
  number: string,
  terms: DueTerms,
  { ledger, wallets }: Pick<Settlement, 'ledger' | 'wallets'>,
  issued: { readonly at: string; readonly user_id: string; readonly dueDays: number },
): Issued {
  const { at, user_id, dueDays } = issued;
  const { invoice, lines, debits } = settle(
    {
      ...draft.invoice,
      invoice_status: moveInvoice(
        draft.invoice.invoice_status,
        isGated(draft.invoice) ? 'complete_checkout' : 'finalize',
      ),
    },
    draft.lines,
    {
      coupons: storedDiscounts(draft.invoice),
      taxes: storedTaxes(draft.invoice),
      wallets,
      ledger,
    },
  );
  return {
    lines,
    debits,
    invoice: {
      ...invoice,
      invoice_number: number,
      finalized_at: at,
      issue_date: invoice.issue_date_given ? invoice.issue_date : at,
      due_date: invoice.due_date_given ? invoice.due_date : dueOn(at, terms, dueDays),
      paid_at: paidAt(invoice, invoice, at),
      finalize_after: null,
      finalize_refusal: null,
      stream_heads: null,
      updated_at: at,
      updated_by: user_id,
    },
  };
}
