import assert from 'node:assert/strict';
import type { ProrationBehavior } from '../../../../domain/pricing/proration.ts';
import type { Db, Scope, Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { InvoiceRecord } from '../../../../schemas/invoice.ts';
import type { ChangedInvoice } from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import {
  onlyComputed,
  planInvoices,
  readPlanned,
  type Computation,
  type PlannedInvoice,
} from '../../computing/compute-invoices.ts';
import { closedTarget } from '../../computing/targets.ts';
import { invoiceEvent } from '../../computing/write-invoices.ts';
import { settledAnswers } from '../../invoices/answers.ts';
import { changeSubscription } from '../../records/subscription-repository.ts';
import {
  lockRunningDrafts,
  withRunningDrafts,
  writeDrafts,
  type FinalDraft,
} from '../final-draft.ts';

/** The id of a draft that a preview would write. */
const PREVIEW_DRAFT = '(preview-draft)';

/** The invoice of a period that a change ends. Its usage is not read yet. */
export interface PlannedEnd {
  readonly planned: readonly PlannedInvoice[];
  /** The draft of the running period that becomes the invoice; null without one. */
  readonly before: InvoiceRecord | null;
  /** The number of the invoice within its subscription. */
  readonly billing_sequence: number;
  readonly computing: { readonly at: string; readonly user_id: string };
}

/** The same with its usage. */
export interface ReadEnd extends PlannedEnd {
  /** Makes the ids of a new invoice and its rows. */
  readonly build: () => readonly Computation[];
}

/** All of the invoice but its usage, read in the transaction of the change, after the change (billing 14.2). */
export async function planEnd(
  tx: Transaction,
  deps: BillingDeps,
  { scope, user_id }: Caller,
  {
    subscription,
    stored,
    proration_behavior,
    at,
  }: {
    /** As it was before the change. */
    readonly subscription: SubscriptionRow;
    readonly stored: SubscriptionRow;
    readonly proration_behavior: ProrationBehavior;
    readonly at: string;
  },
): Promise<PlannedEnd> {
  const period = {
    start: subscription.current_period_start,
    end: stored.current_period_start,
  };
  const computing = { at, user_id };
  const target = closedTarget(stored, period, proration_behavior, deps.settings);
  const [final] = await withRunningDrafts(tx, scope, [target]);
  const before = final!.invoice;
  return {
    planned: await planInvoices(tx, scope, [final!], computing),
    before,
    billing_sequence: before?.billing_sequence ?? stored.last_billing_sequence + 1,
    computing,
  };
}

/** Reads the usage of the invoice. The caller has no transaction open. */
export async function readEnd(
  deps: Pick<BillingDeps, 'ids' | 'usageReader'>,
  end: PlannedEnd,
): Promise<ReadEnd> {
  return { ...end, build: await readPlanned(deps, end.planned, end.computing) };
}

/** The rows of the invoice; null if there is nothing to charge. */
function built({ build, before, billing_sequence }: ReadEnd) {
  const { invoice, lines, sources } = onlyComputed(build());
  if (lines.length === 0 && before === null) return null;
  return { invoice: { ...invoice, billing_sequence }, lines, before, sources };
}

/** Locks what the invoice was computed from. False if it has changed since; then the change is made again. */
export const lockEnd = (tx: Transaction, scope: Scope, end: PlannedEnd): Promise<boolean> =>
  lockRunningDrafts(tx, scope, [end]);

/**
 * Writes the draft of the ended period, after the invoice of the change, so that lists show them in this order. Null if
 * there is nothing to charge. The caller has locked what it was computed from.
 */
export async function writeEnd(
  tx: Transaction,
  { scope }: Caller,
  stored: SubscriptionRow,
  end: ReadEnd,
): Promise<FinalDraft | null> {
  const draft = built(end);
  if (draft === null) return null;
  const { invoice, lines, sources } = draft;
  assert(invoice.subscription_id === stored.id, 'the invoice is of the changed subscription');
  await writeDrafts(tx, scope, [draft]);
  const counted = await changeSubscription(tx, scope, stored.id, {
    last_billing_sequence: Math.max(end.billing_sequence, stored.last_billing_sequence),
  });
  const customer = sources.customers.get(stored.customer_id)!;
  await writeOutboxEvents(tx, [
    invoiceEvent('invoice.update', scope, { invoice, lines, customer, subscription: counted }),
  ]);
  return draft;
}

/** The written draft as an effect of the change. */
export async function writtenEnd(
  tx: Transaction,
  scope: Scope,
  draft: FinalDraft,
): Promise<ChangedInvoice> {
  return await answerOf(tx, scope, draft, draft.invoice.payment_status);
}

/** The draft that the change would write; null if there is nothing to charge. */
export async function previewedEnd(
  db: Db,
  scope: Scope,
  end: ReadEnd,
): Promise<ChangedInvoice | null> {
  const draft = built(end);
  if (draft === null) return null;
  const invoice = { ...draft.invoice, id: PREVIEW_DRAFT };
  return await answerOf(db, scope, { ...draft, invoice }, 'preview');
}

async function answerOf(
  db: Db,
  scope: Scope,
  { invoice, lines }: FinalDraft,
  status: ChangedInvoice['status'],
): Promise<ChangedInvoice> {
  const [answer] = await settledAnswers(db, scope, [{ invoice, lines }], {});
  return {
    id: invoice.id,
    action: 'created',
    status,
    amount: invoice.amount_due,
    invoice: answer!,
    wallet_transaction: null,
  };
}
