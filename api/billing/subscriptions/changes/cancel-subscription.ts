import {
  planCancellation,
  type CancellationDecision,
} from '../../../../domain/subscription/cancellation.ts';
import { dueAt } from '../../../../domain/subscription/due.ts';
import { invalidField } from '../../../../domain/errors.ts';
import { isoTime } from '../../../../platform/clock.ts';
import { failpoint } from '../../../../platform/failpoint.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import { roundToCurrency } from '../../../../domain/currency.ts';
import { decimalText } from '../../../../domain/money.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { CancelSubscriptionBody } from '../../../../schemas/subscription-requests.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { getCustomer } from '../../../customers/customers/repository.ts';
import type { BillingDeps } from '../../../deps.ts';
import { computeInvoices, onlyComputed } from '../../computing/compute-invoices.ts';
import { findInvoicesOfPeriods } from '../../records/subscription-invoice-repository.ts';
import { endSchedulesOf } from '../../records/schedule-repository.ts';
import { endAdvances } from '../../proration/end-advances.ts';
import { writeChange } from '../../proration/write-change.ts';
import type { SettledChange } from '../../proration/settle-change.ts';
import {
  lockRunningDrafts,
  withRunningDrafts,
  writeDrafts,
  type FinalDraft,
} from '../final-draft.ts';
import { caughtUp } from './catch-up.ts';
import { schedule } from './schedules.ts';
import { invoiceEvent } from '../../computing/write-invoices.ts';
import { runCommand } from '../../../conventions/command.ts';
import type { Caller } from '../../../conventions/record.ts';
import { endPauseOf } from '../../records/pause-repository.ts';
import { subscriptionSnapshot } from '../../records/subscription-notification.ts';
import { cancellation } from '../plan-advance.ts';
import { takeBackInvoices } from '../take-back-invoices.ts';
import {
  changeSubscription,
  endLineItemsOf,
  getSubscription,
  lockSubscription,
} from '../../records/subscription-repository.ts';

export interface Cancelled {
  readonly subscription: SubscriptionRow;
  /** When the cancellation takes or took effect. */
  readonly effective_date: string;
  readonly invoice: FinalDraft | null;
  /** Advances for unserved time, by line, with the credited amounts. */
  readonly returned: readonly ReturnedAdvance[];
  readonly credit: string;
  readonly processed_at: string;
}

/** The unserved part of an advance. Decimal text. */
export interface ReturnedAdvance {
  readonly line_item_id: string;
  readonly price_id: string;
  readonly plan_name: string | null;
  /** The slice at the price of the line. */
  readonly original_amount: string;
  /** Net of discounts, at most what was billed. */
  readonly credit_amount: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Cancels now, at a past time in the running period, at the period's end, or at a date (billing 13).
 * Everything that was due before is billed first. A cancellation that takes effect at once writes status, end
 * of the lines, the draft of the final invoice and the credit for advances in one transaction. Usage is read
 * before, and the computation is used only if nothing changed in the meantime. For a later cancellation only
 * the date is stored, and the billing run executes it. `assertReason` runs under the subscription's lock and throws
 * if the reason for the cancellation is gone.
 */
export async function cancelSubscription(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: CancelSubscriptionBody,
  assertReason?: (tx: Transaction) => Promise<void>,
): Promise<Cancelled> {
  return await runCommand<Cancelled>(deps, 'subscription', async () => {
    const at = isoTime(deps.clock.now());
    // A refused request changes nothing and bills nothing that is due.
    decide(await getSubscription(deps.pool, caller.scope, id), body, at);
    const subscription = await caughtUp(deps, caller, id);
    const decision = decide(subscription, body, at);
    const final = await finalInvoice(deps, caller, subscription, body, decision, at);
    return (tx) =>
      write(tx, deps, caller, { subscription, decision, final, body, at, assertReason });
  });
}

function decide(
  subscription: SubscriptionRow,
  body: CancelSubscriptionBody,
  at: string,
): CancellationDecision {
  if (body.cancellation_type === 'end_of_period' && body.cancel_at)
    throw invalidField('cancel_at', 'is for scheduled_date; end_of_period has a date of its own');
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
 * The draft for usage and arrears up to the end; null if there is nothing to charge or it was not requested.
 */
async function finalInvoice(
  deps: BillingDeps,
  { scope, user_id }: Caller,
  subscription: SubscriptionRow,
  body: CancelSubscriptionBody,
  decision: CancellationDecision,
  at: string,
): Promise<FinalDraft | null> {
  const policy = body.cancel_immediately_invoice_policy ?? body.cancel_immediately_inovice_policy;
  if (decision.takes_effect === 'later' || policy === 'skip') return null;
  const { target } = cancellation(
    { ...subscription, cancel_proration_behavior: body.proration_behavior ?? null },
    decision.cancel_at,
    deps.settings,
  );
  if (target === null) return null;
  const taken = await findInvoicesOfPeriods(deps.pool, scope, [target]);
  if (taken.size > 0) return null;
  const [final] = await withRunningDrafts(deps.pool, scope, [target]);
  const { invoice, lines } = onlyComputed(
    await computeInvoices(deps, deps.pool, scope, [final!], { at, user_id }),
  );
  const before = final!.invoice;
  return lines.length === 0 && before === null ? null : { invoice, lines, before };
}

interface Decided {
  readonly subscription: SubscriptionRow;
  readonly decision: CancellationDecision;
  readonly final: FinalDraft | null;
  readonly body: CancelSubscriptionBody;
  readonly at: string;
  readonly assertReason: ((tx: Transaction) => Promise<void>) | undefined;
}

/** Null if the subscription changed while usage was read. */
async function write(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { subscription: known, decision, final, body, at, assertReason }: Decided,
): Promise<Cancelled | null> {
  const { scope, user_id } = caller;
  const locked = await lockSubscription(tx, scope, known.id);
  await assertReason?.(tx);
  if (locked.version !== known.version) return null;
  if (!(await lockRunningDrafts(tx, scope, final === null ? [] : [final]))) return null;
  const { takes_effect, ...fields } = decision;
  const isNow = takes_effect === 'now';
  const next = { ...locked, ...fields };
  const billing_sequence =
    final === null ? null : (final.before?.billing_sequence ?? locked.last_billing_sequence + 1);
  if (isNow) await takeBackInvoices(tx, deps, caller, locked);
  const behavior = body.proration_behavior ?? locked.proration_behavior;
  const returning = isNow
    ? await endAdvances(deps, tx, caller, locked, decision.cancel_at, behavior, at)
    : null;
  const subscription = await changeSubscription(tx, scope, locked.id, {
    ...fields,
    due_at: isNow ? null : dueAfter(locked, next),
    last_billing_sequence: Math.max(billing_sequence ?? 0, locked.last_billing_sequence),
    cancel_proration_behavior: body.proration_behavior ?? null,
    metadata: { ...locked.metadata, ...reasonMetadata(body, decision) },
    updated_at: at,
    updated_by: user_id,
  });
  const of = { kind: 'cancellation', subscription, at };
  const returned = returning === null ? null : await writeChange(tx, deps, caller, returning, of);
  if (isNow) {
    await endLineItemsOf(tx, scope, [subscription]);
    await endPauseOf(tx, scope, locked, subscription);
  }
  await endSchedulesOf(tx, scope, [locked.id], { at, user_id, superseded: true });
  if (!isNow)
    await schedule(tx, deps, caller, {
      subscription_id: locked.id,
      schedule_type: 'cancellation',
      scheduled_at: decision.cancel_at,
      configuration: { cancellation_type: body.cancellation_type, reason: body.reason ?? '' },
    });
  const customer = await getCustomer(tx, scope, subscription.customer_id);
  const invoice = final === null ? null : { ...final.invoice, billing_sequence };
  if (invoice !== null) await writeDrafts(tx, scope, [{ ...final!, invoice }]);
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
    ...(returned?.events ?? []),
    {
      scope,
      event_type: isNow ? 'subscription.cancelled' : 'subscription.updated',
      payload: { subscription: subscriptionSnapshot(subscription, customer) },
    },
  ]);
  failpoint('api.cancel_subscription.before_commit');
  return {
    subscription,
    effective_date: decision.cancel_at,
    invoice: invoice === null ? null : { ...final!, invoice },
    returned: returning === null ? [] : returnedAdvances(returning),
    credit: returned?.credited?.amount ?? '0',
    processed_at: at,
  };
}

const returnedAdvances = ({ changed }: SettledChange): ReturnedAdvance[] =>
  changed.map(({ line, rated }) => ({
    line_item_id: line.id,
    price_id: line.price_id,
    plan_name: line.plan_display_name,
    original_amount: decimalText(roundToCurrency(rated.unrounded.neg(), line.currency)),
    credit_amount: decimalText(rated.amount.neg()),
    from: rated.period.start,
    to: rated.period.end,
  }));

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
