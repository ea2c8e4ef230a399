import { z } from 'zod';
import { BillingRefusal } from './billing-refusal.ts';
import { CheckoutSession } from './checkout.ts';
import { CouponAssociation } from './coupon.ts';
import { CreditGrant } from './credit-grant.ts';
import { Customer } from './customer.ts';
import { GrantedFeature } from './granted-feature.ts';
import { Meter } from './meter.ts';
import { Plan } from './plan.ts';
import { Price } from './price.ts';
import {
  billingPeriod,
  decimalText,
  instant,
  recordFields,
  recurringPeriod,
  textOrEmpty,
} from './primitives.ts';
import { searchSchemas } from './search.ts';
import { SubscriptionPause } from './subscription-pause.ts';
import { SubscriptionPhase } from './subscription-phase.ts';
import {
  BILLING_CYCLES,
  COLLECTION_METHODS,
  LINE_ITEM_GROUPINGS,
  PAUSE_STATUSES,
  PAYMENT_BEHAVIORS,
  SUBSCRIPTION_PRORATION_BEHAVIORS,
  SUBSCRIPTION_STATUSES,
  SUBSCRIPTION_TYPES,
} from './words.ts';
import { columnNames } from './columns.ts';

const stringMap = z.record(z.string(), z.string());

/** Stored and returned fields of a subscription, without embedded records. */
export const subscriptionFields = {
  ...recordFields,
  customer_id: z.string(),
  plan_id: z.string(),
  currency: z.string(),
  lookup_key: z.string().nullable(),
  metadata: stringMap,
  subscription_status: z.enum(SUBSCRIPTION_STATUSES),
  subscription_type: z.enum(SUBSCRIPTION_TYPES),
  billing_anchor: instant,
  billing_cadence: z.literal('RECURRING'),
  billing_cycle: z.enum(BILLING_CYCLES),
  billing_period: recurringPeriod,
  billing_period_count: z.int(),
  customer_timezone: z.string(),
  start_date: instant,
  end_date: instant.nullable(),
  current_period_start: instant,
  current_period_end: instant,
  trial_start: instant.nullable(),
  trial_end: instant.nullable(),
  cancel_at: instant.nullable(),
  cancel_at_period_end: z.boolean(),
  cancelled_at: instant.nullable(),
  collection_method: z.enum(COLLECTION_METHODS),
  payment_behavior: z.enum(PAYMENT_BEHAVIORS),
  payment_terms: z.string().nullable(),
  proration_behavior: z.enum(SUBSCRIPTION_PRORATION_BEHAVIORS),
  line_item_grouping: z.enum(LINE_ITEM_GROUPINGS),
  gateway_payment_method_id: textOrEmpty,
  commitment_amount: decimalText.nullable(),
  commitment_duration: billingPeriod.nullable(),
  enable_true_up: z.boolean(),
  overage_factor: decimalText,
  invoicing_customer_id: z.string().nullable(),
  parent_subscription_id: z.string().nullable(),
  pause_status: z.enum(PAUSE_STATUSES),
  active_pause_id: z.string().nullable(),
  /** Why the last billing attempt failed; null when it did not fail. */
  billing_refusal: BillingRefusal.nullable(),
  version: z.int(),
};
const StoredSubscription = z.object(subscriptionFields);

/** A row of `subscriptions`: the returned fields, and the fields that only billing reads. */
export type SubscriptionRow = z.infer<typeof StoredSubscription> & {
  readonly include_price_ids: string[] | null;
  readonly cancel_proration_behavior: 'create_prorations' | 'none' | null;
  readonly synced_price_sequence: string;
  readonly last_billing_sequence: number;
  readonly due_at: string | null;
  /** Earliest next billing attempt after a refusal; null means at the due date. */
  readonly billing_retry_at: string | null;
  /** The end of the period for which the tenant was notified of the renewal. */
  readonly renewal_notified_for: string | null;
  /** Start of the current pause, planned or past. */
  readonly pause_at: string | null;
  /** When the current pause ends automatically. */
  readonly resume_at: string | null;
  /** The boundary from which a grouped subscription is billed on its parent's invoice. */
  readonly merges_from: string | null;
  /** Plans and anchors before the plan changes, in order of time. */
  readonly earlier_plans: readonly EarlierPlan[];
  /** Anchors before the pauses that moved them, in order of time. */
  readonly earlier_anchors: readonly EarlierAnchor[];
};

export const SUBSCRIPTION_COLUMNS = columnNames<SubscriptionRow>()(subscriptionFields, {
  include_price_ids: true,
  cancel_proration_behavior: true,
  synced_price_sequence: true,
  last_billing_sequence: true,
  due_at: true,
  billing_retry_at: true,
  renewal_notified_for: true,
  pause_at: true,
  resume_at: true,
  merges_from: true,
  earlier_plans: true,
  earlier_anchors: true,
});

/** The anchor of the periods that begin before `until`: a pause has moved it since. */
interface EarlierAnchor {
  readonly billing_anchor: string;
  readonly until: string;
}

/** What a subscription had before one of its plan changes. */
interface EarlierPlan {
  readonly plan_id: string;
  readonly billing_anchor: string;
  readonly until: string;
  /** True if the billing periods restarted at the change. */
  readonly restarts: boolean;
  /** The prorations of a change that restarted the periods; absent in older records. */
  readonly proration_behavior?: (typeof SUBSCRIPTION_PRORATION_BEHAVIORS)[number];
}

/** Stored and returned fields of a line item, without the embedded price and meter. */
export const lineItemFields = {
  ...recordFields,
  subscription_id: z.string(),
  customer_id: z.string(),
  subscription_phase_id: z.string().nullable(),
  addon_association_id: z.string().nullable(),
  entity_type: z.enum(['plan', 'addon', 'subscription']),
  entity_id: z.string(),
  price_id: z.string(),
  price_type: z.enum(['USAGE', 'FIXED']),
  price_unit: z.string().nullable(),
  price_unit_id: z.string().nullable(),
  meter_id: z.string().nullable(),
  meter_display_name: z.string().nullable(),
  plan_display_name: z.string().nullable(),
  display_name: z.string(),
  currency: z.string(),
  quantity: decimalText,
  billing_period: billingPeriod,
  billing_period_count: z.int(),
  invoice_cadence: z.enum(['ARREAR', 'ADVANCE']),
  trial_period: z.int(),
  start_date: instant,
  end_date: instant.nullable(),
  commitment_amount: decimalText.nullable(),
  commitment_quantity: decimalText.nullable(),
  commitment_type: z.enum(['amount', 'quantity']).nullable(),
  commitment_duration: billingPeriod.nullable(),
  commitment_overage_factor: decimalText.nullable(),
  commitment_true_up_enabled: z.boolean(),
  commitment_windowed: z.boolean(),
  metadata: stringMap,
};
const StoredLineItem = z.object(lineItemFields);

/** A row of `subscription_line_items`: the returned fields, and those that only billing reads, empty in a new line. */
export type LineItemRow = z.infer<typeof StoredLineItem> & {
  /** When the end was last set; null: never. */
  readonly end_set_at?: string | null;
  /** The start of the running period in which the line began or ended without prorations; null: in none. */
  readonly unsettled_in?: string | null;
  /** On the next version of a line: the first line of those that follow each other; null: this one. */
  readonly first_line_item_id?: string | null;
};

export const LINE_ITEM_COLUMNS = columnNames<LineItemRow>()(lineItemFields, {
  end_set_at: true,
  unsettled_in: true,
  first_line_item_id: true,
});

export const SubscriptionLineItem = z
  .object({
    ...lineItemFields,
    trial_period_days: z.int(),
    /** Null unless the route or `expand` includes the embedded records. */
    price: Price.nullable(),
    meter: Meter.nullable(),
  })
  .meta({ id: 'SubscriptionLineItem' });
export type SubscriptionLineItem = z.infer<typeof SubscriptionLineItem>;

/** A subscription in answers without its invoice, so that an invoice can embed it. */
export const subscriptionAnswerFields = {
  ...subscriptionFields,
  timezone: z.string(),
  synced_price_sequence: z.number(),
  include_price_ids: z.array(z.string()).nullable(),
  /** Null when not requested. */
  line_items: z.array(SubscriptionLineItem).nullable(),
  plan: Plan.nullable(),
  customer: Customer.nullable(),
  /** In order of time. */
  phases: z.array(SubscriptionPhase),
  /** Newest first. */
  pauses: z.array(SubscriptionPause),
  coupon_associations: z.array(CouponAssociation),
  credit_grants: z.array(CreditGrant),
  /** What the subscription grants now, where asked; null if it is nothing. */
  entitlements: z.array(GrantedFeature).nullable(),
  /** Always null: invoices at a threshold are not offered. */
  auto_invoice_threshold: z.null(),
  checkout_session: CheckoutSession.nullable(),
};

/** A subscription embedded in its invoice. */
export const EmbeddedSubscription = z
  .object({ ...subscriptionAnswerFields, latest_invoice: z.null() })
  .meta({ id: 'EmbeddedSubscription' });
export type EmbeddedSubscription = z.infer<typeof EmbeddedSubscription>;

export const SUBSCRIPTION_EXPANDS = [
  'plan', 'customer', 'prices', 'subscription_line_items', 'entitlements',
] as const; // prettier-ignore

export const SubscriptionSearch = searchSchemas({
  fields: {
    id: 'text',
    customer_id: 'text',
    plan_id: 'text',
    lookup_key: 'text',
    currency: 'text',
    subscription_status: 'text',
    subscription_type: 'text',
    billing_period: 'text',
    start_date: 'time',
    end_date: 'time',
    current_period_start: 'time',
    current_period_end: 'time',
    trial_end: 'time',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: SUBSCRIPTION_EXPANDS,
  filters: (kind) => ({
    subscription_ids: kind.list(),
    customer_id: kind.text(),
    customer_ids: kind.list(),
    external_customer_id: kind.text(),
    invoicing_customer_ids: kind.list(),
    parent_subscription_ids: kind.list(),
    plan_id: kind.text(),
    /** Subscriptions with an instance of the addon in their current period or later. */
    addon_id: kind.text(),
    lookup_key: kind.text(),
    subscription_status: kind.list(z.enum(SUBSCRIPTION_STATUSES)),
    subscription_type: kind.list(z.enum(SUBSCRIPTION_TYPES)),
    billing_period: kind.list(billingPeriod),
    billing_cadence: kind.list(z.enum(['RECURRING'])),
    active_at: kind.time(),
    trial_end_due_lte: kind.time(),
    effective_date_for_update: kind.time(),
    with_line_items: kind.boolean(),
    with_coupon_associations: kind.boolean(),
  }),
});
