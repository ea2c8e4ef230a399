import { z } from 'zod';
import { Group } from './group.ts';
import { CreateMeterBody, Meter, MeterFilter } from './meter.ts';
import {
  decimal,
  name,
  optionalId,
  optionalLookupKey,
  optionalMetadata,
  optionalName,
  optionalText,
  positiveDecimal,
  recordFields,
  textOrEmpty,
} from './primitives.ts';
import { searchSchemas } from './search.ts';
import { ALERT_CONDITIONS, FEATURE_TYPES } from './words.ts';

const ReportingUnitBody = z.object({
  conversion_rate: positiveDecimal,
  unit_singular: name(50),
  unit_plural: name(50),
});

const AlertLevelBody = z.object({ threshold: decimal, condition: z.enum(ALERT_CONDITIONS) });
const AlertSettingsBody = z.object({
  alert_enabled: z.boolean().nullish(),
  critical: AlertLevelBody.nullish(),
  warning: AlertLevelBody.nullish(),
  info: AlertLevelBody.nullish(),
});
export type AlertSettingsBody = z.output<typeof AlertSettingsBody>;

const writable = {
  description: optionalText(5000),
  group_id: optionalId,
  unit_singular: optionalName(50),
  unit_plural: optionalName(50),
  reporting_unit: ReportingUnitBody.nullish(),
  alert_settings: AlertSettingsBody.nullish(),
  metadata: optionalMetadata,
};

export const CreateFeatureBody = z.object({
  ...writable,
  name: name(),
  type: z.enum(FEATURE_TYPES),
  lookup_key: optionalLookupKey,
  meter_id: optionalId,
  /** A meter created together with the feature; used instead of `meter_id`. */
  meter: CreateMeterBody.nullish(),
});
export type CreateFeatureBody = z.output<typeof CreateFeatureBody>;

export const UpdateFeatureBody = z.object({
  ...writable,
  name: name().optional(),
  /** Added to the filters of the feature's meter. */
  filters: z.array(MeterFilter).min(1, 'needs at least one filter').max(100).nullish(),
});
export type UpdateFeatureBody = z.output<typeof UpdateFeatureBody>;

export const CloneFeatureBody = z.object({
  name: name(),
  lookup_key: name(),
  description: optionalText(5000),
  metadata: optionalMetadata,
});
export type CloneFeatureBody = z.output<typeof CloneFeatureBody>;

const AlertLevel = z.object({ threshold: z.number(), condition: z.enum(ALERT_CONDITIONS) });
export const AlertSettings = z
  .object({
    alert_enabled: z.boolean(),
    critical: AlertLevel.nullable(),
    warning: AlertLevel.nullable(),
    info: AlertLevel.nullable(),
  })
  .meta({ id: 'FeatureAlertSettings' });
export type AlertSettings = z.infer<typeof AlertSettings>;

export const Feature = z
  .object({
    ...recordFields,
    name: z.string(),
    lookup_key: z.string(),
    description: textOrEmpty,
    type: z.enum(FEATURE_TYPES),
    meter_id: textOrEmpty,
    /** Null unless the route embeds it. */
    meter: Meter.nullable(),
    group_id: z.string().nullable(),
    group: Group.nullable(),
    unit_singular: textOrEmpty,
    unit_plural: textOrEmpty,
    reporting_unit: z
      .object({
        conversion_rate: z.number(),
        unit_singular: z.string(),
        unit_plural: z.string(),
      })
      .nullable(),
    alert_settings: AlertSettings.nullable(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Feature' });
export type Feature = z.infer<typeof Feature>;

export const FeatureSearch = searchSchemas({
  fields: {
    id: 'text',
    name: 'text',
    lookup_key: 'text',
    description: 'text',
    type: 'text',
    meter_id: 'text',
    group_id: 'text',
    unit_singular: 'text',
    unit_plural: 'text',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: ['meters', 'groups'],
  filters: (kind) => ({
    feature_ids: kind.list(),
    meter_ids: kind.list(),
    lookup_key: kind.text(),
    lookup_keys: kind.list(),
    name_contains: kind.text(),
    type: kind.oneOf(FEATURE_TYPES),
  }),
});
