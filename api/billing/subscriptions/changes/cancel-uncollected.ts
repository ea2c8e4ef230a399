import { BillingError, invalidOperation } from '../../../../domain/errors.ts';
import { isCollectable } from '../../../../domain/invoicing/pay-from-wallets.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { BillingRun } from '../../billing-run.ts';
import { lockCollection, updateCollection } from '../../records/collection-repository.ts';
import { lockStoredInvoice } from '../../records/invoice-repository.ts';
import { cancelSubscription } from './cancel-subscription.ts';

/** A subscription to cancel, because the last charge of its invoice failed. */
export interface Uncollected {
  readonly subscription_id: string;
  readonly invoice_id: string;
}

/**
 * Cancels the subscription if its invoice is still open: it may have been paid, voided or credited since the last
 * charge failed, also at this moment (money 8.7). The mark is removed after the cancellation: a killed run is
 * repeated, and a subscription that cannot be cancelled any more keeps no mark. False if it was not cancelled.
 */
export async function cancelUncollected(
  deps: BillingDeps,
  run: BillingRun,
  { subscription_id, invoice_id }: Uncollected,
): Promise<boolean> {
  const assertOpen = async (tx: Transaction): Promise<void> => {
    await run.hold(tx);
    const invoice = await lockStoredInvoice(tx, run.scope, invoice_id);
    const mark = await lockCollection(tx, run.scope, invoice_id);
    if (mark?.pending_action !== 'cancel' || !isCollectable(invoice))
      throw invalidOperation('Nothing of the invoice is open any more.', 'invoice_id');
  };
  const cancels = { cancellation_type: 'immediate', reason: REASON } as const;
  let isCancelled = true;
  try {
    await cancelSubscription(deps, run, subscription_id, cancels, assertOpen);
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    // Other requests were faster each time: the next run tries again.
    if (error.code === 'version_conflict') return false;
    deps.log.warn({ err: error, subscription_id }, 'not cancelled');
    isCancelled = false;
  }
  await deps.pool.begin(async (tx) => {
    await run.hold(tx);
    await lockCollection(tx, run.scope, invoice_id);
    const done = { pending_action: null, updated_at: run.at };
    await updateCollection(tx, run.scope, invoice_id, done);
  });
  return isCancelled;
}

const REASON = 'The last charge of an invoice failed.';
