import { withArticle } from '../../../domain/article.ts';
import { invalidOperation } from '../../../domain/errors.ts';
import { hasKeptRows } from '../../../domain/invoicing/draft-edits.ts';
import { assertPeriodOver, streamBehind } from '../../../domain/invoicing/finalize-guard.ts';
import { hasPassed } from '../../../domain/metering/log-heads.ts';
import { moveInvoice } from '../../../domain/states/invoice.ts';
import { assertNotGated } from '../../../domain/invoicing/gated-invoice.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { ApiDeps, BillingDeps } from '../../deps.ts';
import { runCommand } from '../../conventions/command.ts';
import type { Caller } from '../../conventions/record.ts';
import { getSubscription } from '../records/subscription-repository.ts';
import { computeInvoices, onlyComputed } from '../computing/compute-invoices.ts';
import { dueTermsOf } from '../computing/invoice-of-rows.ts';
import { readStoredWatermarks } from '../computing/stored-watermarks.ts';
import {
  getInvoice,
  lockInvoicesUnchanged,
  updateInvoices,
} from '../records/invoice-repository.ts';
import { linesOfInvoices, replaceInvoiceLines } from '../records/invoice-line-repository.ts';
import { targetOf } from '../computing/targets.ts';
import { invoiceEvent, issueInvoices, type ConcernedInvoice } from '../computing/write-invoices.ts';

/** Dependencies of a manual finalization: it also reads the heads of the log. */
export type FinalizeDeps = BillingDeps & Pick<ApiDeps, 'readLogHeads'>;

/**
 * Recomputes a draft or skipped invoice from the current state and usage, and stores it. Rows that a person
 * wrote are kept (billing 17.2).
 */
export async function computeInvoice(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<InvoiceRecord> {
  const neverDone = () => false;
  const compute = (invoice: InvoiceRecord) => computedNow(deps, caller, invoice, false);
  return await recompute(deps, caller, id, neverDone, compute, async (tx, computed) => {
    await replaceInvoiceLines(tx, caller.scope, [id], computed.lines);
    await updateInvoices(tx, [computed.invoice]);
    await writeOutboxEvents(tx, [invoiceEvent('invoice.update', caller.scope, computed)]);
    failpoint('api.compute_invoice.before_commit');
  });
}

/**
 * Computes a draft a last time and issues it: number, due date, status paid if nothing is due, all in one
 * transaction (billing 17.4). An invoice with usage is refused while its period runs or accepted events are
 * not counted yet. An invoice whose rows are all zero is skipped instead.
 */
export async function finalizeInvoice(
  deps: FinalizeDeps,
  caller: Caller,
  id: string,
): Promise<InvoiceRecord> {
  const isSkipped = ({ invoice_status }: InvoiceRecord) =>
    moveInvoice(invoice_status, 'finalize') === 'SKIPPED';
  const compute = (invoice: InvoiceRecord) => computedFinal(deps, caller, invoice);
  return await recompute(deps, caller, id, isSkipped, compute, async (tx, computed) => {
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
  const terms = dueTermsOf(computed.customer!, computed.subscription);
  const [final] = await issueInvoices(tx, deps, caller.scope, [{ ...computed, terms }], by);
  return final!;
}

async function recompute(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  isDone: (invoice: InvoiceRecord) => boolean,
  compute: (invoice: InvoiceRecord) => Promise<ComputedNow>,
  write: (tx: Transaction, computed: ConcernedInvoice) => Promise<void>,
): Promise<InvoiceRecord> {
  const { scope } = caller;
  await runCommand(deps, 'invoice', async () => {
    const invoice = await getInvoice(deps.pool, scope, id);
    assertNotGated(invoice);
    if (isDone(invoice)) return { done: { id } };
    if (invoice.invoice_status !== 'DRAFT' && invoice.invoice_status !== 'SKIPPED')
      throw invalidOperation(
        `${withArticle(invoice.invoice_status)} invoice is not computed again.`,
      );
    const computed = await compute(invoice);
    return async (tx) => {
      const { subscription, grouped } = computed;
      const read = [{ invoice, subscription, ...(grouped === undefined ? {} : { grouped }) }];
      if ((await lockInvoicesUnchanged(tx, scope, read)).length === 0) return null;
      await write(tx, computed);
      return { id };
    };
  });
  return await getInvoice(deps.pool, scope, id);
}

/** A computed invoice with the grouped subscriptions that it was computed from. */
interface ComputedNow extends ConcernedInvoice {
  readonly grouped?: readonly SubscriptionRow[];
}

async function computedNow(
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
  isFinal: boolean,
): Promise<ComputedNow> {
  const { pool } = deps;
  const { subscription_id } = invoice;
  const subscription =
    subscription_id === null ? null : await getSubscription(pool, caller.scope, subscription_id);
  const customer = await getCustomer(pool, caller.scope, invoice.customer_id);
  if (subscription === null || hasKeptRows(invoice)) {
    const lines = await linesOfInvoices(pool, caller.scope, [invoice.id]);
    return { invoice, lines, subscription, customer };
  }
  const computed = onlyComputed(
    await computeInvoices(deps, pool, caller.scope, [targetOf(invoice, subscription)], {
      at: isoTime(deps.clock.now()),
      user_id: caller.user_id,
      isFinal,
    }),
  );
  const grouped = (computed.target.grouped ?? []).map((part) => part.subscription);
  return { invoice: computed.invoice, lines: computed.lines, subscription, customer, grouped };
}

/** The last computation, of usage that is complete. */
async function computedFinal(
  deps: FinalizeDeps,
  caller: Caller,
  invoice: InvoiceRecord,
): Promise<ComputedNow> {
  const at = isoTime(deps.clock.now());
  // The heads are read before the usage, so that they lie above every event that was accepted before.
  const storedLines = await linesOfInvoices(deps.pool, caller.scope, [invoice.id]);
  if (storedLines.some(isUsage)) assertPeriodOver(invoice.period_end, at);
  const heads = storedLines.some(isUsage) ? await headsFor(deps, invoice) : null;
  const computed = await computedNow(deps, caller, invoice, true);
  const { usage_watermarks } = computed.invoice;
  if (hasKeptRows(invoice) || usage_watermarks === null) return computed;
  assertPeriodOver(invoice.period_end, at);
  const passed = hasPassed(
    readStoredWatermarks(usage_watermarks),
    heads ?? (await headsFor(deps, invoice)),
  );
  if (!passed) throw streamBehind(at);
  return computed;
}

const isUsage = ({ usage_queries }: InvoiceLineRecord): boolean => usage_queries.length > 0;

/** The heads noted after the grace, or the current heads. */
const headsFor = async ({ readLogHeads }: FinalizeDeps, { stream_heads }: InvoiceRecord) =>
  stream_heads === null ? await readLogHeads() : readStoredWatermarks(stream_heads);
