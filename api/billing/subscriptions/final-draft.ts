import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { InvoiceTarget } from '../computing/invoice-target.ts';
import { insertInvoiceLines, replaceInvoiceLines } from '../records/invoice-line-repository.ts';
import { insertInvoices, lockInvoice, updateInvoices } from '../records/invoice-repository.ts';
import { findCycleDrafts } from '../records/subscription-invoice-repository.ts';

/**
 * The targets of final invoices. An existing draft of the running period becomes the final invoice: it gets
 * the dates of the cut period and is computed for them (billing 13).
 */
export async function withRunningDrafts(
  db: Db,
  scope: Scope,
  targets: readonly InvoiceTarget[],
): Promise<InvoiceTarget[]> {
  const final = targets.filter(({ billing_reason }) => billing_reason === 'PRORATION');
  if (final.length === 0) return [...targets];
  const drafts = await findCycleDrafts(
    db,
    scope,
    final.map(({ subscription, period }) => ({
      subscription_id: subscription.id,
      period_start: period.start,
    })),
  );
  const draftOf = new Map(drafts.map((draft) => [draft.subscription_id, draft]));
  return targets.map((target) => {
    const draft = draftOf.get(target.subscription.id);
    if (target.billing_reason !== 'PRORATION' || draft === undefined) return target;
    const invoice = {
      ...draft,
      billing_reason: target.billing_reason,
      period_end: target.period.end,
      proration_behavior: target.proration_behavior,
    };
    return { ...target, invoice };
  });
}

/** An invoice with its rows; `before` is the stored draft, null for a new invoice. */
export interface FinalDraft {
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
  readonly before: InvoiceRecord | null;
}

/** Locks the drafts that become final invoices. False if one has changed since it was read. */
export async function lockRunningDrafts(
  tx: Transaction,
  scope: Scope,
  drafts: readonly Pick<FinalDraft, 'before'>[],
): Promise<boolean> {
  for (const { before } of drafts) {
    if (before === null) continue;
    const locked = await lockInvoice(tx, scope, before.id);
    if (locked.version !== before.version) return false;
  }
  return true;
}

/** Writes new invoices and changed drafts. */
export async function writeDrafts(
  tx: Transaction,
  scope: Scope,
  drafts: readonly FinalDraft[],
): Promise<void> {
  const added = drafts.filter(({ before }) => before === null);
  await insertInvoices(
    tx,
    added.map(({ invoice }) => invoice),
  );
  await insertInvoiceLines(
    tx,
    added.flatMap(({ lines }) => lines),
  );
  for (const { before, invoice, lines } of drafts) {
    if (before === null) continue;
    await replaceInvoiceLines(tx, scope, [invoice.id], lines);
    await updateInvoices(tx, [invoice]);
  }
}
