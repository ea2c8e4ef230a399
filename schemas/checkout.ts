import { z } from 'zod';
import { Payment } from './payment.ts';
import {
  id,
  instant,
  nonNegativeDecimal,
  optionalMetadata,
  optionalOneOf,
  optionalText,
  pairs,
  positiveDecimal,
  recordFields,
  text,
  time,
} from './primitives.ts';
import {
  CHECKOUT_ACTIONS,
  CHECKOUT_PROVIDERS,
  CHECKOUT_STATUSES,
  COLLECTION_METHODS,
  SAVED_METHOD_TYPES,
  SUBSCRIPTION_PRORATION_BEHAVIORS,
} from './words.ts';
import { columnNames } from './columns.ts';

const stringMap = z.record(z.string(), z.string());
const url = text(2_000);

/** The customer pays on the page of the gateway (`send_invoice`), or a saved method is charged (money 11.22). */
const collection = z
  .object({
    collection_method: optionalOneOf(COLLECTION_METHODS),
    /** Charge only a saved method of this type. */
    payment_method: optionalOneOf(SAVED_METHOD_TYPES),
    /** Charge no amount above this one without the customer. */
    max_mandate_limit: positiveDecimal.nullish(),
  })
  .superRefine(({ collection_method, ...rest }, context) => {
    if (collection_method === 'charge_automatically') return;
    for (const [field, value] of Object.entries(rest))
      if (value != null)
        context.addIssue({
          code: 'custom',
          path: [field],
          message: 'needs the collection method charge_automatically',
        });
  })
  .nullish();

const returnFields = {
  payment_provider: z.enum(CHECKOUT_PROVIDERS),
  payment_provider_config: collection,
  /** Where the page leads afterwards; origins are restricted by the setting `checkout_config`. */
  success_url: url.nullish(),
  failure_url: url.nullish(),
  cancel_url: url.nullish(),
  idempotency_key: optionalText(),
  metadata: optionalMetadata,
};

/** The `checkout` object of a request: what it asks for waits until the session is paid (money 11.3). */
export const CheckoutParams = z.object(returnFields).meta({ id: 'CheckoutParams' });
export type CheckoutParams = z.output<typeof CheckoutParams>;

/** Stored and returned fields of a session. */
export const checkoutFields = {
  ...recordFields,
  customer_id: z.string(),
  action: z.enum(CHECKOUT_ACTIONS),
  checkout_status: z.enum(CHECKOUT_STATUSES),
  payment_provider: z.enum(CHECKOUT_PROVIDERS),
  checkout_invoice_id: z.string().nullable(),
  checkout_payment_id: z.string().nullable(),
  configuration: z.record(z.string(), z.unknown()),
  payment_provider_config: z.record(z.string(), z.unknown()).nullable(),
  idempotency_key: z.string().nullable(),
  success_url: z.string().nullable(),
  failure_url: z.string().nullable(),
  cancel_url: z.string().nullable(),
  expires_at: instant,
  completed_at: instant.nullable(),
  cancelled_at: instant.nullable(),
  failure_reason: z.string().nullable(),
  metadata: stringMap,
};
const StoredCheckout = z.object(checkoutFields);

/** A row of `checkout_sessions`. */
export type CheckoutRecord = z.infer<typeof StoredCheckout> & {
  readonly target_key: string;
  /** Of the request that opened the session; empty without a key. */
  readonly request_fingerprint: string;
  /** What that request returned; null without a key. */
  readonly request_result: { readonly done: unknown } | null;
};
export const CHECKOUT_COLUMNS = columnNames<CheckoutRecord>()(checkoutFields, {
  target_key: true,
  request_fingerprint: true,
  request_result: true,
});

export const CheckoutSession = z
  .object({
    ...checkoutFields,
    /** Where the customer pays; null until the gateway has made the page. */
    payment_action: z
      .object({ type: z.enum(['checkout_url', 'payment_link']), url: z.string() })
      .nullable(),
    payment: Payment.nullable(),
    /** Whether the session has ended. */
    terminal: z.boolean(),
    /** Whether the gateway could not be asked lately. */
    stale: z.boolean(),
    /** When to ask again; 0 once it has ended. */
    next_poll_after_ms: z.int(),
  })
  .meta({ id: 'CheckoutSession' });
export type CheckoutSession = z.infer<typeof CheckoutSession>;

export const CreateCheckoutBody = z
  .object({
    customer_external_id: id,
    action: z.enum(CHECKOUT_ACTIONS),
    ...returnFields,
    configuration: z
      .object({
        pay_invoice_params: z.object({ invoice_id: id }).nullish(),
        create_subscription_params: pairs(z.unknown(), 100).nullish(),
        add_addon_params: z
          .object({
            subscription_id: id,
            addons: z
              .array(
                z.object({
                  addon_id: id,
                  cadence: optionalOneOf(['onetime', 'recurring']),
                  /** Default: the behavior of the subscription. */
                  proration_behavior: optionalOneOf(SUBSCRIPTION_PRORATION_BEHAVIORS),
                  start_date: time.nullish(),
                }),
              )
              .min(1, 'needs an addon')
              .max(1, 'takes one addon: open a session for each'),
          })
          .nullish(),
        modify_subscription_params: z
          .object({
            subscription_id: id,
            line_item_modifications: z
              .array(
                z.object({
                  line_item_id: id,
                  quantity: nonNegativeDecimal,
                  /** Default: now. */
                  effective_date: time.nullish(),
                }),
              )
              .min(1, 'needs at least one line item')
              .max(200),
          })
          .nullish(),
      })
      .nullish(),
  })
  .meta({ id: 'CreateCheckoutSession' });
export type CreateCheckoutBody = z.output<typeof CreateCheckoutBody>;
