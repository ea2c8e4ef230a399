import { z } from 'zod';
import { id, instant, text, time } from './primitives.ts';
import { choice, eventText, windowSize } from './usage-choices.ts';

/** Both times or neither; without them the last 24 hours. */
export const MonitoringQuery = z
  .object({
    start_time: choice(time),
    end_time: choice(time),
    window_size: windowSize,
    /** Only events of this customer. The lag stays the whole service's. */
    external_customer_id: eventText.nullish(),
  })
  .refine(({ start_time, end_time }) => (start_time == null) === (end_time == null), {
    path: ['end_time'],
    message: 'send both start_time and end_time, or neither for the last 24 hours',
  });
export type MonitoringQuery = z.output<typeof MonitoringQuery>;

/** Events of the environment by their own time, and the lag of the whole service. */
export const Monitoring = z
  .object({
    start_time: instant,
    end_time: instant,
    /** Accepted copies. */
    total_count: z.int(),
    accepted_count: z.int(),
    duplicate_count: z.int(),
    /** Counted by at least one meter. */
    metered_count: z.int(),
    /** Matched by at least one meter that could not count them. */
    rejected_count: z.int(),
    /** Null without `window_size`. Windows in UTC; windows without events are omitted. */
    points: z.array(z.object({ timestamp: instant, event_count: z.int() })).nullable(),
    /** Log records not yet processed; null while the log is unreachable. */
    consumption_lag: z.int().nullable(),
    /** Always 0: events are stored and metered in one step. */
    post_processing_lag: z.int(),
    /** Milliseconds since the watermark of the partition that lags most moved; 0 when none lags. */
    freshness_ms: z.int().nullable(),
    partitions: z
      .array(
        z.object({
          partition: z.int(),
          lag_records: z.int(),
          /** When its watermark last moved; null means never. */
          watermark_moved_at: instant.nullable(),
        }),
      )
      .nullable(),
  })
  .meta({ id: 'EventMonitoring' });
export type Monitoring = z.infer<typeof Monitoring>;

export const EventCostsBody = z
  .object({ requestIds: z.array(id).min(1).max(1000) })
  .meta({ id: 'GetHuggingFaceBillingData' });

export const EventCosts = z
  .object({ requests: z.array(z.object({ requestId: z.string(), costNanoUsd: z.string() })) })
  .meta({ id: 'HuggingFaceBillingData' });

export const ReprocessBody = z
  .object({
    start_date: time,
    /** Default: now. */
    end_date: time.nullish(),
    event_names: z.array(text()).max(1000).nullish(),
    external_customer_ids: z.array(text()).max(1000).nullish(),
    external_customer_id: text().nullish(),
    batch_size: z.int().min(1).max(100_000).nullish(),
  })
  .meta({ id: 'ReprocessRawEvents' });
export type ReprocessBody = z.output<typeof ReprocessBody>;

export const ReprocessAnswer = z
  .object({ message: z.string(), workflow_id: z.string(), run_id: z.string() })
  .meta({ id: 'ReprocessRawEventsAnswer' });
