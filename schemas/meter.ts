import { z } from 'zod';
import {
  decimalText,
  id,
  instant,
  name,
  optionalId,
  optionalOneOf,
  optionalText,
  positiveDecimal,
  recordFields,
  text,
  time,
} from './primitives.ts';
import { IngestEventBody } from './events/event-bodies.ts';
import { searchSchemas } from './search.ts';
import { AGGREGATION_TYPES, BUCKET_SIZES, RESET_USAGES } from './words.ts';

export const MeterFilter = z
  .object({
    key: name(),
    /** Compared exactly with the event's value, including spaces. */
    values: z.array(text(1000).min(1, 'is required')).min(1, 'needs at least one value').max(1000),
  })
  .meta({ id: 'MeterFilter' });

/**
 * The name of a property. Analytics write `properties.x` for a property; a meter would never find that name.
 */
const propertyName = () =>
  optionalText().superRefine((name, context) => {
    const bare = /^properties\.(.+)$/s.exec(name ?? '')?.[1];
    if (bare !== undefined)
      context.addIssue({
        code: 'custom',
        message: `is the name of a property alone: write "${bare}", not "${name}"`,
      });
  });

const AggregationBody = z.object({
  type: z.enum(AGGREGATION_TYPES),
  field: propertyName(),
  expression: optionalText(1024),
  group_by: propertyName(),
  multiplier: positiveDecimal.nullish(),
  bucket_size: optionalOneOf(BUCKET_SIZES),
});

export const CreateMeterBody = z.object({
  name: name(),
  event_name: name(),
  aggregation: AggregationBody,
  filters: z.array(MeterFilter).max(100).nullish(),
  reset_usage: z.enum(RESET_USAGES),
});
export type CreateMeterBody = z.output<typeof CreateMeterBody>;

/**
 * Omitted fields stay unchanged. Filter values are added to the existing ones. A change to what the meter
 * counts creates its next version.
 */
export const UpdateMeterBody = z
  .object({
    name: name().optional(),
    event_name: name().optional(),
    aggregation: AggregationBody.optional(),
    filters: z.array(MeterFilter).min(1, 'needs at least one filter').max(100).optional(),
    reset_usage: optionalOneOf(RESET_USAGES),
    /**
     * The new version rates billing periods that begin at or after this instant; default: the next periods.
     */
    effective_from: time.nullish(),
  })
  .refine(
    ({ effective_from: _, ...changes }) => Object.values(changes).some((value) => value != null),
    { path: ['filters'], message: 'give at least one field to change' },
  );
export type UpdateMeterBody = z.output<typeof UpdateMeterBody>;

export const MeterAggregation = z
  .object({
    type: z.enum(AGGREGATION_TYPES),
    field: z.string().nullable(),
    expression: z.string().nullable(),
    group_by: z.string().nullable(),
    multiplier: z.string().nullable(),
    bucket_size: z.enum(BUCKET_SIZES).nullable(),
  })
  .meta({ id: 'MeterAggregation' });

export const Meter = z
  .object({
    ...recordFields,
    name: z.string(),
    event_name: z.string(),
    aggregation: MeterAggregation,
    filters: z.array(MeterFilter),
    reset_usage: z.enum(RESET_USAGES),
  })
  .meta({ id: 'Meter' });
export type Meter = z.infer<typeof Meter>;

export const MeterSearch = searchSchemas({
  fields: {
    id: 'text',
    name: 'text',
    event_name: 'text',
    reset_usage: 'text',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  filters: (kind) => ({ meter_ids: kind.list(id), event_name: kind.text() }),
});

/** One immutable version of a meter, and the progress of its backfill. */
export const MeterVersion = z
  .object({
    ...recordFields,
    meter_id: z.string(),
    version: z.int(),
    event_name: z.string(),
    aggregation: MeterAggregation,
    filters: z.array(MeterFilter),
    reset_usage: z.enum(RESET_USAGES),
    /** Properties kept with its usage: the meter's `group_by` and the filter keys of its prices. */
    dimensions: z.array(z.string()),
    /** Once complete, it rates billing periods that begin at or after this instant. */
    effective_from: instant,
    /** False: the version no longer counts incoming events. */
    is_active: z.boolean(),
    backfill: z.object({
      state: z.enum([
        'waiting', 'replaying', 'sealing', 'verifying', 'complete', 'mismatched', 'set_aside',
      ]), // prettier-ignore
      /** Number of events older than the version; null until counted. */
      events_total: z.int().nullable(),
      events_done: z.int(),
      /** Number of done events without a value; the event debugger shows each of them. */
      events_unmetered: z.int(),
      /** Number of those with properties that were erased with their customer. */
      events_erased: z.int(),
      started_at: instant.nullable(),
      finished_at: instant.nullable(),
    }),
    /** The recount of all events from scratch, compared with the sealed buckets; null until done. */
    verification: z
      .object({
        verified_at: instant,
        is_equal: z.boolean(),
        events: z.int(),
        buckets: z.int(),
        /** Customers left out because some of their events were erased. */
        customers_left_out: z.int(),
        mismatched_buckets: z.int(),
        /** The first few mismatches. */
        mismatches: z.array(z.string()),
      })
      .nullable(),
    /** Why the version cannot be evaluated, and since when it counts no events; null for other versions. */
    set_aside: z.object({ at: instant, reason: z.string() }).nullable(),
    /**
     * The range of each log partition in which incoming events are counted: offsets from (inclusive), until
     * (exclusive).
     */
    live: z.array(
      z.object({
        epoch: z.int(),
        partition: z.int(),
        live_from: z.string(),
        live_until: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'MeterVersion' });
export type MeterVersion = z.infer<typeof MeterVersion>;

export const BackfillMeterBody = z
  .object({
    /** Default: the newest version. */
    version_id: optionalId,
    /** Null means billing periods that begin after the version was created. Absent means unchanged. */
    effective_from: time.nullable().optional(),
  })
  .meta({ id: 'BackfillMeter' });
export type BackfillMeterBody = z.output<typeof BackfillMeterBody>;

export const TestMeterBody = z.object({ event: IngestEventBody }).meta({ id: 'TestMeter' });
export const TestMeterDefinitionBody = TestMeterBody.extend({ meter: CreateMeterBody }).meta({
  id: 'TestMeterDefinition',
});

const UNMETERED = [
  'value_missing', 'value_not_numeric', 'value_out_of_range', 'expression_failed',
] as const; // prettier-ignore

/** The result of a meter for an event, computed by the functions that count events. */
export const MeterTest = z
  .object({
    /** Whether the event name and every filter match. */
    matches: z.boolean(),
    event_name: z.object({ wanted: z.string(), found: z.string(), matches: z.boolean() }),
    filters: z.array(
      z.object({
        key: z.string(),
        wanted: z.array(z.string()),
        /** The compared text; null when the event has none. */
        found: z.string().nullable(),
        matches: z.boolean(),
      }),
    ),
    /** Whether the event counts; if it matches but does not count, `reason` says why. */
    is_metered: z.boolean(),
    reason: z.enum(['event_name_differs', 'filter_differs', ...UNMETERED]).nullable(),
    message: z.string().nullable(),
    value: z
      .object({
        /** Exact, as stored. */
        quantity: decimalText,
        source: z.enum(['event', 'field', 'expression']),
        field: z.string().nullable(),
        expression: z.string().nullable(),
        multiplier: decimalText.nullable(),
        /** The value times the multiplier, if the meter has one. */
        multiplied: decimalText,
        /** COUNT_UNIQUE: the text for counting distinct values, and its hash as stored. */
        unique_value: z.string().nullable(),
        unique_hash: z.string().nullable(),
      })
      .nullable(),
    /** The value of the meter's `group_by`; null without it. */
    group: z.string().nullable(),
    dimensions: z.record(z.string(), z.string()),
    /** The meter's window that contains the event, in UTC; null without a bucket size. */
    bucket: z
      .object({ bucket_size: z.enum(BUCKET_SIZES), window_start: instant, timezone: z.string() })
      .nullable(),
    timestamp: instant,
    customer_id: z.string().nullable(),
    /** Line items of the customer's subscriptions that would charge the event. */
    charges: z.array(
      z.object({
        subscription_id: z.string(),
        sub_line_item_id: z.string(),
        price_id: z.string(),
        display_name: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'MeterTestResult' });
export type MeterTest = z.infer<typeof MeterTest>;
