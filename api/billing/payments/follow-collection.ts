import { nextAttempt } from '../../../domain/invoicing/dunning.ts';
import { decimal } from '../../../domain/money.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import {
  lockCollection,
  updateCollection,
  type CollectionRow,
} from '../records/collection-repository.ts';

/**
 * Follows a payment that has settled: an invoice that is paid needs no further charge; after a failed charge the
 * next one is scheduled, or the tenant's final action is noted (money 8.7). In the payment's transaction, under
 * the invoice's lock. `at` is the time of the move.
 */
export async function followCollection(
  tx: Transaction,
  scope: Scope,
  payment: PaymentRecord,
  invoice: InvoiceRecord,
  at: string,
): Promise<void> {
  const row = await lockCollection(tx, scope, invoice.id);
  if (row === null || row.collection_status === 'collected') return;
  const change = await changeAfter(tx, scope, row, payment, invoice, at);
  if (change !== null) await updateCollection(tx, scope, invoice.id, { ...change, updated_at: at });
}

type Change = Pick<CollectionRow, 'collection_status' | 'next_attempt_at' | 'pending_action'>;

async function changeAfter(
  tx: Transaction,
  scope: Scope,
  row: CollectionRow,
  payment: PaymentRecord,
  invoice: InvoiceRecord,
  at: string,
): Promise<Change | null> {
  const over = { next_attempt_at: null, pending_action: null };
  if (decimal(invoice.amount_remaining).isZero())
    return { ...over, collection_status: 'collected' };
  if (row.collection_status !== 'attempting' || row.last_payment_id !== payment.id) return null;
  // A payment that was deleted or voided: a person has taken the invoice over.
  if (payment.status !== 'published' || payment.payment_status === 'VOIDED')
    return { ...over, collection_status: 'stopped' };
  if (payment.payment_status !== 'FAILED') return null;
  const terms = await readSetting(tx, scope, 'payment_retry_config');
  const next_attempt_at = nextAttempt(terms, row.attempt_count, at);
  if (next_attempt_at !== null)
    return { collection_status: 'scheduled', next_attempt_at, pending_action: null };
  const cancels = terms.enabled && terms.final_action === 'cancel' && row.subscription_id !== null;
  const pending_action = cancels ? 'cancel' : null;
  return { ...over, collection_status: 'exhausted', pending_action };
}
