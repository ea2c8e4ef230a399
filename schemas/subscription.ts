import { z } from 'zod';
import {
  billingPeriod,
  decimalText,
  instant,
  recordFields,
  recurringPeriod,
} from './primitives.ts';
import {
  BILLING_CYCLES,
  COLLECTION_METHODS,
  LINE_ITEM_GROUPINGS,
  PAUSE_STATUSES,
  PAYMENT_BEHAVIORS,
  SUBSCRIPTION_PRORATION_BEHAVIORS,
  SUBSCRIPTION_STATUSES,
  SUBSCRIPTION_TYPES,
} from './subscription-requests.ts';

const stringMap = z.record(z.string(), z.string());

/** What is stored of a subscription and shown: everything but embedded records. */
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
  gateway_payment_method_id: z.string().nullable(),
  commitment_amount: decimalText.nullable(),
  commitment_duration: billingPeriod.nullable(),
  enable_true_up: z.boolean(),
  overage_factor: decimalText,
  invoicing_customer_id: z.string().nullable(),
  parent_subscription_id: z.string().nullable(),
  pause_status: z.enum(PAUSE_STATUSES),
  active_pause_id: z.string().nullable(),
  version: z.int(),
};
const StoredSubscription = z.object(subscriptionFields);

/** A row of `subscriptions`: what is shown, and what only billing reads. */
export type SubscriptionRow = z.infer<typeof StoredSubscription> & {
  readonly include_price_ids: string[] | null;
  readonly synced_price_sequence: string;
  readonly last_billing_sequence: number;
  readonly due_at: string | null;
};

/** What is stored of a line item and shown: everything but the embedded price and meter. */
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

/** A row of `subscription_line_items`. */
export type LineItemRow = z.infer<typeof StoredLineItem>;
