import { z } from 'zod';
import { Customer } from './customer.ts';
import { Feature } from './feature.ts';
import { decimal, id, instant, nonNegativeDecimal, recordFields } from './primitives.ts';
import { searchSchemas } from './search.ts';
import { Wallet } from './wallet.ts';
import {
  ALERT_CONDITIONS,
  ALERT_ENTITY_TYPES,
  ALERT_STATES,
  ALERT_TYPES,
  SPEND_ALERT_ENTITY_TYPES,
} from './words.ts';

const LevelBody = z
  .object({
    threshold: decimal,
    condition: z.enum(ALERT_CONDITIONS),
    /** How far the spend must fall below the threshold before the level is left; 0 when absent. */
    hysteresis: nonNegativeDecimal.nullish(),
  })
  .transform((level) => ({ ...level, hysteresis: Number(level.hysteresis ?? '0') }));

/** Replaces the whole config: omitted levels are cleared. */
export const SpendAlertConfigBody = z
  .object({
    alert_enabled: z.boolean().nullish(),
    critical: LevelBody.nullish(),
    warning: LevelBody.nullish(),
    info: LevelBody.nullish(),
  })
  .transform((config) => ({
    alert_enabled: config.alert_enabled ?? false,
    critical: config.critical ?? null,
    warning: config.warning ?? null,
    info: config.info ?? null,
  }));

export const CreateAlertSettingBody = z
  .object({
    entity_type: z.enum(SPEND_ALERT_ENTITY_TYPES),
    entity_id: id,
    parent_entity_type: z.enum(ALERT_ENTITY_TYPES).or(z.literal('')).nullish(),
    parent_entity_id: id.or(z.literal('')).nullish(),
    config: SpendAlertConfigBody,
  })
  .superRefine((body, context) => {
    const complain = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (body.entity_type === 'subscription') {
      if (body.parent_entity_type) complain('parent_entity_type', 'a subscription has no parent');
      if (body.parent_entity_id) complain('parent_entity_id', 'a subscription has no parent');
      return;
    }
    if (body.parent_entity_type !== 'subscription')
      complain('parent_entity_type', 'must be "subscription"');
    if (!body.parent_entity_id) complain('parent_entity_id', 'names the owning subscription');
  });
export type CreateAlertSettingBody = z.output<typeof CreateAlertSettingBody>;

export const UpdateAlertSettingBody = z.object({ config: SpendAlertConfigBody });

const Level = z.object({
  threshold: z.string(),
  condition: z.enum(ALERT_CONDITIONS),
  hysteresis: z.number(),
});
export const SpendAlertConfig = z
  .object({
    alert_enabled: z.boolean(),
    critical: Level.nullable(),
    warning: Level.nullable(),
    info: Level.nullable(),
  })
  .meta({ id: 'SpendAlertConfig' });

export const AlertSetting = z
  .object({
    ...recordFields,
    entity_type: z.enum(SPEND_ALERT_ENTITY_TYPES),
    entity_id: z.string(),
    parent_entity_type: z.enum(ALERT_ENTITY_TYPES).nullable(),
    parent_entity_id: z.string().nullable(),
    /** `config.alert_enabled`. */
    enabled: z.boolean(),
    config: SpendAlertConfig,
    /** The state in the running billing period; `ok` before the first alert of the period. */
    alert_state: z.enum(ALERT_STATES),
  })
  .meta({ id: 'AlertSetting' });
export type AlertSetting = z.infer<typeof AlertSetting>;

export const AlertSettingSearch = searchSchemas({
  fields: {
    entity_type: 'text',
    entity_id: 'text',
    parent_entity_type: 'text',
    parent_entity_id: 'text',
    enabled: 'boolean',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  filters: (kind) => ({
    entity_type: kind.oneOf(ALERT_ENTITY_TYPES),
    entity_id: kind.text(),
    entity_ids: kind.list(),
    parent_entity_type: kind.oneOf(ALERT_ENTITY_TYPES),
    parent_entity_id: kind.text(),
    parent_entity_ids: kind.list(),
    enabled: kind.boolean(),
  }),
});

/** One change of state of one alert. */
export const AlertLog = z
  .object({
    ...recordFields,
    entity_type: z.enum(ALERT_ENTITY_TYPES),
    entity_id: z.string(),
    parent_entity_type: z.string().nullable(),
    parent_entity_id: z.string().nullable(),
    customer_id: z.string().nullable(),
    /** Start of the billing period or reset window of the value; null for balances. */
    period_start: instant.nullable(),
    alert_type: z.enum(ALERT_TYPES),
    alert_status: z.enum(ALERT_STATES),
    alert_info: z.object({
      alert_settings: z.record(z.string(), z.unknown()).nullable(),
      value_at_time: z.string(),
      timestamp: instant,
    }),
    /** Null unless included by `expand`. */
    customer: Customer.nullable(),
    feature: Feature.nullable(),
    wallet: Wallet.nullable(),
  })
  .meta({ id: 'AlertLog' });
export type AlertLog = z.infer<typeof AlertLog>;

export const AlertLogSearch = searchSchemas({
  fields: {
    entity_type: 'text',
    entity_id: 'text',
    parent_entity_id: 'text',
    customer_id: 'text',
    alert_type: 'text',
    alert_status: 'text',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: ['customer', 'feature', 'wallet'],
  filters: (kind) => ({
    entity_type: kind.oneOf(ALERT_ENTITY_TYPES),
    entity_id: kind.text(),
    customer_id: kind.text(),
    alert_type: kind.oneOf(ALERT_TYPES),
    alert_status: kind.oneOf(ALERT_STATES),
  }),
});
