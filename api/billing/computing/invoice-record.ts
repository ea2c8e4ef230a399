import { moveInvoice } from '../../../domain/states/invoice.ts';
import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import { convertLine, type ConvertedLine } from '../../../domain/pricing/custom-currency.ts';
import { priceUnitAmount } from '../../../domain/pricing/price-unit.ts';
import { compareLength, type Cadence } from '../../../domain/pricing/cadence.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { InvoiceTarget } from './invoice-target.ts';
import { ratedQueries } from './line-questions.ts';
import type { RatedCharge } from './rate-charges.ts';
import type { Settlement } from './settlement-currency.ts';
import type { InvoiceCharge, TrueUpCharge } from './subscription-commitments.ts';

/** The actor and the time of the computation. */
export interface Computing {
  readonly at: string;
  readonly user_id: string;
}

/** A draft not computed yet: no amounts, no number. */
export function newInvoice(target: InvoiceTarget, id: string, computing: Computing): InvoiceRecord {
  const { subscription, billing_reason, period } = target;
  const { at, user_id } = computing;
  const isOpening = target.covers.closing === null;
  return {
    ...NEW_DRAFT,
    id,
    tenant_id: subscription.tenant_id,
    environment_id: subscription.environment_id,
    customer_id: payerOf(subscription),
    subscription_id: subscription.id,
    subscription_customer_id: subscription.customer_id,
    invoice_type: 'SUBSCRIPTION',
    invoice_status: moveInvoice(null, 'create'),
    currency: subscription.currency,
    description: isOpening
      ? `Invoice for advance charges - subscription ${subscription.id}`
      : `Invoice for subscription ${subscription.id}`,
    billing_period: subscription.billing_period,
    billing_reason,
    period_start: period.start,
    period_end: period.end,
    due_date: null,
    due_date_given: false,
    issue_date: at,
    issue_date_given: false,
    last_computed_at: null,
    idempotency_key: null,
    invoice_pdf_url: null,
    source_type: null,
    purchased_transaction_id: null,
    metadata: {},
    revision: 0,
    proration_behavior: target.proration_behavior,
    addon_association_id: target.addon?.association_id ?? null,
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

/** The fields that every new draft has, whatever its rows will be. */
export const NEW_DRAFT = {
  ...NO_AMOUNTS,
  invoice_number: null,
  payment_status: 'PENDING',
  billing_sequence: null,
  finalized_at: null,
  paid_at: null,
  voided_at: null,
  recalculated_invoice_id: null,
  is_manually_edited: false,
  tax_summary: null,
  coupon_applications: [],
  taxes: [],
  pinned_taxes: null,
  version: 1,
  meter_version_ids: [],
  usage_watermarks: null,
  committed_usage: [],
  grouped_subscription_ids: [],
  addon_association_id: null,
  custom_currency: null,
  finalize_after: null,
  stream_heads: null,
  finalize_refusal: null,
} satisfies Partial<InvoiceRecord>;

export interface LineFacts {
  /** The subscription of the row; a grouped one has a target of its own. */
  readonly target: InvoiceTarget;
  readonly invoice_id: string;
  /** How amounts in a custom currency become those of the invoice; null if there are none. */
  readonly settlement: Settlement | null;
  /** The customer who pays the invoice. */
  readonly payer_id: string;
  /** The customer of a grouped subscription, named on its rows; null for rows of the invoice's own subscription. */
  readonly grouped_customer: Pick<Customer, 'id' | 'external_id'> | null;
  readonly charge: InvoiceCharge;
  /** Null if no row of the plan itself can occur. */
  readonly plan_name: string | null;
  /** Zero-based. */
  readonly position: number;
  /** The current rows of the invoice: a row that bills the same service keeps its id. */
  readonly rows: readonly InvoiceLineRecord[];
  readonly computing: Computing;
}

/** A rated charge as a row of its invoice. */
export function invoiceLine(deps: Pick<BillingDeps, 'ids'>, facts: LineFacts): InvoiceLineRecord {
  const { target, charge, computing, settlement } = facts;
  const { subscription } = target;
  const converted = convertedRow(facts);
  const rated = converted?.line ?? charge.rated;
  const line_id = charge.line?.id ?? null;
  // A row keeps its identity if it bills the same service of the same line item (billing 3.1).
  const known = facts.rows.find(
    (row) =>
      row.subscription_line_item_id === line_id &&
      row.period_start === rated.period.start &&
      row.kind === rated.kind,
  );
  return {
    id: known?.id ?? deps.ids.next('inv_line'),
    tenant_id: subscription.tenant_id,
    environment_id: subscription.environment_id,
    invoice_id: facts.invoice_id,
    customer_id: facts.payer_id,
    subscription_id: subscription.id,
    subscription_line_item_id: line_id,
    kind: rated.kind,
    position: facts.position,
    ...withCustomer(facts, charge.line === null ? planColumns(facts, charge) : lineColumns(charge)),
    price_unit_amount: charge.line === null ? '0' : amountInUnit(charge),
    currency: settlement?.currency ?? subscription.currency,
    custom_currency:
      converted === null
        ? null
        : {
            currency: settlement!.custom.code,
            symbol: settlement!.custom.symbol,
            amount: decimalText(converted.custom_amount),
            conversion_factor: settlement!.factor,
          },
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
    explanation: rated.explanation,
    holds_slot: true,
    status: 'published',
    created_at: known?.created_at ?? computing.at,
    updated_at: computing.at,
    created_by: known?.created_by ?? computing.user_id,
    updated_by: computing.user_id,
  };
}

/** Each row is converted once (billing 2.6); null for a row in the currency of the invoice. */
function convertedRow({ charge, target, settlement }: LineFacts): ConvertedLine | null {
  if (settlement === null) return null;
  const { custom, factor, currency } = settlement;
  const own = charge.line?.currency ?? target.subscription.currency;
  return own === custom.code ? convertLine(charge.rated, custom, factor, currency) : null;
}

/** The amount in the pricing unit of the price, at the rate that the price keeps (billing 2.6). */
function amountInUnit({ line, rated }: RatedCharge): string {
  const { price_unit, conversion_rate, currency } = line.price;
  if (price_unit === null) return '0';
  return decimalText(priceUnitAmount(rated.amount, decimal(conversion_rate), currency));
}

/** Rows of a grouped subscription name its customer (billing 16). */
const withCustomer = <Columns extends Pick<InvoiceLineRecord, 'metadata'>>(
  { grouped_customer: customer }: LineFacts,
  columns: Columns,
): Columns =>
  customer === null
    ? columns
    : {
        ...columns,
        metadata: {
          ...columns.metadata,
          customer_id: customer.id,
          external_customer_id: customer.external_id,
        },
      };

/** What a row shows of its line item. */
function lineColumns({ line, rated, questions }: RatedCharge) {
  return {
    entity_type: line.entity_type,
    entity_id: line.entity_id,
    price_id: line.price_id,
    price_type: line.price_type,
    price_unit: line.price_unit,
    price_unit_id: line.price_unit_id,
    meter_id: line.meter_id,
    meter_display_name: line.meter_display_name,
    // Rows of an addon name no plan, as recorded.
    plan_display_name: line.plan_display_name ?? (line.entity_type === 'addon' ? '' : null),
    ...nameAndMetadata({ line, rated }),
    usage_queries: questions.flatMap(ratedQueries),
    allowance_queries: questions.flatMap(({ allowance }) => [
      ...(allowance?.queries.values() ?? []),
    ]),
  };
}

function nameAndMetadata({
  line,
  rated,
}: Pick<RatedCharge, 'line' | 'rated'>): Pick<InvoiceLineRecord, 'display_name' | 'metadata'> {
  const name = line.display_name;
  if (rated.kind === 'overage') {
    const step = rated.explanation.steps.find(
      (candidate) => candidate.step === 'commitment' || candidate.step === 'term_commitment',
    );
    return {
      display_name: `${name} (Overage)`,
      metadata: {
        description: `${name} (Overage Charge)`,
        is_overage: 'true',
        overage_factor: step === undefined ? '1' : step.overage_factor,
      },
    };
  }
  if (rated.kind === 'true_up')
    return {
      display_name: `${name} True Up`,
      metadata: { description: `${name} (True Up)`, is_commitment_trueup: 'true' },
    };
  const suffix = line.price_type === 'USAGE' ? 'Usage Charge' : 'Fixed Charge';
  const description = `${name} (${suffix})`;
  const reset = shorterReset(rated, line);
  return {
    display_name: name,
    metadata:
      reset === null ? { description } : { description, usage_reset_period: reset.toLowerCase() },
  };
}

/** How often the allowance of the row starts again within its charge period; null if it does not. */
function shorterReset({ explanation }: RatedLine, line: Cadence): string | null {
  const step = explanation.steps.find((candidate) => candidate.step === 'allowance');
  if (step === undefined || step.usage_reset_period === 'NEVER') return null;
  const reset = {
    billing_period: step.usage_reset_period as Cadence['billing_period'],
    billing_period_count: 1,
  };
  return compareLength(reset, line) < 0 ? step.usage_reset_period : null;
}

/** A row of the plan itself has no price (billing 6.3). */
function planColumns({ target, plan_name }: LineFacts, { metadata }: TrueUpCharge) {
  return {
    entity_type: 'plan',
    entity_id: target.subscription.plan_id,
    price_id: null,
    price_type: 'FIXED' as const,
    price_unit: null,
    price_unit_id: null,
    meter_id: null,
    meter_display_name: null,
    plan_display_name: plan_name,
    display_name: plan_name === null ? 'True Up' : `${plan_name} True Up`,
    metadata: { ...metadata },
    usage_queries: [],
    allowance_queries: [],
  };
}
