import { z } from 'zod';
import { CheckoutParams } from './checkout.ts';
import {
  currency,
  decimal,
  name,
  nonNegativeDecimal,
  optionalId,
  optionalMetadata,
  optionalName,
  optionalOneOf,
  optionalText,
  positiveDecimal,
  text,
  time,
} from './primitives.ts';
import {
  ALERT_CONDITIONS,
  WALLET_PRICE_TYPES,
  WALLET_THRESHOLD_TYPES,
  WALLET_TYPES,
} from './words.ts';

/** Which invoice rows a wallet may pay; an empty list means all (money 2.1.6). */
const WalletConfigBody = z.object({
  allowed_price_types: z.array(z.enum(WALLET_PRICE_TYPES)).max(3).nullish(),
});

/** The reserved prefix belongs to keys of our own commands (money 2.10.4). */
const idempotencyKey = text(255);

const AlertLevelBody = z.object({
  threshold: decimal,
  condition: optionalOneOf(ALERT_CONDITIONS),
  /** How far the balance must rise above the threshold before the level is left; 0 when absent. */
  hysteresis: nonNegativeDecimal.nullish(),
});

type AlertLevelBody = z.output<typeof AlertLevelBody>;

const levelOf = (level: AlertLevelBody | null | undefined) =>
  level == null
    ? null
    : {
        threshold: level.threshold,
        condition: level.condition ?? ('below' as const),
        hysteresis: level.hysteresis ?? '0',
      };

/** Replaces the settings as a whole: omitted levels are cleared. Thresholds are credits, or percent. */
const AlertSettingsBody = z
  .object({
    alert_enabled: z.boolean().nullish(),
    alert_threshold_type: optionalOneOf(WALLET_THRESHOLD_TYPES),
    critical: AlertLevelBody.nullish(),
    warning: AlertLevelBody.nullish(),
    info: AlertLevelBody.nullish(),
  })
  .transform((settings) => ({
    alert_enabled: settings.alert_enabled ?? false,
    alert_threshold_type: settings.alert_threshold_type ?? ('absolute' as const),
    critical: levelOf(settings.critical),
    warning: levelOf(settings.warning),
    info: levelOf(settings.info),
  }));

/** Merged field by field. Threshold and amount are credits. */
export const AutoTopUpBody = z.object({
  enabled: z.boolean().nullish(),
  /** True: the credits wait for the payment of an invoice. */
  invoicing: z.boolean().nullish(),
  threshold: nonNegativeDecimal.nullish(),
  amount: positiveDecimal.nullish(),
  /** "90m", "PT90M" or {value, unit}; "0s" for none, null or "" for the default. */
  cooldown: z
    .union([
      text(64),
      z.object({
        value: z.int(),
        unit: text(16).transform((unit) => unit.toUpperCase()),
      }),
    ])
    .nullish(),
});

export type AutoTopUpBody = z.output<typeof AutoTopUpBody>;

export const CreateWalletBody = z.object({
  customer_id: optionalId,
  external_customer_id: optionalId,
  currency: currency.or(z.literal('')).nullish(),
  wallet_type: optionalOneOf(WALLET_TYPES),
  name: optionalName(),
  description: optionalText(1_000),
  conversion_rate: positiveDecimal.nullish(),
  topup_conversion_rate: positiveDecimal.nullish(),
  /** Code of a pricing unit; its currency and rate become those of the wallet. */
  price_unit: optionalText(64),
  initial_credits_to_load: nonNegativeDecimal.nullish(),
  /** YYYYMMDD; the time below takes precedence. */
  initial_credits_to_load_expiry_date: z.int().nullish(),
  initial_credits_expiry_date_utc: time.nullish(),
  config: WalletConfigBody.nullish(),
  alert_settings: AlertSettingsBody.nullish(),
  auto_topup: AutoTopUpBody.nullish(),
  metadata: optionalMetadata,
});

export type CreateWalletBody = z.output<typeof CreateWalletBody>;

/**
 * Absent fields stay unchanged. Metadata is replaced when sent. Currency, type and rates never change: only their
 * current values are accepted.
 */
export const UpdateWalletBody = z.object({
  name: optionalName(),
  description: optionalText(1_000),
  config: WalletConfigBody.nullish(),
  alert_settings: AlertSettingsBody.nullish(),
  auto_topup: AutoTopUpBody.nullish(),
  metadata: optionalMetadata,
  currency: currency.nullish(),
  wallet_type: optionalOneOf(WALLET_TYPES),
  conversion_rate: positiveDecimal.nullish(),
  topup_conversion_rate: positiveDecimal.nullish(),
});

export type UpdateWalletBody = z.output<typeof UpdateWalletBody>;

/** What a client may top up with; system commands have further reasons (money 2.11). */
const TOP_UP_REASONS = [
  'FREE_CREDIT_GRANT', 'PURCHASED_CREDIT_DIRECT', 'PURCHASED_CREDIT_INVOICED',
  'SUBSCRIPTION_CREDIT_GRANT',
] as const; // prettier-ignore

export const TopUpBody = z.object({
  /** Takes precedence over `amount`, which is money. */
  credits_to_add: positiveDecimal.nullish(),
  amount: positiveDecimal.nullish(),
  transaction_reason: z.enum(TOP_UP_REASONS),
  /** Free credits in addition to purchased ones; without it the tenant's setting decides. */
  bonus_credits_to_add: positiveDecimal.nullish(),
  bonus_credits_expiry_date_utc: time.nullish(),
  expiry_date_utc: time.nullish(),
  priority: z.int32().min(0).nullish(),
  idempotency_key: idempotencyKey.nullish(),
  description: optionalText(1_000),
  metadata: optionalMetadata,
  /** With `PURCHASED_CREDIT_INVOICED`: the credits wait for the checkout session. */
  checkout: CheckoutParams.nullish(),
  /** Accepted as older clients send it: the invoice is always written with the top-up. */
  force_sync_invoice: z.boolean().nullish(),
});

export type TopUpBody = z.output<typeof TopUpBody>;

export const DebitWalletBody = z.object({
  credits: positiveDecimal,
  transaction_reason: z.literal('MANUAL_BALANCE_DEBIT'),
  idempotency_key: idempotencyKey.min(1),
  description: optionalText(1_000),
  metadata: optionalMetadata,
});

export type DebitWalletBody = z.output<typeof DebitWalletBody>;

export const ModifyWalletBody = z.object({ modification_type: z.literal('prepaid_to_postpaid') });
