import { invalidOperation } from '../../../../domain/errors.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { ChangeOperation, LineSwap } from '../../proration/change-rows.ts';
import type { SettledChange } from '../../proration/settle-change.ts';

/**
 * Lines that end in a pause serve nothing from its start on. A period that becomes longer by the pause therefore
 * credits their advances from there; on a calendar the resumption credits the time of the pause (billing 12.3, 12.4).
 * Refuses an end later than `at`: how much of the advance is used by then depends on the resumption. Without prorations
 * nothing is credited, and any end is possible.
 */
export function endsInPause(
  { subscription, swaps, proration_behavior }: ChangeOperation,
  at: string,
): readonly LineSwap[] {
  const { subscription_status, billing_cycle, pause_at } = subscription;
  const credits = subscription_status === 'paused' && proration_behavior === 'create_prorations';
  if (!credits || billing_cycle === 'calendar' || pause_at === null) return swaps;
  return swaps.map((swap) => {
    const { before, after, effective_at } = swap;
    const isPaid = before?.price_type === 'FIXED' && before.invoice_cadence === 'ADVANCE';
    if (after !== null || !isPaid || effective_at <= pause_at) return swap;
    if (effective_at > at)
      throw invalidOperation(
        'In a pause a line that is paid in advance ends now; to end it later, resume the subscription first, or use proration_behavior none.',
        'subscription_status',
      );
    return { ...swap, effective_at: pause_at };
  });
}

/** Refuses a change with a charge at once in a pause, in which nothing is invoiced (billing 12.3). */
export function refuseChargeInPause(
  { subscription_status }: SubscriptionRow,
  { changed }: SettledChange,
): void {
  if (subscription_status === 'paused' && changed.some(({ billed }) => billed === null))
    throw invalidOperation(
      'Nothing is charged in a pause; resume the subscription first, or use proration_behavior none.',
      'subscription_status',
    );
}
