import { z } from 'zod';
import { CheckoutParams, CheckoutSession } from './checkout.ts';
import { Customer } from './customer.ts';
import {
  currency,
  decimal,
  decimalText,
  emptyWhenUnset,
  instant,
  name,
  nonNegativeDecimal,
  optionalId,
  optionalMetadata,
  optionalOneOf,
  optionalText,
  positiveDecimal,
  recordFields,
  text,
  textOrEmpty,
  time,
} from './primitives.ts';
import { notOffered } from './not-offered.ts';
import { searchSchemas } from './search.ts';
import { User } from './tenancy.ts';
import {
  ALERT_CONDITIONS,
  ALERT_STATES,
  CREDIT_REASONS,
  DEBIT_REASONS,
  TRANSACTION_REFERENCE_TYPES,
  TRANSACTION_SOURCE_TYPES,
  TRANSACTION_STATUSES,
  WALLET_PRICE_TYPES,
  WALLET_STATUSES,
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
  condition: z.enum(ALERT_CONDITIONS).nullish(),
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
  /** "90m", "PT90M" or {value, unit}; "0s" for none. */
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
  name: name().nullish(),
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

const fixed = (what: string) =>
  z
    .unknown()
    .refine((value) => value == null, { message: `${what} of a wallet does not change` })
    .optional();
/** Absent fields stay unchanged. Metadata is replaced when sent. */
export const UpdateWalletBody = z.object({
  name: name().nullish(),
  description: optionalText(1_000),
  config: WalletConfigBody.nullish(),
  alert_settings: AlertSettingsBody.nullish(),
  auto_topup: AutoTopUpBody.nullish(),
  metadata: optionalMetadata,
  currency: fixed('the currency'),
  wallet_type: fixed('the type'),
  conversion_rate: fixed('the conversion rate'),
  topup_conversion_rate: fixed('the top-up rate'),
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

const AlertLevel = z.object({
  threshold: decimalText,
  condition: z.enum(ALERT_CONDITIONS),
  hysteresis: z.number(),
});
const WalletAlertSettings = z.object({
  alert_enabled: z.boolean(),
  alert_threshold_type: z.enum(WALLET_THRESHOLD_TYPES),
  critical: AlertLevel.nullable(),
  warning: AlertLevel.nullable(),
  info: AlertLevel.nullable(),
});
const WalletAutoTopUp = z.object({
  enabled: z.boolean(),
  invoicing: z.boolean(),
  threshold: z.number(),
  amount: z.number(),
  /** For example "2h"; null when unset. */
  cooldown: z.string().nullable(),
});

export const Wallet = z
  .object({
    ...recordFields,
    customer_id: z.string(),
    name: z.string(),
    description: textOrEmpty,
    currency: z.string(),
    wallet_type: z.enum(WALLET_TYPES),
    wallet_status: z.enum(WALLET_STATUSES),
    /** `credit_balance` × `conversion_rate`. */
    balance: decimalText,
    credit_balance: decimalText,
    conversion_rate: decimalText,
    topup_conversion_rate: decimalText,
    config: z.object({ allowed_price_types: z.array(z.enum(WALLET_PRICE_TYPES)) }),
    alert_settings: WalletAlertSettings.nullable(),
    alert_state: z.enum(ALERT_STATES),
    auto_topup: WalletAutoTopUp.nullable(),
    metadata: z.record(z.string(), z.string()),
    /** After usage and open invoices that are not settled yet. Null unless asked for. */
    real_time_balance: decimalText.nullable(),
    real_time_credit_balance: decimalText.nullable(),
    /** Null unless included by `expand`. */
    credits_available_breakdown: z.object({ free: decimalText, purchased: decimalText }).nullable(),
  })
  .meta({ id: 'Wallet' });
export type Wallet = z.infer<typeof Wallet>;

/** A wallet with its balance at this moment. */
export const WalletBalance = Wallet.extend({
  real_time_balance: decimalText,
  real_time_credit_balance: decimalText,
  balance_updated_at: instant,
  /** Usage of the running periods and the open invoices, both subtracted from the balance. */
  current_period_usage: decimalText,
  unpaid_invoices_amount: decimalText,
  is_cached_fallback: z.boolean(),
}).meta({ id: 'WalletBalance' });
export type WalletBalance = z.infer<typeof WalletBalance>;

export const WalletTransaction = z
  .object({
    ...recordFields,
    wallet_id: z.string(),
    customer_id: z.string(),
    type: z.enum(['credit', 'debit']),
    transaction_status: z.enum(TRANSACTION_STATUSES),
    transaction_reason: z.enum([...CREDIT_REASONS, ...DEBIT_REASONS]),
    /** Money: credits × the rate of the row. */
    amount: decimalText,
    credit_amount: decimalText,
    credit_balance_before: decimalText,
    credit_balance_after: decimalText,
    /** Credits left of a completed credit; 0 for any other row. */
    credits_available: decimalText,
    currency: z.string(),
    conversion_rate: decimalText.nullable(),
    topup_conversion_rate: decimalText.nullable(),
    expiry_date: instant.nullable(),
    priority: z.int().nullable(),
    reference_type: emptyWhenUnset(z.enum(TRANSACTION_REFERENCE_TYPES)),
    reference_id: textOrEmpty,
    source_type: z.enum(TRANSACTION_SOURCE_TYPES).nullable(),
    source_id: z.string().nullable(),
    parent_transaction_id: z.string().nullable(),
    idempotency_key: textOrEmpty,
    description: textOrEmpty,
    metadata: z.record(z.string(), z.string()),
    consumption_breakdown: z.array(
      z.object({ credit_transaction_id: z.string(), credits: decimalText }),
    ),
    /** Null unless included by `expand`. */
    wallet: Wallet.nullable(),
    customer: Customer.nullable(),
    created_by_user: User.nullable(),
  })
  .meta({ id: 'WalletTransaction' });
export type WalletTransaction = z.infer<typeof WalletTransaction>;

export const TopUpAnswer = z.object({
  wallet_transaction: WalletTransaction,
  wallet: Wallet,
  invoice_id: z.string().nullable(),
  checkout_session: CheckoutSession.nullable(),
});

export const ModifiedWallet = z.object({ original_wallet: Wallet, new_wallet: Wallet });

export const WALLET_EXPANDS = ['credits_available_breakdown'] as const;

export const WalletSearch = searchSchemas({
  fields: {
    id: 'text',
    name: 'text',
    customer_id: 'text',
    currency: 'text',
    wallet_type: 'text',
    wallet_status: 'text',
    balance: 'number',
    credit_balance: 'number',
    alert_state: 'text',
    created_at: 'time',
    updated_at: 'time',
    created_by: 'text',
    updated_by: 'text',
  },
  expand: WALLET_EXPANDS,
  statuses: WALLET_STATUSES,
  filters: (kind) => ({
    wallet_ids: kind.list(),
    customer_id: kind.text(),
    customer_ids: kind.list(),
    currency: kind.text(),
    wallet_type: kind.oneOf(WALLET_TYPES),
    wallet_status: kind.oneOf(WALLET_STATUSES),
    alert_enabled: kind.boolean(),
  }),
});

export const WalletTransactionSearch = searchSchemas({
  fields: {
    id: 'text',
    wallet_id: 'text',
    customer_id: 'text',
    type: 'text',
    transaction_status: 'text',
    transaction_reason: 'text',
    amount: 'number',
    credit_amount: 'number',
    credits_available: 'number',
    credit_balance_before: 'number',
    credit_balance_after: 'number',
    currency: 'text',
    priority: 'number',
    expiry_date: 'time',
    reference_type: 'text',
    reference_id: 'text',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
    created_by: 'text',
    updated_by: 'text',
  },
  expand: ['wallet', 'customer', 'created_by_user'],
  filters: (kind) => ({
    /** Id of the wallet (specification). */
    id: kind.text(),
    wallet_id: kind.text(),
    wallet_ids: kind.list(),
    customer_id: kind.text(),
    type: kind.oneOf(['credit', 'debit']),
    transaction_status: kind.oneOf(TRANSACTION_STATUSES),
    transaction_reason: kind.oneOf([...CREDIT_REASONS, ...DEBIT_REASONS]),
    priority: kind.integer(),
    reference_type: kind.oneOf(TRANSACTION_REFERENCE_TYPES),
    reference_id: kind.text(),
    created_by: kind.text(),
    credits_available_gt: kind.decimal(),
    expiry_date_after: kind.time(),
    expiry_date_before: kind.time(),
  }),
});
