import { invalidField } from '../../../../domain/errors.ts';
import { decimal } from '../../../../domain/money.ts';
import { dueEnd } from '../../../../domain/subscription/cancellation.ts';
import { paidSchedule } from '../../../../domain/subscription/schedule.ts';
import {
  firstPeriod,
  nextPeriod,
  previousPeriod,
  type BillingSchedule,
} from '../../../../domain/time/billing-periods.ts';
import type { Period } from '../../../../domain/time/instant.ts';
import { isoTime } from '../../../../platform/clock.ts';
import type { Db, Scope } from '../../../../postgres/client.ts';
import type { PreviewInvoiceBody } from '../../../../schemas/invoice-requests.ts';
import type { Invoice } from '../../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { BillingDeps, UsageDeps } from '../../../deps.ts';
import { refuseLongRange } from '../../../conventions/usage-range.ts';
import type { Caller } from '../../../conventions/record.ts';
import { pendingSchedules } from '../../records/schedule-repository.ts';
import { getSubscription } from '../../records/subscription-repository.ts';
import { previewAnswer } from '../../invoices/answers.ts';
import { buildPlanned, onlyComputed, planInvoices } from '../../computing/compute-invoices.ts';
import { withProjectedCredits } from '../../computing/projected-credits.ts';
import type { InvoiceTarget } from '../../computing/invoice-target.ts';
import type { Settled } from '../../computing/settle.ts';
import { cycleTarget, trialEndTarget } from '../../computing/targets.ts';
import { cancellation } from '../plan-advance.ts';
import { rolledBack } from '../../../conventions/rolled-back.ts';
import { executeScheduledChange, isDueAt } from '../changes/scheduled-plan-change.ts';

/**
 * The invoice of a window as if the window ended now: its usage and arrears, and the advances of the next
 * billing period. Uses the functions of the real invoice and writes nothing (billing 17.7). Includes charges
 * that other invoices have already billed. Usage of a new meter is counted from the events until its backfill is
 * verified; only the real invoice waits for that.
 */
export async function previewInvoice(
  deps: BillingDeps & UsageDeps,
  { scope, user_id }: Caller,
  body: PreviewInvoiceBody,
): Promise<Invoice> {
  const { pool } = deps;
  const subscription = await getSubscription(pool, scope, body.subscription_id);
  const window = requestedWindow(subscription, body);
  const at = isoTime(deps.clock.now());
  const options = { at, user_id, ignoreBilled: true, shownFrom: deps };
  const plan = (db: Db, of: SubscriptionRow) =>
    planInvoices(db, scope, [previewTarget(of, window, deps.settings)], options);
  const planned = (await hasDueChange(pool, scope, subscription, window))
    ? await rolledBack(deps, async (tx) => {
        await executeScheduledChange(tx, deps, { scope, user_id }, subscription, at);
        return await plan(tx, await getSubscription(tx, scope, subscription.id));
      })
    : await plan(pool, subscription);
  const computed = onlyComputed(await buildPlanned(deps, planned, options));
  const { invoice, lines } = await withProjectedCredits(pool, scope, computed, at);
  const shown = lines.filter(
    ({ amount }) => body.hide_zero_charges_line_items !== true || !decimal(amount).isZero(),
  );
  return await subscriptionPreview(pool, scope, { invoice, lines: shown });
}

/** The invoice of a subscription that is not stored, as its preview answers it. */
export const subscriptionPreview = (
  db: Db,
  scope: Scope,
  { invoice, lines }: Settled,
): Promise<Invoice> =>
  previewAnswer(db, scope, {
    invoice: {
      ...invoice,
      description: `Preview invoice for subscription ${invoice.subscription_id}`,
      metadata: {},
    },
    lines,
  });

/**
 * Whether the billing run changes the plan before it closes the window (3.4). If so, the preview changes it too, in a
 * transaction that is rolled back.
 */
async function hasDueChange(
  db: Db,
  scope: Scope,
  { id, current_period_end }: SubscriptionRow,
  window: Period,
): Promise<boolean> {
  if (window.end !== current_period_end) return false;
  const pending = await pendingSchedules(db, scope, [id]);
  return pending.some((schedule) => isDueAt(schedule, window.end));
}

/** 400 `usage_query_too_large` for more than ten years, unless it is the running period (billing 17.7). */
function requestedWindow(subscription: SubscriptionRow, body: PreviewInvoiceBody): Period {
  const start = body.period_start ?? subscription.current_period_start;
  const end = body.period_end ?? subscription.current_period_end;
  if (start >= end) throw invalidField('period_end', 'must be after period_start');
  refuseLongRange(subscription, { start, end });
  return { start, end };
}

/** The invoice that closes the window; of a whole trial, the one that ends it. */
export function previewTarget(
  subscription: SubscriptionRow,
  window: Period,
  settings: BillingDeps['settings'],
): InvoiceTarget {
  if (isWholeTrial(subscription, window)) return trialEndTarget(subscription);
  const target = cycleTarget(subscription, window, settings);
  const { current_period_start: start, current_period_end: end } = subscription;
  if (window.start === start && window.end === end)
    return { ...(cancelledTarget(subscription, settings) ?? target), finalize_after: null };
  const schedule = paidSchedule(subscription);
  const opening = target.covers.opening === null ? null : periodFollowing(schedule, window);
  return { ...target, covers: { closing: window, opening }, finalize_after: null };
}

/** The invoice with which a cancellation scheduled within the running period ends it; null without one (billing 13). */
function cancelledTarget(
  subscription: SubscriptionRow,
  settings: BillingDeps['settings'],
): InvoiceTarget | null {
  const { cancel_at, current_period_end } = subscription;
  if (cancel_at === null || cancel_at >= current_period_end) return null;
  return cancellation(subscription, cancel_at, settings).target;
}

/** A running trial ends with the first paid period's advances, unless the subscription ends with it. */
const isWholeTrial = (subscription: SubscriptionRow, { end }: Period): boolean =>
  subscription.subscription_status === 'trialing' &&
  end === subscription.current_period_end &&
  dueEnd(subscription, end) === null;

/** The billing period after the one in which the window ends; the first if the window ends before it. */
function periodFollowing(schedule: BillingSchedule, window: Period): Period | null {
  if (window.end <= schedule.start_date) return firstPeriod(schedule);
  const last = previousPeriod(schedule, window.end);
  return last === null ? null : nextPeriod(schedule, last.end);
}
