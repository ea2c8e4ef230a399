import { z } from 'zod';
import { id, name, optionalText, positiveDecimal, recordFields } from './primitives.ts';
import { searchSchemas } from './search.ts';
import { AGGREGATION_TYPES, BUCKET_SIZES, RESET_USAGES } from './words.ts';

export const MeterFilter = z
  .object({
    key: name(),
    values: z.array(name(1000)).min(1, 'needs at least one value').max(1000),
  })
  .meta({ id: 'MeterFilter' });

const AggregationBody = z.object({
  type: z.enum(AGGREGATION_TYPES),
  field: optionalText(),
  expression: optionalText(1024),
  group_by: optionalText(),
  multiplier: positiveDecimal.nullish(),
  bucket_size: z.enum(BUCKET_SIZES).nullish(),
});

export const CreateMeterBody = z.object({
  name: name(),
  event_name: name(),
  aggregation: AggregationBody,
  filters: z.array(MeterFilter).max(100).nullish(),
  reset_usage: z.enum(RESET_USAGES),
});
export type CreateMeterBody = z.output<typeof CreateMeterBody>;

/** Filters grow: the values are added to those there are. Everything else of a meter is immutable. */
export const UpdateMeterBody = z.object({
  filters: z.array(MeterFilter).min(1, 'needs at least one filter').max(100),
});

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
    name: 'text',
    event_name: 'text',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  filters: (kind) => ({ meter_ids: kind.list(id), event_name: kind.text() }),
});
