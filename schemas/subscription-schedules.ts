import { z } from 'zod';
import { id, instant, optionalId, optionalOneOf } from './primitives.ts';
import { searchSchemas } from './search.ts';

export const SCHEDULE_TYPES = ['plan_change', 'cancellation'] as const;
export const SCHEDULE_STATUSES = [
  'pending', 'executing', 'executed', 'cancelled', 'failed',
] as const; // prettier-ignore

/** A change of a subscription with a date (interface, rule 11). */
export const SubscriptionSchedule = z
  .object({
    id: z.string(),
    subscription_id: z.string(),
    schedule_type: z.enum(SCHEDULE_TYPES),
    scheduled_at: instant,
    status: z.enum(SCHEDULE_STATUSES),
    /** The parameters of the change; null for a cancellation. */
    configuration: z.record(z.string(), z.unknown()).nullable(),
    /** What was done; null before. */
    execution_result: z.record(z.string(), z.unknown()).nullable(),
    /** Why it failed. */
    error_message: z.string().nullable(),
    can_be_cancelled: z.boolean(),
    /** Whole days from now, at least 0. */
    days_until_execution: z.int(),
    executed_at: instant.nullable(),
    cancelled_at: instant.nullable(),
    metadata: z.record(z.string(), z.string()),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'SubscriptionSchedule' });
export type SubscriptionSchedule = z.infer<typeof SubscriptionSchedule>;

/** `count` is the number of schedules that match; `schedules` is one page of them. */
export const SubscriptionSchedules = z
  .object({ schedules: z.array(SubscriptionSchedule), count: z.int() })
  .meta({ id: 'SubscriptionSchedules' });
export type SubscriptionSchedules = z.infer<typeof SubscriptionSchedules>;

export const ScheduleSearch = searchSchemas({
  fields: {
    id: 'text',
    subscription_id: 'text',
    schedule_type: 'text',
    scheduled_at: 'time',
    created_at: 'time',
    updated_at: 'time',
  },
  statuses: SCHEDULE_STATUSES,
  filters: (kind) => ({
    subscription_id: kind.text(),
    subscription_ids: kind.list(),
    schedule_type: kind.oneOf(SCHEDULE_TYPES),
    /** The same as `status`. */
    schedule_status: kind.oneOf(SCHEDULE_STATUSES),
    /** False lists schedules of every status. Default: true, unless `schedule_status` is set. */
    pending_only: kind.boolean(),
  }),
});

export const ScheduleParams = z.object({ schedule_id: id });

/** By the path, by its id, or by subscription and type. */
export const CancelScheduleBody = z
  .object({
    schedule_id: optionalId,
    subscription_id: optionalId,
    schedule_type: optionalOneOf(SCHEDULE_TYPES),
  })
  .meta({ id: 'CancelSchedule' });

export const CancelledSchedule = z
  .object({ status: z.enum(SCHEDULE_STATUSES), message: z.string() })
  .meta({ id: 'CancelledSchedule' });
