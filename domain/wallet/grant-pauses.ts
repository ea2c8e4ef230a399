import type { SubscriptionStatus } from '../states/subscription.ts';
import type { BillingCycle } from '../time/billing-grid.ts';
import type { PausedTime } from '../time/paused-cells.ts';
import { epochMs, isoText, isWithin, laterOf, type Instant, type Period } from '../time/instant.ts';
import type { GrantApplication } from './grant-application.ts';
import { boundaryAfter, grantGrid, type RunningGrant } from './grant-schedule.ts';

/**
 * The status that decides about credits which were due at `dueAt`: a job may come later, and by then a pause may have
 * begun or ended (money 5.4.2). `pauses` are those that have begun or should have.
 */
export function statusWhenDue(
  {
    subscription_status,
    pause_at,
  }: { readonly subscription_status: SubscriptionStatus; readonly pause_at: Instant | null },
  pauses: readonly PausedTime[],
  dueAt: Instant,
): SubscriptionStatus {
  if (subscription_status !== 'active' && subscription_status !== 'paused')
    return subscription_status;
  if (pauses.some(({ start, end }) => isWithin(dueAt, start, end))) return 'paused';
  const isBefore = pause_at !== null && epochMs(dueAt) < epochMs(pause_at);
  return isBefore ? 'active' : subscription_status;
}

/** Dates of a grant and of its open application that a pause has moved. */
export interface MovedGrant<Application> {
  readonly start_date: Instant;
  readonly credit_grant_anchor: Instant;
  readonly application: Application;
}

/**
 * A recurring grant after a pause that made the period of its subscription longer: each later period of the grant is
 * later by the pause (billing 12.4). A period that would have begun in the pause begins after it, so no credits
 * are lost. Null if nothing moves: the grant is given once, begins after the pause, has ended, or has credits of
 * earlier periods that are still due, whose dates stay.
 */
export function grantAfterPause<
  Application extends Pick<GrantApplication, 'scheduled_for' | 'period_start' | 'period_end'>,
>(grant: RunningGrant, open: Application, pause: Period): MovedGrant<Application> | null {
  const from = laterOf(pause.start, grant.start_date);
  if (grant.cadence === 'ONETIME' || from >= pause.end) return null;
  const first = from === grant.start_date ? from : boundaryFrom(grant, from);
  const moved = isoText(epochMs(first) + epochMs(pause.end) - epochMs(from));
  const start_date = from === grant.start_date ? moved : grant.start_date;
  const dates = { start_date, credit_grant_anchor: moved };
  if (open.period_start >= from) {
    const period_end = boundaryAfter({ ...grant, ...dates }, moved);
    if (period_end === null) return null;
    const application = { ...open, scheduled_for: moved, period_start: moved, period_end };
    return { ...dates, application };
  }
  if (open.period_end !== first) return null;
  return { ...dates, application: { ...open, period_end: moved } };
}

/**
 * The open application of a grant as it will be when it is due, by what is known of the subscription's pause (money
 * 5.6.4): null for credits that fall into it and are lost, and while the pause has no end.
 */
export function applicationOutsidePause<
  Application extends Pick<GrantApplication, 'scheduled_for' | 'period_start' | 'period_end'>,
>(
  grant: RunningGrant & { readonly billing_cycle: BillingCycle },
  open: Application,
  { start, end }: PausedTime,
): Application | null {
  if (end !== null && grant.billing_cycle === 'anniversary') {
    const moved = grantAfterPause(grant, open, { start, end });
    if (moved !== null) return moved.application;
  }
  if (!isWithin(open.scheduled_for, start, end)) return open;
  if (end === null || grant.cadence === 'ONETIME') return null;
  const first = boundaryFrom(grant, end);
  const period_end = boundaryAfter(grant, first);
  if (period_end === null) return null;
  const isOver = grant.end_date !== null && epochMs(period_end) > epochMs(grant.end_date);
  return isOver ? null : { ...open, scheduled_for: first, period_start: first, period_end };
}

/** The first boundary of the grant's periods at or after an instant. */
function boundaryFrom(grant: RunningGrant, at: Instant): Instant {
  const grid = grantGrid(grant);
  const index = grid.indexAt(at);
  return grid.boundary(index) === at ? at : grid.boundary(index + 1);
}
