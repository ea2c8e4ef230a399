import { epochMs, type Instant, type Period } from '../time/instant.ts';

/**
 * The subscriptions that own usage of a range: those that run at any instant of it. A subscription that
 * was cancelled or ended before the range owns no usage in it (billing 13).
 */
export function subscriptionsOwning<
  Subscription extends {
    readonly start_date: Instant;
    readonly end_date: Instant | null;
    readonly cancelled_at: Instant | null;
  },
>(subscriptions: readonly Subscription[], range: Period): Subscription[] {
  return subscriptions.filter(({ start_date, end_date, cancelled_at }) => {
    const ends = [end_date, cancelled_at].filter((end) => end !== null).map(epochMs);
    const end = Math.min(Infinity, ...ends);
    return epochMs(start_date) < Math.min(epochMs(range.end), end) && end > epochMs(range.start);
  });
}
