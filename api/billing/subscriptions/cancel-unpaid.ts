import { decimal } from '../../../domain/money.ts';
import { isUnpaidOpening } from '../../../domain/subscription/activation.ts';
import { cancelledAt } from '../../../domain/subscription/cancellation.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { endSchedulesOf } from '../records/schedule-repository.ts';
import { lockLivingInvoices } from '../records/subscription-invoice-repository.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import {
  changeSubscription,
  endLineItemsOf,
  lockSubscription,
} from '../records/subscription-repository.ts';
import { takeBackInvoices } from './take-back-invoices.ts';
import { isOverdue } from './unpaid-repository.ts';

/**
 * Cancels the subscription and takes its invoices back, as a cancellation by hand does (billing 13). False if the
 * subscription is no longer incomplete, if a part of its first invoice was paid, or if a payment is in progress, whose
 * outcome decides (money 9.10).
 */
export async function cancelUnpaid(
  tx: Transaction,
  deps: BillingDeps,
  scope: Scope,
  id: string,
  at: string,
  cancellation_reason = 'The first invoice was not paid in time.',
): Promise<boolean> {
  const locked = await lockSubscription(tx, scope, id);
  if (locked.subscription_status !== 'incomplete') return false;
  const caller = { scope, user_id: '' };
  const unpaid = (await lockLivingInvoices(tx, scope, id)).filter(
    ({ billing_reason, amount_remaining }) =>
      isUnpaidOpening({ billing_reason, amount_remaining: decimal(amount_remaining) }),
  );
  if (unpaid.length === 0 || unpaid.some(isBeingPaid)) return false;
  await takeBackInvoices(tx, deps, caller, locked);
  const { takes_effect: _, ...ended } = cancelledAt(locked, at);
  const subscription = await changeSubscription(tx, scope, id, {
    ...ended,
    due_at: null,
    metadata: {
      ...locked.metadata,
      cancellation_reason,
    },
    updated_at: at,
    updated_by: '',
  });
  await endLineItemsOf(tx, scope, [subscription]);
  await endSchedulesOf(tx, scope, [id], { at, user_id: '', superseded: true });
  const customer = await getCustomer(tx, scope, subscription.customer_id);
  await writeOutbox(tx, scope, 'subscription.cancelled', {
    subscription: subscriptionSnapshot(subscription, customer),
  });
  return true;
}

/**
 * Cancels a subscription that the job has found, as `cancelUnpaid` does. The due date and the setting may have changed
 * while the job waited for the lock, so both are read again: false if the invoice is not overdue any more.
 */
export async function cancelOverdue(
  tx: Transaction,
  deps: BillingDeps,
  scope: Scope,
  id: string,
  at: string,
): Promise<boolean> {
  await lockSubscription(tx, scope, id);
  return (await isOverdue(tx, scope, id, at)) && (await cancelUnpaid(tx, deps, scope, id, at));
}

const isBeingPaid = ({ payment_status, amount_paid }: InvoiceRecord): boolean =>
  payment_status === 'PROCESSING' || decimal(amount_paid).gt(0);
