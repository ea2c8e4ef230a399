import { Temporal } from 'temporal-polyfill';
import { BillingError, invalidField } from '../errors.ts';
import { decimal, decimalText, roundToStorage, type Decimal } from '../money.ts';
import { epochMs, isoText } from '../time/instant.ts';
import { moveWallet } from '../states/wallet.ts';
import { assertClientKey } from './transaction-key.ts';
import type { CreditReason } from './transaction.ts';
import type { Wallet } from './wallet.ts';

/** Top-up reasons that a client may send (money 2.11). */
export const TOP_UP_REASONS = [
  'FREE_CREDIT_GRANT', 'PURCHASED_CREDIT_DIRECT', 'PURCHASED_CREDIT_INVOICED',
  'SUBSCRIPTION_CREDIT_GRANT',
] as const satisfies readonly CreditReason[]; // prettier-ignore
export type TopUpReason = (typeof TOP_UP_REASONS)[number];

export interface TopUpRequest {
  /** Takes precedence over `amount` when both are sent (money 2.2.7). */
  readonly credits_to_add: Decimal | null;
  /** Money; converted to credits at the top-up rate. */
  readonly amount: Decimal | null;
  readonly transaction_reason: TopUpReason;
  readonly bonus_credits_to_add: Decimal | null;
  /** When the bonus expires, also that of a slab; null or absent: as the slab says. */
  readonly bonus_expiry_date?: string | null;
  readonly priority: number | null;
  /** Instant, exclusive. */
  readonly expiry_date: string | null;
  readonly has_checkout: boolean;
  readonly idempotency_key: string | null;
}

/** Tenant setting `wallet_topup_config`; decimals as text. */
export interface TopUpConfig {
  /** Credits; `0` means no limit. */
  readonly free_credit_limit_per_transaction: string;
  /** Money by currency code in lower case; an absent currency has no minimum. */
  readonly min_topup_amount_per_currency: Readonly<Record<string, string>>;
}

/** What is purchased or granted: `credits` in wallet credits, `amount` in money. */
export interface TopUp {
  readonly credits: Decimal;
  readonly amount: Decimal;
}

/**
 * Checks a top-up and converts it to credits and money (money 2.2.6, 2.11.1 to 2.11.3). The credits
 * for an amount can be inexact; the money stays the requested amount.
 */
export function checkTopUp(
  wallet: Wallet,
  request: TopUpRequest,
  config: TopUpConfig,
  at: string,
): TopUp {
  moveWallet(wallet.wallet_status, 'credit');
  const topUp = creditsAndAmount(wallet, request);
  if (request.expiry_date !== null && epochMs(request.expiry_date) <= epochMs(at)) {
    throw invalidField('expiry_date_utc', 'must be in the future');
  }
  const { bonus_expiry_date } = request;
  if (bonus_expiry_date && epochMs(bonus_expiry_date) <= epochMs(at))
    throw invalidField('bonus_credits_expiry_date_utc', 'must be in the future');
  if (request.priority !== null && !(Number.isInteger(request.priority) && request.priority >= 0)) {
    throw invalidField('priority', 'must be a whole number, 0 or more');
  }
  if (request.bonus_credits_to_add?.lte(0)) {
    throw invalidField('bonus_credits_to_add', 'must be above 0; leave it out for no bonus');
  }
  if (request.has_checkout && request.transaction_reason !== 'PURCHASED_CREDIT_INVOICED') {
    throw invalidField('checkout', 'is for the reason PURCHASED_CREDIT_INVOICED');
  }
  if (request.idempotency_key !== null) assertClientKey(request.idempotency_key);
  if (isPurchase(request.transaction_reason)) {
    assertMinimum(topUp.amount, wallet.currency, config);
  } else if (request.bonus_credits_to_add !== null) {
    throw invalidField('bonus_credits_to_add', 'is for purchased credits');
  } else if (bonus_expiry_date) {
    throw invalidField('bonus_credits_expiry_date_utc', 'is for purchased credits');
  }
  if (request.transaction_reason === 'FREE_CREDIT_GRANT') {
    assertFreeLimit(topUp.credits, config, 'credits_to_add');
  }
  return topUp;
}

/** Refuses a purchase below the currency's minimum (interface, limits; money 2.11.2). */
export function assertMinimum(amount: Decimal, currency: string, config: TopUpConfig): void {
  const minimum = config.min_topup_amount_per_currency[currency.toLowerCase()];
  if (minimum !== undefined && amount.lt(decimal(minimum))) {
    throw invalidField('amount', `must be at least ${decimalText(decimal(minimum))} ${currency}`);
  }
}

/** Refuses more free credits than one transaction may give (interface, limits; money 2.11.3). */
export function assertFreeLimit(credits: Decimal, config: TopUpConfig, path: string): void {
  const limit = decimal(config.free_credit_limit_per_transaction);
  if (limit.gt(0) && credits.gt(limit)) {
    throw invalidField(path, `must be at most ${decimalText(limit)} free credits`);
  }
}

/**
 * The initial status of a purchase's rows (money 2.11.4). An invoiced purchase waits for its
 * invoice unless the tenant completes such purchases immediately. With a checkout, or for an end
 * customer, it always waits.
 */
export function purchaseTrigger(
  reason: TopUpReason,
  options: {
    readonly auto_complete: boolean;
    readonly has_checkout: boolean;
    readonly by_end_customer: boolean;
  },
): 'record' | 'request' {
  if (options.by_end_customer && isPurchase(reason)) return 'request';
  if (reason !== 'PURCHASED_CREDIT_INVOICED') return 'record';
  return options.auto_complete && !options.has_checkout ? 'record' : 'request';
}

/**
 * Converts an expiry from the integer YYYYMMDD: midnight UTC of that date, exclusive (money 2.1.9).
 */
export function expiryFromDateNumber(date: number, path = 'expiry_date'): string {
  const digits = /^(\d{4})(\d{2})(\d{2})$/.exec(String(date));
  try {
    const [, year, month, day] = digits!.map(Number);
    const plain = Temporal.PlainDate.from({ year: year!, month: month!, day: day! }, REJECT);
    return isoText(plain.toZonedDateTime('UTC').epochMilliseconds);
  } catch {
    throw invalidField(path, 'must be a date written as YYYYMMDD');
  }
}
const REJECT = { overflow: 'reject' } as const;

export const isPurchase = (reason: CreditReason): boolean =>
  reason === 'PURCHASED_CREDIT_DIRECT' || reason === 'PURCHASED_CREDIT_INVOICED';

/** The credits and the money of a request; credits count if both are given (money 2.2.6, 2.2.7). */
export function creditsAndAmount(
  wallet: Pick<Wallet, 'topup_conversion_rate'>,
  request: Pick<TopUpRequest, 'credits_to_add' | 'amount'>,
): TopUp {
  const rate = decimal(wallet.topup_conversion_rate);
  if (request.credits_to_add !== null) {
    const credits = request.credits_to_add;
    if (credits.lte(0)) throw invalidField('credits_to_add', 'must be above 0');
    return { credits, amount: roundToStorage(credits.times(rate)) };
  }
  if (request.amount === null) {
    throw invalidField('credits_to_add', 'is required, or an amount of money');
  }
  const credits = roundToStorage(request.amount.div(rate));
  if (credits.lte(0)) throw invalidField('amount', 'must be above 0');
  return { credits, amount: request.amount };
}

/** Refuses rates that are not above zero (money 2.1.3). */
export function assertRate(rate: Decimal, path: string): void {
  if (rate.gt(0)) return;
  throw new BillingError('invalid', 'validation_error', `${path}: must be above 0`, [
    { path, code: 'invalid_value', message: 'must be above 0' },
  ]);
}
