import { z } from 'zod';
import {
  id,
  instant,
  name,
  optionalChoice,
  optionalName,
  optionalOneOf,
  recordFields,
  text,
  time,
} from './primitives.ts';
import { searchSchemas } from './search.ts';
import { bucket, COMPRESSIONS, ENCRYPTIONS } from './storage.ts';
import { EXPORT_ENTITY_TYPES, EXPORT_INTERVALS } from './words.ts';

const ExportMetadataField = z.object({
  entity_type: z.enum(['customer', 'wallet']),
  field_key: name(),
  column_name: text().nullish(),
});

/** Destination and format of an export; omitted fields are those of the connection (`sync_config.s3`). */
export const S3JobConfigBody = z
  .object({
    bucket: optionalChoice(bucket),
    region: optionalName(64),
    key_prefix: text(512).nullish(),
    compression: optionalOneOf(COMPRESSIONS),
    encryption: optionalOneOf(ENCRYPTIONS),
    endpoint_url: text(2048)
      .check(
        z.url({ protocol: /^https?$/, error: 'expected an address that begins with https://' }),
      )
      .or(z.literal(''))
      .nullish(),
    use_path_style: z.boolean().nullish(),
    export_metadata_fields: z.array(ExportMetadataField).max(100).nullish(),
  })
  .transform((config) => ({
    bucket: config.bucket ?? null,
    region: config.region ?? null,
    key_prefix: config.key_prefix ?? null,
    compression: config.compression ?? null,
    encryption: config.encryption ?? null,
    endpoint_url: config.endpoint_url || null,
    use_path_style: config.use_path_style ?? false,
    export_metadata_fields: (config.export_metadata_fields ?? []).map((field) => ({
      ...field,
      column_name: field.column_name || field.field_key,
    })),
  }));

export type S3JobConfigBody = z.output<typeof S3JobConfigBody>;

export const S3JobConfig = z
  .object({
    bucket: z.string(),
    region: z.string(),
    key_prefix: z.string(),
    compression: z.enum(COMPRESSIONS),
    encryption: z.enum(ENCRYPTIONS),
    endpoint_url: z.string().nullable(),
    use_path_style: z.boolean(),
    export_metadata_fields: z.array(
      z.object({ entity_type: z.string(), field_key: z.string(), column_name: z.string() }),
    ),
  })
  .meta({ id: 'S3JobConfig' });

/** Records whose metadata may be columns, by what is exported. */
const WITH_METADATA: Readonly<Record<(typeof EXPORT_ENTITY_TYPES)[number], readonly string[]>> = {
  events: [],
  usage_analytics: [],
  invoice: ['customer'],
  credit_topups: ['customer', 'wallet'],
  credit_usage: ['customer', 'wallet'],
};

export const CreateScheduledTaskBody = z
  .object({
    connection_id: id,
    entity_type: z.enum(EXPORT_ENTITY_TYPES),
    interval: z.enum(EXPORT_INTERVALS),
    enabled: z.boolean().nullish(),
    job_config: S3JobConfigBody,
  })
  .superRefine(({ entity_type, job_config }, context) => {
    // A config with a problem of its own has no defaults yet.
    const fields = job_config.export_metadata_fields ?? [];
    for (const [index, field] of fields.entries())
      if (!WITH_METADATA[entity_type].includes(field.entity_type))
        context.addIssue({
          code: 'custom',
          path: ['job_config', 'export_metadata_fields', index, 'entity_type'],
          message: `rows of ${entity_type} have no ${field.entity_type} metadata`,
        });
  });
export type CreateScheduledTaskBody = z.output<typeof CreateScheduledTaskBody>;

export const UpdateScheduledTaskBody = z.object({ enabled: z.boolean() });

/** Both times or neither; without them the last complete window. */
export const RunScheduledTaskBody = z
  .object({ start_time: time.nullish(), end_time: time.nullish() })
  .superRefine(({ start_time, end_time }, context) => {
    const complain = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (start_time && !end_time) complain('end_time', 'is required with start_time');
    if (end_time && !start_time) complain('start_time', 'is required with end_time');
    if (start_time && end_time && end_time <= start_time)
      complain('end_time', 'must be after start_time');
  });
export type RunScheduledTaskBody = z.output<typeof RunScheduledTaskBody>;

export const ScheduledTask = z
  .object({
    ...recordFields,
    connection_id: z.string(),
    entity_type: z.enum(EXPORT_ENTITY_TYPES),
    interval: z.enum(EXPORT_INTERVALS),
    enabled: z.boolean(),
    job_config: S3JobConfig,
  })
  .meta({ id: 'ScheduledTask' });
export type ScheduledTask = z.infer<typeof ScheduledTask>;

export const ScheduledTaskRun = z
  .object({
    /** Id of the run; `/workflows` shows its outcome. */
    workflow_id: z.string(),
    message: z.string(),
    mode: z.enum(['automatic', 'custom']),
    start_time: instant,
    end_time: instant,
  })
  .meta({ id: 'ScheduledTaskRun' });

export const ScheduledTaskSearch = searchSchemas({
  fields: {
    connection_id: 'text',
    entity_type: 'text',
    interval: 'text',
    enabled: 'boolean',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  filters: (kind) => ({
    connection_id: kind.text(),
    entity_type: kind.oneOf(EXPORT_ENTITY_TYPES),
    interval: kind.oneOf(EXPORT_INTERVALS),
    enabled: kind.boolean(),
  }),
});
