import {
  assertOpeningPaid,
  attemptsPayment,
  type CollectionTerms,
} from '../../../domain/subscription/activation.ts';
import { invalidField } from '../../../domain/errors.ts';
import { decimal } from '../../../domain/money.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import type { ConcernedInvoice } from '../computing/write-invoices.ts';
import { findChargeableMethod } from '../payment-methods/chargeable-method.ts';
import { collectNow } from '../payments/collect-invoice.ts';
import { findUsableMethod } from '../records/payment-method-repository.ts';
import { archiveVoidedInvoices } from '../records/subscription-invoice-repository.ts';
import { changeSubscription, getSubscription } from '../records/subscription-repository.ts';
import { cancelUnpaid } from './cancel-unpaid.ts';
import { hasChargeInFlight } from '../records/collection-repository.ts';

type Terms = CollectionTerms & Pick<SubscriptionRow, 'gateway_payment_method_id'>;

/** Refuses a method that the customer has not saved. */
export async function assertSavedMethod(
  db: Db,
  scope: Scope,
  customerId: string,
  { gateway_payment_method_id: named }: Terms,
): Promise<void> {
  if (named === null || named === '') return;
  if ((await findUsableMethod(db, scope, customerId, named)) !== null) return;
  throw invalidField('gateway_payment_method_id', 'is not a saved payment method of the customer');
}

/** Whether the opening invoice will be charged to a saved method as soon as it is stored. */
export async function isOpeningCharged(
  tx: Transaction,
  scope: Scope,
  terms: Terms,
  opening: ConcernedInvoice | null,
): Promise<boolean> {
  if (opening === null) return false;
  const amount = decimal(opening.invoice.amount_due);
  if (!attemptsPayment(terms, amount)) return false;
  const { gateway_payment_method_id: named } = terms;
  return (await findChargeableMethod(tx, scope, opening.invoice, named, amount)) !== null;
}

/**
 * Charges the opening invoice of a subscription that was just created. With `error_if_incomplete` a declined charge
 * takes the subscription back: it is cancelled and archived, its invoice is void, and the request is refused
 * (billing 10.3). A charge whose outcome is unknown leaves it incomplete.
 */
export async function collectOpening(deps: BillingDeps, caller: Caller, id: string): Promise<void> {
  await collectNow(deps, caller, id);
  const subscription = await getSubscription(deps.pool, caller.scope, id);
  const { payment_behavior, subscription_status } = subscription;
  if (payment_behavior !== 'error_if_incomplete') return;
  if (subscription_status === 'incomplete') {
    if (await hasChargeInFlight(deps.pool, caller.scope, id)) return;
    await deps.pool.begin((tx) => takeBack(tx, deps, caller, id));
  } else if (subscription.status === 'published') return;
  assertOpeningPaid(subscription, 'incomplete');
}

async function takeBack(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const { scope } = caller;
  const reason = 'The first invoice could not be paid.';
  const isCancelled = await cancelUnpaid(tx, deps, scope, id, isoTime(deps.clock.now()), reason);
  if (!isCancelled) return;
  const change = changed(deps, caller);
  const archived = { status: 'archived', ...change } as const;
  await changeSubscription(tx, scope, id, archived);
  await archiveVoidedInvoices(tx, scope, id, change);
}
