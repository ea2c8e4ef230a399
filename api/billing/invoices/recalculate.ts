import { withArticle } from '../../../domain/article.ts';
import { invalidOperation } from '../../../domain/errors.ts';
import { assertRecalculable, hasKeptRows } from '../../../domain/invoicing/draft-edits.ts';
import { moveInvoice } from '../../../domain/states/invoice.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import { runCommand } from '../../conventions/command.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { computeInvoices, onlyComputed } from '../computing/compute-invoices.ts';
import type { Settled } from '../computing/settle.ts';
import { targetOf } from '../computing/targets.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { getSubscription } from '../records/subscription-repository.ts';
import { lockWithConcerned, type LockedInvoice } from './lock-invoice.ts';
import { computeInvoice, finalizeInvoice, type FinalizeDeps } from './recompute.ts';
import { replaceInvoice, replacementOf } from './replace-invoice.ts';
import { writtenReplacement } from './written-replacement.ts';

/**
 * Computes a finalized invoice of a subscription again. Voids the original and replaces it with a linked
 * draft of the same reason and period (billing 17.6). Rows that a person wrote are kept. Returns the draft.
 */
export async function recalculateInvoice(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<InvoiceRecord> {
  const { pool } = deps;
  const { scope } = caller;
  return await runCommand<InvoiceRecord>(deps, 'invoice', async () => {
    const invoice = await getInvoice(pool, scope, id);
    assertRecalculable(invoice);
    if (invoice.invoice_status !== 'FINALIZED')
      throw invalidOperation(
        `${withArticle(invoice.invoice_status)} invoice is not recalculated; create the invoice of the period again.`,
        'invoice_status',
      );
    moveInvoice(invoice.invoice_status, 'recalculate');
    const subscription = await getSubscription(pool, scope, invoice.subscription_id!);
    const computed = hasKeptRows(invoice) ? null : await computedAgain(deps, caller, invoice);
    return async (tx) => {
      const locked = await lockWithConcerned(tx, scope, id);
      if (locked.invoice.version !== invoice.version) return null;
      if (locked.subscription?.version !== subscription.version) return null;
      const next = computed ?? (await keptRows(tx, deps, caller, locked));
      const draft = await replaceInvoice(tx, deps, caller, locked, next);
      failpoint('api.recalculate_invoice.before_commit');
      return draft;
    };
  });
}

/** The invoice computed as if the original had billed nothing. */
async function computedAgain(
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
): Promise<Settled> {
  const subscription = await getSubscription(deps.pool, caller.scope, invoice.subscription_id!);
  const target = {
    ...targetOf(replacementOf(deps, caller, unpinned(invoice)), subscription),
    replaces: invoice.id,
  };
  const computing = { at: isoTime(deps.clock.now()), user_id: caller.user_id };
  return onlyComputed(await computeInvoices(deps, deps.pool, caller.scope, [target], computing));
}

const keptRows = (
  tx: Parameters<typeof writtenReplacement>[0],
  deps: BillingDeps,
  caller: Caller,
  locked: LockedInvoice,
) => {
  const again = { ...locked, invoice: unpinned(locked.invoice) };
  return writtenReplacement(tx, deps, caller, again, { edits: [], discounts: 'derived' });
};

/** Rates are those of the recalculation (billing 8.3). */
const unpinned = (invoice: InvoiceRecord): InvoiceRecord => ({ ...invoice, pinned_taxes: null });

/** Computes a draft again and issues it, unless it is to stay a draft. Only a draft is accepted. */
export async function recalculateDraft(
  deps: FinalizeDeps,
  caller: Caller,
  id: string,
  { finalize }: { readonly finalize: boolean },
): Promise<void> {
  const { invoice_status } = await getInvoice(deps.pool, caller.scope, id);
  if (invoice_status !== 'DRAFT')
    throw invalidOperation(
      `Only a DRAFT can be recalculated here; the invoice is ${invoice_status}.`,
      'invoice_status',
    );
  if (!finalize) await computeInvoice(deps, caller, id);
  else await finalizeInvoice(deps, caller, id);
}
