import { z } from 'zod';
import { CheckoutParams, CheckoutSession } from './checkout.ts';
import { Invoice } from './invoice.ts';
import {
  decimalText,
  id,
  instant,
  integer,
  nonNegativeDecimal,
  optionalId,
  optionalName,
  optionalOneOf,
  text,
  time,
} from './primitives.ts';
import { Subscription } from './subscription-answers.ts';
import { SUBSCRIPTION_STATUSES } from './words.ts';
import { AddedAddon, DetachAddonBody } from './addon-association.ts';
import { WalletTransaction } from './wallet.ts';

export const MODIFY_TYPES = [
  'inheritance', 'quantity_change', 'grouped_invoicing', 'trial_end', 'coupon', 'tax', 'addon',
] as const; // prettier-ignore

export const QuantityChangeParams = z
  .object({
    line_items: z
      .array(
        z.object({
          id,
          quantity: nonNegativeDecimal,
          /** Default: now. Inside the running period and the line item. */
          effective_date: time.nullish(),
        }),
      )
      .min(1, 'needs at least one line item')
      .max(200),
  })
  .meta({ id: 'QuantityChangeParams' });
export type QuantityChangeParams = z.output<typeof QuantityChangeParams>;

/** `add` takes the code, `remove` the association. */
export const CouponChangeParams = z
  .object({
    action: z.enum(['add', 'remove']),
    coupon_code: optionalName(),
    coupon_association_id: optionalId,
    subscription_line_item_id: optionalId,
    /** Default: now. */
    start_date: time.nullish(),
    /** With `remove` when the association ends; default: now. */
    end_date: time.nullish(),
  })
  .meta({ id: 'CouponChangeParams' });
export type CouponChangeParams = z.output<typeof CouponChangeParams>;

/** `add` takes the rate by id or code, `remove` and `reprioritize` the association. */
export const TaxChangeParams = z
  .object({
    action: z.enum(['add', 'remove', 'reprioritize']),
    tax_rate_id: optionalId,
    tax_rate_code: optionalName(),
    tax_association_id: optionalId,
    /** Default for `add`: 100. Required for `reprioritize`. */
    priority: integer.min(0).nullish(),
    /** When the change begins to apply; default: now. */
    effective_date: time.nullish(),
  })
  .meta({ id: 'TaxChangeParams' });
export type TaxChangeParams = z.output<typeof TaxChangeParams>;

export const TrialEndParams = z
  .object({
    action: z.enum(['immediate', 'scheduled_date']),
    /** Required with `scheduled_date`. */
    new_trial_end: time.nullish(),
  })
  .meta({ id: 'TrialEndParams' });
export type TrialEndParams = z.output<typeof TrialEndParams>;

export const AddonChangeParams = z
  .object({
    action: z.enum(['add', 'remove']),
    /** Required with `add`. */
    add: AddedAddon.nullish(),
    /** Required with `remove`. */
    remove: DetachAddonBody.nullish(),
  })
  .meta({ id: 'AddonChangeParams' });
export type AddonChangeParams = z.output<typeof AddonChangeParams>;

/** Customers who begin or cease to use the subscription of another one. `action` defaults to `add`. */
export const InheritanceChangeParams = z
  .object({
    action: optionalOneOf(['add', 'remove']),
    external_customer_ids_to_inherit_subscription: z.array(text()).max(200).nullish(),
    /** Required with `remove`. */
    external_customer_ids_to_remove: z.array(text()).max(200).nullish(),
  })
  .meta({ id: 'InheritanceChangeParams' });
export type InheritanceChangeParams = z.output<typeof InheritanceChangeParams>;

/** On a parent: its children. On a child: the parent whose invoice it joins, or nothing to leave it. */
export const GroupedInvoicingParams = z
  .object({
    action: z.enum(['add', 'remove']),
    child_subscription_ids: z.array(id).max(200).nullish(),
    parent_subscription_id: optionalId,
  })
  .meta({ id: 'GroupedInvoicingParams' });
export type GroupedInvoicingParams = z.output<typeof GroupedInvoicingParams>;

/** One change of a running subscription; `type` names which `…_params` it takes. */
export const ModifySubscriptionBody = z
  .object({
    type: z.enum(MODIFY_TYPES),
    quantity_change_params: QuantityChangeParams.nullish(),
    coupon_params: CouponChangeParams.nullish(),
    tax_params: TaxChangeParams.nullish(),
    trial_end_params: TrialEndParams.nullish(),
    addon_params: AddonChangeParams.nullish(),
    inheritance_params: InheritanceChangeParams.nullish(),
    grouped_invoicing_params: GroupedInvoicingParams.nullish(),
    /** The change is made once the checkout session is paid. Ignored if nothing is due. */
    checkout: CheckoutParams.nullish(),
  })
  .meta({ id: 'ModifySubscription' });
export type ModifySubscriptionBody = z.output<typeof ModifySubscriptionBody>;

export const ChangedLineItem = z
  .object({
    id: z.string(),
    price_id: z.string(),
    quantity: decimalText,
    start_date: instant,
    end_date: instant.nullable(),
    change_action: z.enum(['created', 'ended', 'updated']),
  })
  .meta({ id: 'ChangedLineItem' });
export type ChangedLineItem = z.infer<typeof ChangedLineItem>;

/** The settlement of a change: an invoice, or a credit to the prepaid wallet. */
export const ChangedInvoice = z
  .object({
    id: z.string(),
    action: z.enum(['created', 'wallet_credit']),
    /** `preview`, the payment status of the invoice, or `issued` for a credit. */
    status: z.string(),
    /** What is charged, or credited to the wallet. */
    amount: decimalText,
    invoice: Invoice.nullable(),
    wallet_transaction: WalletTransaction.nullable(),
  })
  .meta({ id: 'ChangedInvoice' });
export type ChangedInvoice = z.infer<typeof ChangedInvoice>;

export const ChangedResources = z
  .object({
    line_items: z.array(ChangedLineItem),
    invoices: z.array(ChangedInvoice),
    subscriptions: z.array(
      z.object({
        id: z.string(),
        action: z.enum(['created', 'updated']),
        status: z.enum(SUBSCRIPTION_STATUSES),
        trial_end: instant.nullable(),
        current_period_end: instant,
      }),
    ),
  })
  .meta({ id: 'ChangedResources' });
export type ChangedResources = z.infer<typeof ChangedResources>;

export const ModifiedSubscription = z
  .object({
    /** Null after a change of the trial. */
    subscription: Subscription.nullable(),
    changed_resources: ChangedResources,
    checkout_session: CheckoutSession.nullable(),
  })
  .meta({ id: 'ModifiedSubscription' });
export type ModifiedSubscription = z.infer<typeof ModifiedSubscription>;
