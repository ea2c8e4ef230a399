import { z } from 'zod';
import { BillingRefusal } from '../billing-refusal.ts';
import { Customer } from '../customer.ts';
import { entitlementFields } from '../entitlement.ts';
import { Feature } from '../feature.ts';
import { decimalText, instant, text, textOrEmpty } from '../primitives.ts';
import {
  ALERT_STATES,
  ALERT_TYPES,
  BILLING_PERIODS,
  BILLING_REASONS,
  CHECKOUT_ACTIONS,
  CHECKOUT_PROVIDERS,
  CHECKOUT_STATUSES,
  CREDIT_NOTE_REASONS,
  CREDIT_NOTE_STATUSES,
  CREDIT_NOTE_TYPES,
  CREDIT_REASONS,
  DEBIT_REASONS,
  INVOICE_STATUSES,
  INVOICE_TYPES,
  PAUSE_STATUSES,
  PAYMENT_DESTINATION_TYPES,
  PAYMENT_METHOD_TYPES,
  PAYMENT_STATUSES,
  REFUND_REASONS,
  REFUND_STATUSES,
  REFUND_TARGETS,
  SUBSCRIPTION_STATUSES,
  SUBSCRIPTION_TYPES,
  TRANSACTION_STATUSES,
  WALLET_STATUSES,
  WALLET_TYPES,
} from '../words.ts';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from './event-types.ts';

/**
 * The sections of notifications (money 17.3). Notifications about a customer, a feature or an entitlement carry the
 * whole record; elsewhere records are short snapshots. A text that the answer about the record shows as "" is ""
 * here too.
 */
const moment = instant.nullable();
const textOrNull = z.string().nullable();
const metadata = z.record(z.string(), z.string());
const currency = z.string();
const timezone = z.string();

const NotifiedCustomer = z
  .object({
    id: z.string(),
    external_id: z.string(),
    environment_id: z.string(),
    name: textOrEmpty,
    email: textOrEmpty,
    address_line1: textOrEmpty,
    address_line2: textOrEmpty,
    address_city: textOrEmpty,
    address_state: textOrEmpty,
    address_postal_code: textOrEmpty,
    address_country: textOrEmpty,
    timezone,
    metadata,
  })
  .meta({ id: 'NotifiedCustomer' });

const NotifiedSubscription = z
  .object({
    id: z.string(),
    customer_id: z.string(),
    plan_id: z.string(),
    lookup_key: textOrNull,
    subscription_status: z.enum(SUBSCRIPTION_STATUSES),
    subscription_type: z.enum(SUBSCRIPTION_TYPES),
    currency,
    start_date: instant,
    end_date: moment,
    current_period_start: instant,
    current_period_end: instant,
    cancelled_at: moment,
    cancel_at: moment,
    cancel_at_period_end: z.boolean(),
    trial_start: moment,
    trial_end: moment,
    billing_cadence: z.enum(['RECURRING']),
    billing_period: z.enum(BILLING_PERIODS),
    billing_period_count: z.int(),
    pause_status: z.enum(PAUSE_STATUSES),
    parent_subscription_id: textOrNull,
    metadata,
    customer: NotifiedCustomer.nullable(),
    /** In `subscription.updated` that tells why the subscription could not be billed. */
    billing_refusal: BillingRefusal.optional(),
  })
  .meta({ id: 'NotifiedSubscription' });

const NotifiedInvoice = z
  .object({
    id: z.string(),
    customer_id: z.string(),
    environment_id: z.string(),
    subscription_id: textOrNull,
    invoice_type: z.enum(INVOICE_TYPES),
    invoice_status: z.enum(INVOICE_STATUSES),
    payment_status: z.enum(PAYMENT_STATUSES),
    currency,
    amount_due: decimalText,
    amount_paid: decimalText,
    amount_remaining: decimalText,
    subtotal: decimalText,
    total: decimalText,
    invoice_number: textOrNull,
    due_date: moment,
    paid_at: moment,
    voided_at: moment,
    finalized_at: moment,
    period_start: moment,
    period_end: moment,
    invoice_pdf_url: textOrNull,
    billing_reason: z.enum(BILLING_REASONS).nullable(),
    metadata,
    customer: NotifiedCustomer.nullable(),
    subscription: NotifiedSubscription.nullable(),
    line_items: z.array(
      z.object({
        id: z.string(),
        price_id: textOrNull,
        display_name: textOrNull,
        plan_display_name: textOrNull,
        amount: decimalText,
        quantity: decimalText,
        period_start: moment,
        period_end: moment,
      }),
    ),
    line_items_truncated: z.boolean(),
    /** In `invoice.update` that tells why the draft could not be finalized. */
    finalize_refusal: z.string().optional(),
  })
  .meta({ id: 'NotifiedInvoice' });

const ProviderDetails = z
  .object({ hosted_invoice_url: z.string(), invoice_id: z.string(), provider: z.string() })
  .meta({ id: 'NotifiedProviderDetails' });

const NotifiedPhase = z
  .object({
    id: z.string(),
    subscription_id: z.string(),
    start_date: instant,
    end_date: moment,
    metadata,
  })
  .meta({ id: 'NotifiedPhase' });

/** Without the records that its own `GET` embeds. */
const NotifiedFeature = Feature.omit({ meter: true, group: true }).meta({ id: 'NotifiedFeature' });

const NotifiedEntitlement = z.object(entitlementFields).meta({ id: 'NotifiedEntitlement' });

const NotifiedWallet = z
  .object({
    id: z.string(),
    customer_id: z.string(),
    currency,
    balance: decimalText,
    credit_balance: decimalText,
    wallet_status: z.enum(WALLET_STATUSES),
    name: textOrNull,
    wallet_type: z.enum(WALLET_TYPES),
    conversion_rate: decimalText,
  })
  .meta({ id: 'NotifiedWallet' });

/** Settled amounts, and those after usage and open invoices that are not settled yet. */
const NotifiedOngoingBalance = NotifiedWallet.extend({
  real_time_balance: decimalText,
  real_time_credit_balance: decimalText,
}).meta({ id: 'NotifiedOngoingBalance' });

const NotifiedTransaction = z
  .object({
    id: z.string(),
    wallet_id: z.string(),
    customer_id: z.string(),
    type: z.enum(['credit', 'debit']),
    amount: decimalText,
    credit_amount: decimalText,
    credit_balance_before: decimalText,
    credit_balance_after: decimalText,
    transaction_status: z.enum(TRANSACTION_STATUSES),
    reference_type: textOrEmpty,
    reference_id: textOrEmpty,
    description: textOrEmpty,
    expiry_date: moment,
    transaction_reason: z.enum([...CREDIT_REASONS, ...DEBIT_REASONS]),
    currency,
    metadata,
  })
  .meta({ id: 'NotifiedTransaction' });

const NotifiedPayment = z
  .object({
    id: z.string(),
    environment_id: z.string(),
    customer_id: textOrNull,
    destination_type: z.enum(PAYMENT_DESTINATION_TYPES),
    destination_id: z.string(),
    /** Of the invoice that it pays; null while the invoice has none, and for other destinations. */
    invoice_number: textOrNull,
    payment_method_type: z.enum(PAYMENT_METHOD_TYPES),
    payment_gateway: textOrNull,
    amount: decimalText,
    currency,
    payment_status: z.enum(PAYMENT_STATUSES),
    error_message: textOrNull,
    succeeded_at: moment,
    failed_at: moment,
    refunded_at: moment,
    voided_at: moment,
    metadata,
  })
  .meta({ id: 'NotifiedPayment' });

const NotifiedRefund = z
  .object({
    id: z.string(),
    environment_id: z.string(),
    payment_id: z.string(),
    invoice_id: textOrNull,
    customer_id: textOrNull,
    credit_note_id: textOrNull,
    refund_target: z.enum(REFUND_TARGETS),
    payment_gateway: textOrNull,
    amount: decimalText,
    currency,
    refund_status: z.enum(REFUND_STATUSES),
    refund_reason: z.enum(REFUND_REASONS).nullable(),
    failure_reason: textOrNull,
    retry_of: textOrNull,
    succeeded_at: moment,
    failed_at: moment,
    metadata,
  })
  .meta({ id: 'NotifiedRefund' });

const NotifiedCreditNote = z
  .object({
    id: z.string(),
    environment_id: z.string(),
    credit_note_number: z.string(),
    credit_note_status: z.enum(CREDIT_NOTE_STATUSES),
    credit_note_type: z.enum(CREDIT_NOTE_TYPES),
    currency,
    customer_id: z.string(),
    invoice_id: z.string(),
    subscription_id: textOrNull,
    memo: textOrEmpty,
    metadata,
    reason: z.enum(CREDIT_NOTE_REASONS),
    total_amount: decimalText,
    finalized_at: moment,
    voided_at: moment,
  })
  .meta({ id: 'NotifiedCreditNote' });

const NotifiedCheckoutSession = z
  .object({
    id: z.string(),
    environment_id: z.string(),
    customer_id: z.string(),
    action: z.enum(CHECKOUT_ACTIONS),
    checkout_status: z.enum(CHECKOUT_STATUSES),
    payment_provider: z.enum(CHECKOUT_PROVIDERS),
    checkout_invoice_id: textOrNull,
    checkout_payment_id: textOrNull,
    /** The page of the gateway where the customer pays; null for the test gateway, whose page is ours. */
    payment_action: z.object({ type: z.enum(['payment_link']), url: z.string() }).nullable(),
    expires_at: instant,
    completed_at: moment,
    cancelled_at: moment,
    failure_reason: textOrNull,
  })
  .meta({ id: 'NotifiedCheckoutSession' });

const alertFields = { alert_type: z.enum(ALERT_TYPES), alert_status: z.enum(ALERT_STATES) };

/** Types with more sections than the others of their group. */
const WITH_MORE: readonly string[] = ['subscription.plan_changed'];

/** The event types whose payloads have the same sections. */
const typesIn = (...groups: readonly string[]) =>
  z.enum(
    WEBHOOK_EVENT_TYPES.filter((type) =>
      groups.some((group) => type === group || (group.endsWith('.') && isDirectlyIn(type, group))),
    ) as [WebhookEventType, ...WebhookEventType[]],
  );
const isDirectlyIn = (type: string, group: string) =>
  type.startsWith(group) && !type.slice(group.length).includes('.') && !WITH_MORE.includes(type);

/** What identifies the event, beside its type. */
const envelope = {
  id: z.string(),
  /** When it occurred, by the test clock of its customer if there is one. */
  created_at: instant,
  /** The real time beside the time of a test clock. */
  real_created_at: instant.optional(),
  environment_id: z.string(),
  /** Null for a test. */
  sequence: z.int().nullable(),
  test: z.literal(true).optional(),
};

const notified = <Sections extends z.ZodRawShape>(
  event_type: z.ZodEnum<Record<WebhookEventType, WebhookEventType>>,
  sections: Sections,
) =>
  z.object({
    event_type,
    ...sections,
    ...envelope,
  });

const LifeOfInvoice = ['invoice.update.', 'invoice.update', 'invoice.payment.overdue', 'invoice.communication.triggered']; // prettier-ignore

/** The body of every notification by its event type (money 17.3.1). */
export const WebhookPayload = z.discriminatedUnion('event_type', [
  notified(typesIn('subscription.', 'subscription.draft.created', 'subscription.renewal.due'), {
    subscription: NotifiedSubscription,
  }),
  notified(typesIn('subscription.plan_changed'), {
    subscription: NotifiedSubscription,
    previous_plan_id: z.string(),
    effective_at: instant,
  }),
  notified(typesIn('subscription.phase.'), { phase: NotifiedPhase }),
  notified(
    typesIn('subscription.spend.', 'subscription.line_item_spend.', 'subscription.group_spend.'),
    {
      subscription: NotifiedSubscription,
      subscription_line_item_id: textOrNull,
      group_id: textOrNull,
      ...alertFields,
      previous_status: z.enum(ALERT_STATES),
      current_spend: decimalText,
      currency,
      threshold: decimalText.nullable(),
      triggered_at: instant,
    },
  ),
  notified(typesIn('feature.'), { feature: NotifiedFeature }),
  notified(typesIn('feature.wallet_balance.alert'), {
    ...alertFields,
    previous_status: z.enum(ALERT_STATES),
    feature_id: z.string(),
    wallet_id: z.string(),
    customer_id: z.string(),
    external_id: z.string(),
    current_balance: decimalText,
    credit_balance: decimalText,
  }),
  notified(typesIn('entitlement.'), { entitlement: NotifiedEntitlement }),
  notified(typesIn('entitlement.grant.exhausted'), {
    subscription_id: z.string(),
    customer_id: z.string(),
    feature_id: z.string(),
    entitlement_id: z.string(),
    entitlement_grant_id: z.string(),
    ...alertFields,
    usage_ratio: decimalText,
    triggered_at: instant,
  }),
  notified(typesIn('wallet.'), { wallet: NotifiedWallet }),
  notified(typesIn('wallet.ongoing_balance.updated'), { wallet: NotifiedOngoingBalance }),
  notified(
    typesIn(
      'wallet.credit_balance.',
      'wallet.ongoing_balance.dropped',
      'wallet.ongoing_balance.recovered',
    ),
    {
      wallet: NotifiedWallet,
      alert: z.object({
        state: z.enum(ALERT_STATES),
        previous_state: z.enum(ALERT_STATES),
        alert_type: z.enum(ALERT_TYPES),
        current_balance: decimalText,
        credit_balance: decimalText,
        alert_settings: z.record(z.string(), z.unknown()).nullable(),
      }),
      customer: z.object({ external_id: z.string() }),
    },
  ),
  notified(typesIn('wallet.transaction.created'), { transaction: NotifiedTransaction }),
  notified(typesIn('wallet.transaction.updated'), {
    transaction: NotifiedTransaction,
    updated_transaction: NotifiedTransaction,
  }),
  notified(typesIn('payment.'), { payment: NotifiedPayment }),
  notified(typesIn('refund.'), { refund: NotifiedRefund }),
  notified(typesIn('customer.'), { customer: Customer }),
  notified(typesIn(...LifeOfInvoice), { invoice: NotifiedInvoice }),
  notified(typesIn('invoice.sync.success'), {
    invoice: NotifiedInvoice,
    provider_details: ProviderDetails,
  }),
  notified(typesIn('invoice.sync.failed'), {
    invoice: NotifiedInvoice,
    provider_details: ProviderDetails,
    error: z.string(),
  }),
  notified(typesIn('credit_note.'), { credit_note: NotifiedCreditNote }),
  notified(typesIn('checkout.session.'), { checkout_session: NotifiedCheckoutSession }),
  notified(typesIn('event.rejected'), {
    event: z.object({
      id: z.string(),
      event_name: z.string(),
      /** Null for an external id without a customer. */
      customer_id: textOrNull,
      external_customer_id: z.string(),
      source: z.string(),
      /** As sent; null if they are not a JSON object, are larger than 8 KB, or were erased with their customer. */
      properties: z.record(z.string(), z.unknown()).nullable(),
      /** Null if the event has no usable time. */
      timestamp: moment,
      meter_version_id: textOrNull,
      reason: z.string(),
      message: z.string(),
      count: z.int(),
    }),
  }),
  notified(typesIn('meter.set_aside'), {
    meter: z.object({
      id: z.string(),
      name: textOrNull,
      meter_version_id: z.string(),
      version: z.int(),
      reason: z.string(),
      set_aside_at: instant,
    }),
  }),
]);
export type WebhookPayload = z.infer<typeof WebhookPayload>;

/** The form of the notifications of one type; undefined for an unknown type. */
export const payloadOf = (type: string): (typeof WebhookPayload)['options'][number] | undefined =>
  WebhookPayload.options.find(({ shape }) =>
    shape.event_type.options.some((event) => event === type),
  );

/** The type of a notification in the path of its description. */
export const WebhookEventParams = z.object({ event_type: text() });
