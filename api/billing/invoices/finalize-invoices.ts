import { BillingError } from '../../../domain/errors.ts';
import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import { hasKeptRows } from '../../../domain/invoicing/draft-edits.ts';
import { hasPassed } from '../../../domain/metering/log-heads.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Scope } from '../../../postgres/client.ts';
import { isPostgresRace } from '../../../postgres/outage.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { inParts } from '../../conventions/in-parts.ts';
import { isOutage } from '../../outage.ts';
import { groupBy } from '../../../domain/group-by.ts';
import type { BillingRun } from '../billing-run.ts';
import { findSubscriptions } from '../records/subscription-repository.ts';
import { computeInvoices } from '../computing/compute-invoices.ts';
import { linesOfInvoices, replaceInvoiceLines } from '../records/invoice-line-repository.ts';
import { lockInvoicesUnchanged, updateInvoices } from '../records/invoice-repository.ts';
import { setFinalizeRefusal } from '../records/due-invoice-repository.ts';
import { dueTermsOf } from '../computing/invoice-of-rows.ts';
import { readStoredWatermarks } from '../computing/stored-watermarks.ts';
import { targetOf } from '../computing/targets.ts';
import { invoiceEvent, issueInvoices, type ConcernedInvoice } from '../computing/write-invoices.ts';

export interface FinalizeReport {
  readonly finalized: number;
  readonly skipped: number;
  /** Number of invoices that wait until the stream passes the heads noted for them. */
  readonly waiting: number;
  readonly failed: readonly { readonly invoice_id: string; readonly error: unknown }[];
}

interface Final {
  /** The invoice as read. */
  readonly invoice: InvoiceRecord;
  readonly subscription: SubscriptionRow | null;
  /** The grouped subscriptions whose rows are on the invoice, as read. */
  readonly grouped?: readonly SubscriptionRow[];
  readonly computed: ConcernedInvoice;
}

/**
 * Finalizes a page of drafts whose grace is over. Usage of all of them is read once more in one call. Those
 * for which the stream has passed the noted heads of the log are issued in one transaction (billing 17.4,
 * metering 5). A page that fails is split in halves until only the failing invoices remain. The reason is
 * stored on each of them. A refused invoice is not retried; every other failure is retried by the next run.
 * Throws during an outage.
 */
export async function finalizeInvoices(
  deps: BillingDeps,
  run: BillingRun,
  invoices: readonly InvoiceRecord[],
): Promise<FinalizeReport> {
  const { results, failed } = await inParts(invoices, (part) => finalizePart(deps, run, part));
  const all = [
    ...results.flatMap((part) => part.failed),
    ...failed.map(({ item, error }) => ({ invoice: item, error })),
  ];
  await refuse(deps, run, all);
  const total = (count: (part: PartReport) => number) =>
    results.reduce((sum, part) => sum + count(part), 0);
  return {
    finalized: total((part) => part.finalized),
    skipped: total((part) => part.skipped),
    waiting: total((part) => part.waiting),
    failed: all.map(({ invoice, error }) => ({ invoice_id: invoice.id, error })),
  };
}

interface PartReport extends Omit<FinalizeReport, 'failed'> {
  readonly failed: readonly RefusedInvoice[];
}
interface RefusedInvoice {
  readonly invoice: InvoiceRecord;
  readonly error: unknown;
}

async function finalizePart(
  deps: BillingDeps,
  run: BillingRun,
  invoices: readonly InvoiceRecord[],
): Promise<PartReport> {
  const { ready, waiting, failed } = await computeFinals(deps, run, invoices);
  return { ...(await writeFinals(deps, run, ready)), waiting, failed };
}

async function computeFinals(
  deps: BillingDeps,
  { scope, at, user_id }: BillingRun,
  invoices: readonly InvoiceRecord[],
) {
  const subscriptions = await findSubscriptions(
    deps.pool,
    scope,
    invoices.flatMap(({ subscription_id }) => subscription_id ?? []),
  );
  const byId = new Map(subscriptions.map((row) => [row.id, row]));
  const paired = invoices.map((invoice) => ({
    invoice,
    subscription: byId.get(invoice.subscription_id ?? '') ?? null,
  }));
  const edited = await keptFinals(deps, scope, paired.filter(isKept));
  const targets = paired.flatMap((pair) =>
    isKept(pair) ? [] : { ...targetOf(pair.invoice, pair.subscription!), finalize_after: null },
  );
  const computing = { at, user_id, isFinal: true };
  const computations = await computeInvoices(deps, deps.pool, scope, targets, computing);

  const finals = [...edited];
  const failed: RefusedInvoice[] = [];
  for (const done of computations) {
    if (!done.ok) {
      failed.push({ invoice: done.target.invoice!, error: done.error });
      continue;
    }
    const { target, sources, ...computed } = done.computed;
    const { subscription } = target;
    const customer = sources.customers.get(payerOf(subscription))!;
    const concerned = { ...computed, subscription, customer };
    const grouped = (target.grouped ?? []).map((part) => part.subscription);
    finals.push({ invoice: target.invoice!, subscription, grouped, computed: concerned });
  }
  const ready = finals.filter((final) => isComplete(final, at));
  return { ready, waiting: finals.length - ready.length, failed };
}

const isKept = ({ invoice }: { readonly invoice: InvoiceRecord }) => hasKeptRows(invoice);

/** Rows written by hand are issued unchanged (billing 17.2). */
async function keptFinals(
  deps: BillingDeps,
  scope: Scope,
  pairs: readonly Pick<Final, 'invoice' | 'subscription'>[],
): Promise<Final[]> {
  if (pairs.length === 0) return [];
  const lines = await linesOfInvoices(
    deps.pool,
    scope,
    pairs.map(({ invoice }) => invoice.id),
  );
  const linesOf = groupBy(lines, ({ invoice_id }) => invoice_id);
  const customerIds = pairs.map(({ invoice }) => invoice.customer_id);
  const customers = await findCustomers(deps.pool, scope, customerIds);
  return pairs.map(({ invoice, subscription }) => ({
    invoice,
    subscription,
    computed: {
      invoice,
      lines: linesOf.get(invoice.id) ?? [],
      subscription,
      customer: customers.find(({ id }) => id === invoice.customer_id)!,
    },
  }));
}

/** Whether the period is over and the usage of the computation includes every event accepted in time. */
function isComplete({ invoice, computed }: Final, at: string): boolean {
  const { usage_watermarks } = computed.invoice;
  if (usage_watermarks === null || hasKeptRows(invoice)) return true;
  if (invoice.period_end !== null && invoice.period_end > at) return false;
  if (invoice.stream_heads === null) return false;
  return hasPassed(
    readStoredWatermarks(usage_watermarks),
    readStoredWatermarks(invoice.stream_heads),
  );
}

/** Stores the reasons and notifies the tenant of new ones. Temporary failures are not stored. */
async function refuse(
  deps: BillingDeps,
  { scope, hold }: BillingRun,
  failed: readonly RefusedInvoice[],
): Promise<void> {
  for (const { invoice, error } of failed) {
    if (isOutage(error) || isPostgresRace(error)) continue;
    const refusal = { text: refusalText(error), isFinal: error instanceof BillingError };
    if (!refusal.isFinal && invoice.finalize_refusal === refusal.text) continue;
    await deps.pool.begin(async (tx) => {
      await hold(tx);
      const refused = await setFinalizeRefusal(tx, scope, invoice, refusal);
      if (refused === null) return;
      const event = invoiceEvent('invoice.update', scope, {
        invoice: refused,
        lines: await linesOfInvoices(tx, scope, [invoice.id]),
        customer: null,
        subscription: null,
      });
      const payload = {
        invoice: { ...(event.payload['invoice'] as object), ...refusedWith(refused) },
      };
      await writeOutboxEvents(tx, [{ ...event, payload }]);
    });
  }
}

const refusedWith = ({ finalize_refusal }: InvoiceRecord) => ({ finalize_refusal });

/** The message of a refusal; the text of a bug goes only to the log. */
const refusalText = (error: unknown): string =>
  error instanceof BillingError
    ? error.message
    : 'An unexpected error of the service. It is retried automatically.';

async function writeFinals(
  deps: BillingDeps,
  run: BillingRun,
  computed: readonly Final[],
): Promise<Pick<FinalizeReport, 'finalized' | 'skipped'>> {
  if (computed.length === 0) return { finalized: 0, skipped: 0 };
  const { scope } = run;
  const written = await deps.pool.begin(async (tx) => {
    await run.hold(tx);
    const unchanged = await lockInvoicesUnchanged(tx, scope, computed, { skipLocked: true });
    const drafts = unchanged.filter((final) => final.computed.invoice.invoice_status === 'DRAFT');
    const zeros = unchanged.filter((final) => final.computed.invoice.invoice_status === 'SKIPPED');
    const issued = await issueInvoices(tx, deps, scope, drafts.map(withTerms), run);
    const settled: ConcernedInvoice[] = [...issued, ...zeros.map((final) => final.computed)];
    await replaceInvoiceLines(
      tx,
      scope,
      settled.map(({ invoice }) => invoice.id),
      settled.flatMap(({ lines }) => lines),
    );
    await updateInvoices(
      tx,
      settled.map(({ invoice }) => invoice),
    );
    await writeOutboxEvents(
      tx,
      issued.map((final) => invoiceEvent('invoice.update.finalized', scope, final)),
    );
    failpoint('jobs.finalize_draft_invoices.before_commit');
    return { finalized: issued.length, skipped: zeros.length };
  });
  failpoint('jobs.finalize_draft_invoices.after_commit');
  return written;
}

const withTerms = ({ computed, subscription }: Final) => ({
  ...computed,
  terms: dueTermsOf(computed.customer!, subscription),
});
