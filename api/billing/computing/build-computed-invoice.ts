import { taxesToPin } from '../../../domain/invoicing/pinned-taxes.ts';
import type { InvoiceLedger } from '../../../domain/invoicing/payment-ledger.ts';
import { skipsAsZero } from '../../../domain/invoicing/zero-invoice.ts';
import type { UsageAnswers } from '../../../domain/metering/usage.ts';
import { moveInvoice } from '../../../domain/states/invoice.ts';
import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import type { InvoiceLineRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BillingSources } from './billing-sources.ts';
import { applicationRecords, couponsOf } from './coupon-applications.ts';
import { partsOf } from './grouped-targets.ts';
import type { BillingInvoiceConfig } from './invoice-config.ts';
import { invoiceLine, newInvoice, type Computing } from './invoice-record.ts';
import type { ComputedInvoice, InvoiceTarget } from './invoice-target.ts';
import { withPinnedAdvances } from './pinned-advances.ts';
import { pausesOf } from './plan-charges.ts';
import { rateCharges, waiveForTrial, type QuestionedCharge } from './rate-charges.ts';
import { dueOn, NO_CREDITS, settle } from './settle.ts';
import {
  couponsIn,
  invoiceCustomCurrency,
  reconverted,
  type Settlement,
} from './settlement-currency.ts';
import { storeWatermarks } from './stored-watermarks.ts';
import { commitCharges } from './subscription-commitments.ts';
import { endAtClose } from './term-ledger.ts';
import { graceEnd } from './targets.ts';
import { taxesOf, taxRecords } from './tax-rows.ts';

/** A subscription of an invoice with its charges. */
export interface PlannedPart {
  readonly target: InvoiceTarget;
  readonly charges: readonly QuestionedCharge[];
}

/** What the rows and amounts of an invoice follow from, in addition to its charges. */
export interface InvoiceFacts {
  readonly sources: BillingSources;
  /** Null if no query was needed. */
  readonly usage: UsageAnswers | null;
  /** The current rows of the invoice. */
  readonly rows: readonly InvoiceLineRecord[];
  /** The rows of the invoice that it replaces, or of the voided one that it bills again. */
  readonly replaced: readonly InvoiceLineRecord[];
  readonly ledger: InvoiceLedger;
  readonly computing: Computing;
  readonly config: BillingInvoiceConfig;
  /** Null for a subscription in a currency of ISO 4217. */
  readonly settlement: Settlement | null;
}

/** Rates the charges of an invoice and computes its rows, discounts, taxes and amounts. Writes nothing. */
export function buildComputedInvoice(
  deps: Pick<BillingDeps, 'ids'>,
  target: InvoiceTarget,
  parts: readonly PlannedPart[],
  { sources, usage, rows, replaced, ledger, computing, config, settlement }: InvoiceFacts,
): ComputedInvoice {
  const { subscription, billing_reason } = target;
  const invoice_id = target.invoice?.id ?? deps.ids.next('inv');
  const committed = parts.map((part) => ratedPart(part, sources, usage, computing.at));
  const charged = committed.flatMap((part) =>
    part.charges.map((charge) => ({ charge, target: part.target })),
  );
  const lines = charged.map(({ charge, target: part }, position) =>
    invoiceLine(deps, {
      target: part,
      invoice_id,
      settlement,
      payer_id: payerOf(subscription),
      grouped_customer:
        part === target ? null : sources.customers.get(part.subscription.customer_id)!,
      charge,
      position,
      rows,
      computing,
      plan_name: sources.planNames.get(part.subscription.plan_id) ?? null,
    }),
  );
  // The voided invoice keeps its rows; those that are kept are written again, and hold the services that it released.
  const keptRows =
    target.replaces === undefined && !target.voided
      ? rows
      : replaced.map((row) => ({
          ...row,
          ...{ id: deps.ids.next('inv_line'), invoice_id, holds_slot: true },
        }));
  const all = withPinnedAdvances(target, sources, keptRows, lines).map((line) =>
    reconverted(settlement, line),
  );
  const isZero = skipsAsZero(
    { invoice_type: 'SUBSCRIPTION', billing_reason, is_manually_edited: false },
    all,
  );
  const draft = target.invoice ?? newInvoice(target, invoice_id, computing);
  const charges = parts.flatMap((part) => part.charges);
  const taxes = taxesOf(target, sources, settlement?.currency ?? subscription.currency);
  const versions = charges.flatMap(({ questions }) => questions.map(({ version }) => version.id));
  const settled = settle(
    {
      ...draft,
      currency: settlement?.currency ?? draft.currency,
      custom_currency: invoiceCustomCurrency(settlement, all),
      invoice_status: moveInvoice(draft.invoice_status, isZero ? 'compute_zero' : 'compute_value'),
      due_date: draft.due_date_given
        ? draft.due_date
        : dueOn(issuedAt(target, computing.at), subscription, config.due_date_days),
      last_computed_at: computing.at,
      meter_version_ids: [...new Set(versions)].sort(),
      pinned_taxes: taxesToPin(taxes, target.period, computing.at),
      usage_watermarks:
        usage === null || versions.length === 0 ? null : storeWatermarks(usage.watermarks),
      committed_usage: committed.flatMap((part) => part.committed_usage),
      grouped_subscription_ids: (target.grouped ?? []).map((part) => part.subscription.id),
      finalize_after: finalizeAfter(target, config),
      updated_at: computing.at,
      updated_by: computing.user_id,
    },
    all,
    {
      coupons: couponsIn(
        settlement,
        // A coupon that counts once discounts the next invoice of the subscription, not one of a closed period.
        partsOf(target).flatMap((part) => couponsOf(part, sources, target.addon != null)),
      ),
      taxes,
      ...NO_CREDITS,
      ledger,
    },
  );
  const { applications, invoice, lines: settledLines } = settled;
  // A skipped invoice has no tax (billing 17.3).
  const taxRows = isZero ? [] : taxRecords(deps, invoice, settled.taxes);
  const coupon_applications = applicationRecords(deps, invoice, applications, {
    coupons: partsOf(target).flatMap((part) => sources.coupons.get(part.subscription.id) ?? []),
    lines: settledLines,
    stored: target.invoice?.coupon_applications ?? [],
  });
  return {
    target,
    sources,
    invoice: { ...invoice, coupon_applications, taxes: taxRows },
    lines: settledLines,
  };
}

/** The rows of one subscription, under its own commitment. */
function ratedPart(
  { target, charges }: PlannedPart,
  sources: BillingSources,
  usage: UsageAnswers | null,
  at: string,
) {
  const earlier = (sources.committedUsage.get(target.subscription.id) ?? []).filter(
    (entry) => entry.invoice_id !== target.invoice?.id && entry.invoice_id !== target.replaces,
  );
  const until = target.period.end > at ? at : null;
  const time = {
    pauses: pausesOf(target, sources),
    ends_at: endAtClose(target.subscription, target.invoice?.committed_usage ?? []),
    closes_at: target.period.end,
  };
  const context = { ...target, ...time, earlier, until };
  const rated = rateCharges(context, charges, usage?.answers ?? new Map());
  const shown =
    target.billing_reason === 'SUBSCRIPTION_TRIAL_START'
      ? { charges: waiveForTrial(rated, target.period), committed_usage: [] }
      : commitCharges(target, rated, earlier, time);
  const isClosed = until === null;
  const committed_usage = shown.committed_usage.map((entry) =>
    isClosed ? { ...entry, ends_at: time.ends_at } : entry,
  );
  return { ...shown, committed_usage, target };
}

/**
 * A cycle's draft is shown as if issued at the end of its period, any other draft as if issued now (17.5).
 */
function issuedAt(target: InvoiceTarget, at: string): string {
  return target.billing_reason === 'SUBSCRIPTION_CYCLE' ? target.period.end : at;
}

/** A new draft waits as long as the tenant says, or else as the operator says (billing 17.4). */
function finalizeAfter(
  { finalize_after, invoice, subscription, period, addon }: InvoiceTarget,
  { finalization_delay_seconds: grace_seconds }: BillingInvoiceConfig,
): string | null {
  if (finalize_after === null || invoice !== null || grace_seconds === null) return finalize_after;
  const created_at = addon?.attached_at ?? subscription.created_at;
  return graceEnd({ created_at }, period, { grace_seconds });
}
