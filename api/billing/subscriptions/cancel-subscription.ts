import { invalidField } from '../../../domain/errors.ts';
import {
  planCancellation,
  type CancellationDecision,
} from '../../../domain/subscription/cancellation.ts';
import { dueAt } from '../../../domain/subscription/due.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { CancelSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import type { LineItemRow, SubscriptionRow } from '../../../schemas/subscription.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { computeInvoices, onlyComputed } from '../computing/compute-invoices.ts';
import {
  findInvoicesOfPeriods,
  insertInvoiceLines,
  insertInvoices,
  lockUnpaidOpenings,
} from '../records/invoice-repository.ts';
import { voidLocked } from '../invoices/void-invoice.ts';
import { invoiceEvent } from '../computing/write-invoices.ts';
import { runCommand } from '../../conventions/command.ts';
import type { Caller } from '../../conventions/record.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import { cancellation } from './plan-advance.ts';
import {
  changeSubscription,
  endLineItemsOf,
  getSubscription,
  lineItemsOf,
  lockSubscription,
} from '../records/subscription-repository.ts';

export interface Cancelled {
  readonly subscription: SubscriptionRow;
  /** When the cancellation takes or took effect. */
  readonly effective_date: string;
  readonly invoice: FinalInvoice | null;
  readonly processed_at: string;
}
interface FinalInvoice {
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
}

/**
 * Cancels now, at a past time in the running period, at the period's end, or at a date (billing
 * 13). Now means: status, end of the lines and the draft of the final invoice in one transaction. Usage is
 * read before it, and the computation is used only if nothing changed in the meantime. Later means: the date
 * is stored, and the billing run does the rest.
 */
export async function cancelSubscription(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: CancelSubscriptionBody,
): Promise<Cancelled> {
  return await runCommand<Cancelled>(deps, 'subscription', async () => {
    const at = isoTime(deps.clock.now());
    const subscription = await getSubscription(deps.pool, caller.scope, id);
    const decision = decide(subscription, body, at);
    await refuseCredits(deps, caller, subscription, body, decision);
    const final = await finalInvoice(deps, caller, subscription, body, decision, at);
    return (tx) => write(tx, deps, caller, { subscription, decision, final, body, at });
  });
}

function decide(
  subscription: SubscriptionRow,
  body: CancelSubscriptionBody,
  at: string,
): CancellationDecision {
  const has_pending_cancellation = subscription.cancel_at !== null;
  return planCancellation(
    { ...subscription, has_pending_cancellation },
    {
      cancellation_type: body.cancellation_type,
      cancel_at: body.cancel_at ?? null,
      supersedes: false,
    },
    at,
  );
}

/**
 * Paid advances that are not served would return to a wallet as a credit (5.3). There are no wallets yet, so
 * this cancellation is refused rather than made without the credit.
 */
async function refuseCredits(
  deps: BillingDeps,
  { scope }: Caller,
  subscription: SubscriptionRow,
  body: CancelSubscriptionBody,
  { cancel_at }: CancellationDecision,
): Promise<void> {
  const behavior = body.proration_behavior ?? subscription.proration_behavior;
  if (behavior === 'none' || cancel_at >= subscription.current_period_end) return;
  if (subscription.subscription_status === 'trialing') return;
  const lines = await lineItemsOf(deps.pool, scope, [subscription.id]);
  if (lines.some((line) => isPaidBeyond(line, cancel_at)))
    throw invalidField(
      'proration_behavior',
      'credits for time that is not served cannot be given in this version; send "none"',
    );
}

const isPaidBeyond = (line: LineItemRow, at: string): boolean =>
  line.invoice_cadence === 'ADVANCE' &&
  line.billing_period !== 'ONETIME' &&
  line.start_date < at &&
  (line.end_date === null || line.end_date > at);

/**
 * The draft for usage and arrears up to the end; null if there is nothing to charge or it was not requested.
 */
async function finalInvoice(
  deps: BillingDeps,
  { scope, user_id }: Caller,
  subscription: SubscriptionRow,
  body: CancelSubscriptionBody,
  decision: CancellationDecision,
  at: string,
): Promise<FinalInvoice | null> {
  if (decision.takes_effect === 'later' || body.cancel_immediately_inovice_policy === 'skip')
    return null;
  const { target } = cancellation(
    { ...subscription, cancel_proration_behavior: body.proration_behavior ?? null },
    decision.cancel_at,
    deps.settings,
  );
  if (target === null) return null;
  const taken = await findInvoicesOfPeriods(deps.pool, scope, [target]);
  if (taken.size > 0) return null;
  const { invoice, lines } = onlyComputed(
    await computeInvoices(deps, deps.pool, scope, [target], { at, user_id }),
  );
  return lines.length === 0 ? null : { invoice, lines };
}

interface Decided {
  readonly subscription: SubscriptionRow;
  readonly decision: CancellationDecision;
  readonly final: FinalInvoice | null;
  readonly body: CancelSubscriptionBody;
  readonly at: string;
}

/** Null if the subscription changed while usage was read. */
async function write(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { subscription: known, decision, final, body, at }: Decided,
): Promise<Cancelled | null> {
  const { scope, user_id } = caller;
  const locked = await lockSubscription(tx, scope, known.id);
  if (locked.version !== known.version) return null;
  const { takes_effect, ...fields } = decision;
  const billing_sequence = locked.last_billing_sequence + 1;
  const next = { ...locked, ...fields };
  const subscription = await changeSubscription(tx, scope, locked.id, {
    ...fields,
    due_at: takes_effect === 'now' ? null : dueAfter(locked, next),
    last_billing_sequence: final === null ? locked.last_billing_sequence : billing_sequence,
    cancel_proration_behavior: body.proration_behavior ?? null,
    metadata: { ...locked.metadata, ...reasonMetadata(body, decision) },
    updated_at: at,
    updated_by: user_id,
  });
  if (takes_effect === 'now') await endLineItemsOf(tx, scope, [subscription]);
  if (locked.subscription_status === 'incomplete')
    await voidUnpaidOpening(tx, deps, caller, subscription);
  const customer = await getCustomer(tx, scope, subscription.customer_id);
  const invoice = final === null ? null : { ...final.invoice, billing_sequence };
  if (invoice !== null) {
    await insertInvoices(tx, [invoice]);
    await insertInvoiceLines(tx, final!.lines);
  }
  await writeOutboxEvents(tx, [
    ...(invoice === null
      ? []
      : [
          invoiceEvent('invoice.update', scope, {
            invoice,
            lines: final!.lines,
            customer,
            subscription,
          }),
        ]),
    {
      scope,
      event_type: takes_effect === 'now' ? 'subscription.cancelled' : 'subscription.updated',
      payload: { subscription: subscriptionSnapshot(subscription, customer) },
    },
  ]);
  failpoint('api.cancel_subscription.before_commit');
  return {
    subscription,
    effective_date: decision.cancel_at,
    invoice: invoice === null ? null : { invoice, lines: final!.lines },
    processed_at: at,
  };
}

/** Voids the unpaid opening invoice of an incomplete subscription (billing 13). */
async function voidUnpaidOpening(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { id }: SubscriptionRow,
): Promise<void> {
  for (const invoice of await lockUnpaidOpenings(tx, caller.scope, id))
    await voidLocked(tx, deps, caller, invoice);
}

/** A subscription that has not begun keeps its opening, unless it is cancelled before its start. */
function dueAfter(locked: SubscriptionRow, next: SubscriptionRow): string | null {
  const due = dueAt(next);
  const opens = locked.due_at !== null && locked.due_at <= locked.current_period_start;
  return opens && (due === null || locked.due_at! < due) ? locked.due_at : due;
}

/** Reason and mode of the cancellation, for people who read the subscription later. */
const reasonMetadata = (body: CancelSubscriptionBody, decision: CancellationDecision) => ({
  cancellation_type: body.cancellation_type,
  cancellation_reason: body.reason ?? '',
  effective_date: decision.cancel_at,
});
