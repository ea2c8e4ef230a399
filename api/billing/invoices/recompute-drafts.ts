import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import { computeInvoices } from '../computing/compute-invoices.ts';
import { targetOf } from '../computing/targets.ts';
import { invoiceEvent, type ConcernedInvoice } from '../computing/write-invoices.ts';
import { replaceInvoiceLines } from '../records/invoice-line-repository.ts';
import { lockInvoicesUnchanged, updateInvoices } from '../records/invoice-repository.ts';
import { findSubscriptions } from '../records/subscription-repository.ts';
import type { BillingRun } from '../billing-run.ts';

export interface RecomputeReport {
  readonly recomputed: number;
  readonly failed: readonly { readonly invoice_id: string; readonly error: unknown }[];
}

/**
 * Computes drafts of subscriptions again and stores them, in one transaction. One that was changed meanwhile is left
 * out. Notifies about drafts whose amount changed.
 */
export async function recomputeDrafts(
  deps: BillingDeps,
  { scope, at, user_id, hold }: BillingRun,
  invoices: readonly InvoiceRecord[],
): Promise<RecomputeReport> {
  if (invoices.length === 0) return { recomputed: 0, failed: [] };
  const ids = invoices.map(({ subscription_id }) => subscription_id!);
  const subscriptions = await findSubscriptions(deps.pool, scope, [...new Set(ids)]);
  const byId = new Map(subscriptions.map((row) => [row.id, row]));
  const targets = invoices.map((invoice) => targetOf(invoice, byId.get(invoice.subscription_id!)!));
  const computing = { at, user_id };
  const computations = await computeInvoices(deps, deps.pool, scope, targets, computing);
  const failed = computations.flatMap((done) =>
    done.ok ? [] : { invoice_id: done.target.invoice!.id, error: done.error },
  );
  const drafts = computations.flatMap((done) => {
    if (!done.ok) return [];
    const { target, sources, invoice, lines } = done.computed;
    const { subscription } = target;
    const customer = sources.customers.get(payerOf(subscription))!;
    const grouped = (target.grouped ?? []).map((part) => part.subscription);
    const computed: ConcernedInvoice = { invoice, lines, subscription, customer };
    return { invoice: target.invoice!, subscription, grouped, computed };
  });
  const write = async (tx: Transaction): Promise<number> => {
    await hold(tx);
    const unchanged = await lockInvoicesUnchanged(tx, scope, drafts, { skipLocked: true });
    const computed = unchanged.map((draft) => draft.computed);
    await replaceInvoiceLines(
      tx,
      scope,
      computed.map(({ invoice }) => invoice.id),
      computed.flatMap(({ lines }) => lines),
    );
    await updateInvoices(
      tx,
      computed.map(({ invoice }) => invoice),
    );
    const withNewTotal = unchanged.filter(
      (draft) => draft.invoice.total !== draft.computed.invoice.total,
    );
    await writeOutboxEvents(
      tx,
      withNewTotal.map((draft) => invoiceEvent('invoice.update', scope, draft.computed)),
    );
    return unchanged.length;
  };
  const recomputed = drafts.length === 0 ? 0 : await deps.pool.begin(write);
  return { recomputed, failed };
}
