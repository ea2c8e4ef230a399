import type { EffectiveEntitlement } from '../../../domain/entitlement/effective-limits.ts';
import {
  pausedResetWindows,
  resetScheduleAt,
} from '../../../domain/subscription/reset-schedule.ts';
import { laterOf } from '../../../domain/time/instant.ts';
import { commonPauses, type PausedTime } from '../../../domain/time/paused-cells.ts';
import { resetWindowAt, type ResetWindow } from '../../../domain/time/reset-windows.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { pausedTimes } from '../records/pause-repository.ts';

/** Subscriptions that entitle, by id, with their pauses in order of time. */
export interface Granting {
  readonly subscriptions: ReadonlyMap<string, SubscriptionRow>;
  readonly pauses: ReadonlyMap<string, readonly PausedTime[]>;
}

export async function withPauses(
  db: Db,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
): Promise<Granting> {
  const ids = subscriptions.map(({ id }) => id);
  return {
    subscriptions: new Map(subscriptions.map((subscription) => [subscription.id, subscription])),
    pauses: ids.length === 0 ? new Map() : await pausedTimes(db, scope, ids),
  };
}

export interface RunningWindow {
  readonly start: string;
  /** Upper bound of the query: usage may have a time slightly in the future. */
  readonly until: string;
  /** Null means that the window never resets. */
  readonly end: string | null;
}

/**
 * The reset window that contains `at`, aligned to the first source's subscription and not before its start;
 * without a reset period the current billing period. A period that pauses made longer has as many windows as
 * without them (billing 12.4).
 */
export function windowOf(
  { usage_reset_period: reset, sources }: EffectiveEntitlement,
  { subscriptions, pauses }: Granting,
  at: string,
): RunningWindow {
  const { subscription_id } = sources[0]!;
  const subscription = subscriptions.get(subscription_id)!;
  const { current_period_start: start, current_period_end: end } = subscription;
  if (reset === null) return { start, until: end, end };
  const windows = pausedResetWindows(subscription, reset, at, pauses.get(subscription_id) ?? []);
  const { billing_anchor, start_date: paidFrom } = resetScheduleAt(subscription, reset, at);
  // Usage of a trial counts while the trial runs.
  const start_date = paidFrom <= at ? paidFrom : subscription.start_date;
  const window: ResetWindow =
    windows?.find((each) => each.start <= at && at < each.end) ??
    resetWindowAt({ ...subscription, billing_anchor, start_date }, reset, at);
  // A window without end reaches as far as events may lie in the future.
  const until = window.end ?? end;
  return { start: laterOf(window.start, start_date), until, end: window.end };
}

/** The times whose usage an entitlement does not count: all subscriptions that grant it were paused (billing 12.3). */
export const pausesOf = (
  { sources }: Pick<EffectiveEntitlement, 'sources'>,
  { pauses }: Granting,
): readonly PausedTime[] =>
  commonPauses(
    [...new Set(sources.map(({ subscription_id }) => subscription_id))].map(
      (id) => pauses.get(id) ?? [],
    ),
  );
