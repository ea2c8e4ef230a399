import assert from 'node:assert/strict';
import { paidSchedule, scheduleAfterTrial } from '../../../domain/subscription/schedule.ts';
import { firstPeriod, nextPeriod } from '../../../domain/time/billing-periods.ts';
import { epochMs, isoText, laterOf, type Period } from '../../../domain/time/instant.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { InvoicedAddon, InvoiceTarget } from './invoice-target.ts';

/**
 * The invoice that closes a billing period: its usage and arrears, and the advances of the next period,
 * unless the subscription ends with this one (billing 3.1).
 */
export function cycleTarget(
  subscription: SubscriptionRow,
  period: Period,
  settings: { readonly grace_seconds: number },
): InvoiceTarget {
  return {
    subscription,
    billing_reason: 'SUBSCRIPTION_CYCLE',
    period: { start: period.start, end: period.end },
    proration_behavior: subscription.proration_behavior,
    covers: { closing: period, opening: periodAfter(subscription, period) },
    invoice: null,
    finalize_after: graceEnd(subscription, period, settings),
  };
}

/**
 * The invoice with which paid service or a trial begins: the advances of the first period, or the rows of a
 * trial at 0 (billing 3.1, 10.4).
 */
export function openingTarget(subscription: SubscriptionRow): InvoiceTarget {
  const { current_period_start: start, current_period_end: end } = subscription;
  const isTrial = subscription.subscription_status === 'trialing';
  return {
    subscription,
    billing_reason: isTrial ? 'SUBSCRIPTION_TRIAL_START' : 'SUBSCRIPTION_CREATE',
    period: { start, end },
    proration_behavior: subscription.proration_behavior,
    covers: { closing: null, opening: isTrial ? firstPeriod(subscription) : { start, end } },
    invoice: null,
    finalize_after: null,
  };
}

/**
 * The invoice of the end of a running trial: the advances of the first paid period. Its subscription is in
 * that period already (billing 10.4).
 */
export function trialEndTarget(subscription: SubscriptionRow): InvoiceTarget {
  const schedule = scheduleAfterTrial(subscription, subscription.current_period_end);
  const { start, end } = firstPeriod(schedule)!;
  return {
    subscription: {
      ...subscription,
      billing_anchor: schedule.billing_anchor,
      current_period_start: start,
      current_period_end: end,
    },
    billing_reason: 'SUBSCRIPTION_TRIAL_END',
    period: { start, end },
    proration_behavior: subscription.proration_behavior,
    covers: { closing: null, opening: { start, end } },
    invoice: null,
    finalize_after: null,
  };
}

/**
 * The next period; null if the subscription ends or pauses, or is scheduled for cancellation, at the end of
 * this one.
 */
export function periodAfter(subscription: SubscriptionRow, period: Period): Period | null {
  if (subscription.cancel_at !== null && subscription.cancel_at <= period.end) return null;
  if (subscription.pause_at === period.end) return null;
  const schedule = paidSchedule(subscription, period.end);
  const next = nextPeriod(schedule, period.end);
  if (next === null || next.start === period.end) return next;
  // The anchor has moved since, with a pause: the period followed its own end.
  return nextPeriod({ ...schedule, billing_anchor: period.end }, period.end);
}

/**
 * The invoice of a period that has been ended within it, without advances: its usage and arrears (billing 13, 14.2).
 */
export function closedTarget(
  subscription: SubscriptionRow,
  period: Period,
  proration_behavior: InvoiceTarget['proration_behavior'],
  settings: { readonly grace_seconds: number },
): InvoiceTarget {
  return {
    subscription,
    billing_reason: 'PRORATION',
    period,
    proration_behavior,
    covers: { closing: period, opening: null },
    invoice: null,
    finalize_after: graceEnd(subscription, period, settings),
  };
}

/**
 * The invoice of an addon for a period that was closed before the addon was attached: its advances, arrears and usage
 * of that period (billing 15.1).
 */
export function addonTarget(
  subscription: SubscriptionRow,
  addon: InvoicedAddon,
  period: Period,
  proration_behavior: InvoiceTarget['proration_behavior'],
  settings: { readonly grace_seconds: number },
): InvoiceTarget {
  return {
    subscription,
    billing_reason: 'SUBSCRIPTION_UPDATE',
    period,
    proration_behavior,
    covers: { closing: period, opening: period },
    invoice: null,
    finalize_after: graceEnd({ created_at: addon.attached_at }, period, settings),
    addon,
  };
}

/**
 * End of the grace for late usage. The grace runs from the end of the period; for periods that ended before
 * the subscription was created, from its creation (billing 17.4).
 */
export function graceEnd(
  subscription: Pick<SubscriptionRow, 'created_at'>,
  period: Period,
  { grace_seconds }: { readonly grace_seconds: number },
): string {
  return isoText(epochMs(laterOf(period.end, subscription.created_at)) + grace_seconds * 1000);
}

/**
 * The target from which a stored invoice is recomputed: the stored reason decides, never the caller (17.2).
 */
export function targetOf(invoice: InvoiceRecord, subscription: SubscriptionRow): InvoiceTarget {
  assert(invoice.period_start !== null && invoice.period_end !== null, 'it has a period');
  assert(invoice.billing_reason !== null, 'it has a reason');
  const period = { start: invoice.period_start, end: invoice.period_end };
  const { billing_reason, finalize_after, proration_behavior } = invoice;
  const shared = { proration_behavior, invoice, finalize_after };
  const target = { subscription, billing_reason, period, ...shared };
  if (invoice.addon_association_id !== null) {
    const addon = { association_id: invoice.addon_association_id, attached_at: invoice.created_at };
    return { ...target, covers: { closing: period, opening: period }, addon };
  }
  switch (billing_reason) {
    case 'SUBSCRIPTION_CYCLE':
      return { ...target, covers: { closing: period, opening: periodAfter(subscription, period) } };
    case 'PRORATION':
      return { ...target, covers: { closing: period, opening: null } };
    default:
      return { ...target, covers: { closing: null, opening: period } };
  }
}
