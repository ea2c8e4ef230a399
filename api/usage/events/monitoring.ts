import { isoText } from '../../../domain/time/instant.ts';
import { windowStart } from '../../../domain/time/usage-windows.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { Monitoring, MonitoringQuery } from '../../../schemas/event-monitoring.ts';
import type { ApiDeps } from '../../deps.ts';
import { rangeOf } from '../../conventions/usage-range.ts';

const DEFAULT_RANGE_MS = 86_400_000;

/**
 * Number of events of the environment, or of one customer, by outcome, and how far the stream is behind the log.
 * The lag is the whole service's: all tenants share the partitions.
 */
export async function monitorEvents(
  deps: ApiDeps,
  scope: Scope,
  query: MonitoringQuery,
): Promise<Monitoring> {
  const end_time = query.end_time ?? isoTime(deps.clock.now());
  const start_time = query.start_time ?? isoText(Date.parse(end_time) - DEFAULT_RANGE_MS);
  const { window_size, external_customer_id } = query;
  const { start, end } = rangeOf(deps.clock, { start_time, end_time, window_size });
  const [counts, lag] = await Promise.all([
    deps.eventReader.counts({
      ...scope,
      start: Date.parse(start),
      end: Date.parse(end),
      // Every UTC window except the minute consists of whole quarter hours.
      step: window_size == null ? 0 : window_size === 'MINUTE' ? 60 : 900,
      ...(external_customer_id == null ? {} : { external_customer_id }),
    }),
    readLag(deps),
  ]);
  return {
    start_time,
    end_time,
    total_count: counts.accepted,
    accepted_count: counts.accepted,
    duplicate_count: counts.duplicates,
    metered_count: counts.metered,
    rejected_count: counts.rejected,
    points: window_size == null ? null : pointsOf(counts.slots, window_size),
    post_processing_lag: 0,
    ...lag,
  };
}

function pointsOf(
  slots: readonly { readonly slot: number; readonly accepted: number }[],
  bucket_size: NonNullable<MonitoringQuery['window_size']>,
): NonNullable<Monitoring['points']> {
  const window = { bucket_size, timezone: 'UTC', billing_anchor: null };
  const points = new Map<string, number>();
  for (const { slot, accepted } of slots) {
    const timestamp = windowStart(window, isoText(slot));
    points.set(timestamp, (points.get(timestamp) ?? 0) + accepted);
  }
  return [...points].map(([timestamp, event_count]) => ({ timestamp, event_count }));
}

type Lag = Pick<Monitoring, 'consumption_lag' | 'freshness_ms' | 'partitions'>;

/** All null while the log is unreachable. */
async function readLag(deps: ApiDeps): Promise<Lag> {
  const partitions = await deps.streamLag().catch((error: unknown) => {
    deps.log.warn({ err: error }, 'monitoring: the lag is unknown');
    return null;
  });
  if (partitions === null) return { consumption_lag: null, freshness_ms: null, partitions: null };
  return {
    consumption_lag: partitions.reduce((sum, { lag_records }) => sum + lag_records, 0),
    freshness_ms: Math.max(0, ...partitions.map(({ waiting_ms }) => waiting_ms)),
    partitions: partitions.map(({ partition, lag_records, watermark_moved_at }) => ({
      partition,
      lag_records,
      watermark_moved_at,
    })),
  };
}
