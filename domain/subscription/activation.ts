import type { COLLECTION_METHODS, PAYMENT_BEHAVIORS } from '../../schemas/words.ts';
import { BillingError, invalidField } from '../errors.ts';
import { activatesSubscription, type BillingReason } from '../invoicing/zero-invoice.ts';
import type { Decimal } from '../money.ts';
import { canMove } from '../states/state-machine.ts';
import {
  moveSubscription,
  subscriptionMachine,
  type SubscriptionStatus,
} from '../states/subscription.ts';

export type PaymentBehavior = (typeof PAYMENT_BEHAVIORS)[number];

export type CollectionMethod = (typeof COLLECTION_METHODS)[number];

export interface CollectionTerms {
  readonly payment_behavior: PaymentBehavior;
  readonly collection_method: CollectionMethod;
}

/**
 * Refuses a payment behavior that needs a payment attempt when the collection method makes none
 * (billing 10.3).
 */
export function validateCollection(terms: CollectionTerms): void {
  const needsAttempt =
    terms.payment_behavior === 'allow_incomplete' ||
    terms.payment_behavior === 'error_if_incomplete';
  if (needsAttempt && terms.collection_method === 'send_invoice') {
    throw invalidField(
      'payment_behavior',
      `${terms.payment_behavior} needs the collection method charge_automatically`,
    );
  }
}

/** Whether the opening invoice is collected immediately (billing 10.3). */
export const attemptsPayment = (terms: CollectionTerms, due: Decimal): boolean =>
  terms.collection_method === 'charge_automatically' &&
  terms.payment_behavior !== 'default_incomplete' &&
  due.gt(0);

/**
 * Whether an invoice is charged to the customer's saved method when it is issued. Its payment behavior decides
 * for the first invoice only; a renewal is charged whenever the subscription is (billing 10.3).
 */
export const collectsAtIssue = (
  terms: CollectionTerms,
  reason: BillingReason | null,
  due: Decimal,
): boolean =>
  attemptsPayment(
    reason === 'SUBSCRIPTION_CREATE' || reason === 'SUBSCRIPTION_TRIAL_END'
      ? terms
      : { ...terms, payment_behavior: 'default_active' },
    due,
  );

/**
 * Active or incomplete, from the first invoice with an amount due (billing 10.3, 19.1). Used at
 * creation, at activation, and when a trial ends. `isPaid`: an attempt was made and covered the full amount.
 * Without an amount due the status is active.
 */
export function openingStatus(
  terms: CollectionTerms,
  due: Decimal,
  isPaid: boolean,
): 'active' | 'incomplete' {
  if (due.lte(0) || isPaid || terms.payment_behavior === 'default_active') return 'active';
  return 'incomplete';
}

/**
 * `error_if_incomplete` at creation: a failed payment refuses the whole request and nothing is stored
 * (billing 10.3). At the end of a trial it works like `allow_incomplete`.
 */
export function assertOpeningPaid(terms: CollectionTerms, status: 'active' | 'incomplete'): void {
  if (terms.payment_behavior !== 'error_if_incomplete' || status === 'active') return;
  const message = 'The opening invoice could not be paid, so the subscription was not created.';
  throw new BillingError('invalid', 'invalid_operation', message, [
    { path: 'payment_behavior', code: 'payment_failed', message },
  ]);
}

/**
 * Subscription status after a payment or a credit note of one of its invoices (billing 10.3). An
 * incomplete subscription becomes active when its first invoice has nothing left to pay. The invoice of a change is
 * the first one only if no opening waits among the `others` of the subscription. Other statuses do not change, for
 * any invoice.
 */
export function statusAfterSettlement(
  status: SubscriptionStatus,
  invoice: OpenInvoice,
  others: readonly OpenInvoice[],
): SubscriptionStatus {
  if (!activatesSubscription(invoice.billing_reason) || invoice.amount_remaining.gt(0)) {
    return status;
  }
  if (isOfChange(invoice) && others.some(isUnpaidOpening)) return status;
  return canMove(subscriptionMachine, status, 'settle_first_invoice')
    ? moveSubscription(status, 'settle_first_invoice')
    : status;
}

/** An issued invoice of a subscription and what is left to pay of it. */
interface OpenInvoice {
  readonly billing_reason: BillingReason | null;
  readonly amount_remaining: Decimal;
}

/** Whether an incomplete subscription waits for the invoice: it opens the subscription or ends its trial. */
export const isUnpaidOpening = (invoice: OpenInvoice): boolean =>
  activatesSubscription(invoice.billing_reason) &&
  !isOfChange(invoice) &&
  invoice.amount_remaining.gt(0);

const isOfChange = ({ billing_reason }: OpenInvoice): boolean =>
  billing_reason === 'SUBSCRIPTION_UPDATE';
