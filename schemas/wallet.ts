import { z } from 'zod';
import { CheckoutSession } from './checkout.ts';
import { Customer } from './customer.ts';
import {
  currency,
  decimal,
  decimalText,
  emptyWhenUnset,
  instant,
  name,
  recordFields,
  text,
  textOrEmpty,
  time,
} from './primitives.ts';
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
    /** `INVOICE`, or null for every other cause: existing clients refuse a list with another value. */
    source_type: z.literal('INVOICE').nullable(),
    /** Id of the record that caused the transaction; `cause_type` says what it is (money 2.3.5). */
    source_id: z.string().nullable(),
    cause_type: z.enum(TRANSACTION_SOURCE_TYPES).nullable(),
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
  together: ['reference_type', 'reference_id'],
  filters: (kind) => ({
    /** Id of a transaction, or of its wallet as existing clients send it. */
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
