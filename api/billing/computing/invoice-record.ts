import { decimalText } from '../../../domain/money.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { InvoiceTarget } from './invoice-target.ts';
import type { RatedCharge } from './rate-charges.ts';

/** The actor and the time of the computation. */
interface Computing {
  readonly at: string;
  readonly user_id: string;
}

/** A draft not computed yet: no amounts, no number. */
export function newInvoice(target: InvoiceTarget, id: string, computing: Computing): InvoiceRecord {
  const { subscription, billing_reason, period } = target;
  const { at, user_id } = computing;
  const isOpening = target.covers.closing === null;
  return {
    id,
    tenant_id: subscription.tenant_id,
    environment_id: subscription.environment_id,
    customer_id: subscription.invoicing_customer_id ?? subscription.customer_id,
    subscription_id: subscription.id,
    subscription_customer_id: subscription.customer_id,
    invoice_number: null,
    invoice_type: 'SUBSCRIPTION',
    invoice_status: 'DRAFT',
    payment_status: 'PENDING',
    currency: subscription.currency,
    description: isOpening
      ? `Invoice for advance charges - subscription ${subscription.id}`
      : `Invoice for subscription ${subscription.id}`,
    billing_period: subscription.billing_period,
    billing_reason,
    billing_sequence: null,
    ...NO_AMOUNTS,
    period_start: period.start,
    period_end: period.end,
    due_date: null,
    due_date_given: false,
    issue_date: at,
    issue_date_given: false,
    finalized_at: null,
    paid_at: null,
    voided_at: null,
    last_computed_at: null,
    idempotency_key: null,
    invoice_pdf_url: null,
    recalculated_invoice_id: null,
    is_manually_edited: false,
    source_type: null,
    tax_summary: null,
    coupon_applications: [],
    taxes: [],
    metadata: {},
    version: 1,
    revision: 0,
    proration_behavior: target.proration_behavior,
    meter_version_ids: [],
    usage_watermarks: null,
    finalize_after: null,
    stream_heads: null,
    finalize_refusal: null,
    status: 'published',
    created_at: at,
    updated_at: at,
    created_by: user_id,
    updated_by: user_id,
  };
}

export const NO_AMOUNTS = {
  subtotal: '0',
  total: '0',
  total_discount: '0',
  total_tax: '0',
  total_prepaid_credits_applied: '0',
  amount_due: '0',
  amount_paid: '0',
  amount_remaining: '0',
  adjustment_amount: '0',
  overpaid_amount: '0',
  refunded_amount: '0',
} as const;

export interface LineFacts {
  readonly target: InvoiceTarget;
  readonly invoice_id: string;
  readonly charge: RatedCharge;
  /** Zero-based. */
  readonly position: number;
  /** The current rows of the invoice: a row that bills the same service keeps its id. */
  readonly rows: readonly InvoiceLineRecord[];
  readonly computing: Computing;
}

/** A rated charge as a row of its invoice. */
export function invoiceLine(deps: Pick<BillingDeps, 'ids'>, facts: LineFacts): InvoiceLineRecord {
  const { target, charge, computing } = facts;
  const { subscription } = target;
  const { line, rated, questions } = charge;
  // A row keeps its identity if it bills the same service of the same line item (billing 3.1).
  const known = facts.rows.find(
    (row) =>
      row.subscription_line_item_id === line.id &&
      row.period_start === rated.period.start &&
      row.kind === rated.kind,
  );
  const suffix = line.price_type === 'USAGE' ? 'Usage Charge' : 'Fixed Charge';
  return {
    id: known?.id ?? deps.ids.next('inv_line'),
    tenant_id: subscription.tenant_id,
    environment_id: subscription.environment_id,
    invoice_id: facts.invoice_id,
    customer_id: subscription.invoicing_customer_id ?? subscription.customer_id,
    subscription_id: subscription.id,
    subscription_line_item_id: line.id,
    kind: rated.kind,
    position: facts.position,
    entity_type: line.entity_type,
    entity_id: line.entity_id,
    price_id: line.price_id,
    price_type: line.price_type,
    price_unit: line.price_unit,
    price_unit_id: line.price_unit_id,
    price_unit_amount: '0',
    meter_id: line.meter_id,
    meter_display_name: line.meter_display_name,
    plan_display_name: line.plan_display_name,
    display_name: line.display_name,
    currency: subscription.currency,
    quantity: decimalText(rated.quantity),
    amount: decimalText(rated.amount),
    line_item_discount: '0',
    invoice_level_discount: '0',
    prepaid_credits_applied: '0',
    adjusted_entitlement_quantity:
      rated.adjusted_entitlement_quantity === null
        ? null
        : decimalText(rated.adjusted_entitlement_quantity),
    commitment_info: rated.commitment_info,
    parent_line_item_id: null,
    period_start: rated.period.start,
    period_end: rated.period.end,
    metadata: { description: `${line.display_name} (${suffix})` },
    explanation: rated.explanation,
    usage_queries: questions.map(({ query }) => query),
    allowance_queries: questions.flatMap(({ allowance }) => [
      ...(allowance?.queries.values() ?? []),
    ]),
    holds_slot: true,
    status: 'published',
    created_at: known?.created_at ?? computing.at,
    updated_at: computing.at,
    created_by: known?.created_by ?? computing.user_id,
    updated_by: computing.user_id,
  };
}
