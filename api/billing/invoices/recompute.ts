import { invalidOperation, notFound } from '../../../domain/errors.ts';
import { moveInvoice } from '../../../domain/states/invoice.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { runCommand } from '../../conventions/command.ts';
import type { Caller } from '../../conventions/record.ts';
import { getSubscription } from '../records/subscription-repository.ts';
import { computeInvoices, onlyComputed } from '../computing/compute-invoices.ts';
import {
  getInvoice,
  linesOfInvoices,
  lockInvoicesUnchanged,
  replaceInvoiceLines,
  updateInvoices,
} from '../records/invoice-repository.ts';
import { targetOf } from '../computing/targets.ts';
import { invoiceEvent, issueInvoices, type ConcernedInvoice } from '../computing/write-invoices.ts';

/**
 * Recomputes a draft or skipped invoice from the current state and usage, and writes it. An invoice edited by
 * hand keeps its rows (billing 17.2).
 */
export async function computeInvoice(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<InvoiceRecord> {
  const neverDone = () => false;
  return await recompute(deps, caller, id, neverDone, async (tx, computed) => {
    await replaceInvoiceLines(tx, caller.scope, [id], computed.lines);
    await updateInvoices(tx, [computed.invoice]);
    await writeOutboxEvents(tx, [invoiceEvent('invoice.update', caller.scope, computed)]);
    failpoint('api.compute_invoice.before_commit');
  });
}

/**
 * Computes a draft a last time and issues it: number, due date, status paid if nothing is due, all in one
 * transaction (billing 17.4). An invoice whose rows are all zero is skipped instead.
 */
export async function finalizeInvoice(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<InvoiceRecord> {
  const isSkipped = ({ invoice_status }: InvoiceRecord) =>
    moveInvoice(invoice_status, 'finalize') === 'SKIPPED';
  return await recompute(deps, caller, id, isSkipped, async (tx, computed) => {
    const isIssued = computed.invoice.invoice_status !== 'SKIPPED';
    const final = isIssued ? await issued(tx, deps, caller, computed) : computed;
    await replaceInvoiceLines(tx, caller.scope, [id], final.lines);
    await updateInvoices(tx, [final.invoice]);
    const event = isIssued ? 'invoice.update.finalized' : 'invoice.update';
    await writeOutboxEvents(tx, [invoiceEvent(event, caller.scope, final)]);
    failpoint('api.finalize_invoice.before_commit');
  });
}

async function issued(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  computed: ConcernedInvoice,
): Promise<ConcernedInvoice> {
  const by = { at: isoTime(deps.clock.now()), user_id: caller.user_id };
  const [final] = await issueInvoices(
    tx,
    caller.scope,
    [{ ...computed, terms: computed.subscription }],
    by,
  );
  return final!;
}

async function recompute(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  isDone: (invoice: InvoiceRecord) => boolean,
  write: (tx: Transaction, computed: ConcernedInvoice) => Promise<void>,
): Promise<InvoiceRecord> {
  const { scope } = caller;
  await runCommand(deps, 'invoice', async () => {
    const invoice = await getInvoice(deps.pool, scope, id);
    if (isDone(invoice)) return { done: { id } };
    if (invoice.invoice_status !== 'DRAFT' && invoice.invoice_status !== 'SKIPPED')
      throw invalidOperation(`A ${invoice.invoice_status} invoice is not computed again.`);
    const computed = await computedNow(deps, caller, invoice);
    return async (tx) => {
      const read = [{ invoice, subscription: computed.subscription }];
      if ((await lockInvoicesUnchanged(tx, scope, read)).length === 0) return null;
      await write(tx, computed);
      return { id };
    };
  });
  return await getInvoice(deps.pool, scope, id);
}

async function computedNow(
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
): Promise<ConcernedInvoice> {
  const { pool } = deps;
  if (invoice.subscription_id === null) throw notFound('Subscription', '');
  const subscription: SubscriptionRow = await getSubscription(
    pool,
    caller.scope,
    invoice.subscription_id,
  );
  if (invoice.is_manually_edited) {
    const lines = await linesOfInvoices(pool, caller.scope, [invoice.id]);
    const customer = await getCustomer(pool, caller.scope, invoice.customer_id);
    return { invoice, lines, subscription, customer };
  }
  const computed = onlyComputed(
    await computeInvoices(deps, pool, caller.scope, [targetOf(invoice, subscription)], {
      at: isoTime(deps.clock.now()),
      user_id: caller.user_id,
    }),
  );
  const customer = computed.sources.customers.get(subscription.customer_id)!;
  return { invoice: computed.invoice, lines: computed.lines, subscription, customer };
}
