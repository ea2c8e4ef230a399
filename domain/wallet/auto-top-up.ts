import { Temporal } from 'temporal-polyfill';
import { roundToCurrency } from '../currency.ts';
import { invalidField } from '../errors.ts';
import { decimal, sum, type Decimal } from '../money.ts';
import { epochMs } from '../time/instant.ts';
import { assertMinimum, type TopUpConfig } from './top-up.ts';
import type { Wallet } from './wallet.ts';

/** A wallet's automatic top-up; credits as decimal text (money 3.3). */
export interface AutoTopUp {
  readonly enabled: boolean;
  /** True: an invoice is created, and its payment adds the credits. */
  readonly invoicing: boolean;
  readonly threshold: string;
  readonly amount: string;
  /** Milliseconds; null when unset. */
  readonly cooldown_ms: number | null;
  /** The invoice is charged to a saved method while the customer is absent. */
  readonly off_session: boolean;
}

/** Earlier top-ups of this wallet, as far as they affect the next one. */
export interface TopUpHistory {
  /** Credits of every pending purchase, automatic or not. */
  readonly pending: readonly { readonly credit_amount: string; readonly is_auto: boolean }[];
  /** An invoice of an earlier automatic top-up of this wallet is finalized and not paid. */
  readonly has_unpaid_auto_invoice: boolean;
  /** When the last automatic top-up was tried, successful or not; null means never. */
  readonly last_auto_top_up_at: string | null;
}

export type AutoTopUpDecision =
  | { readonly tops_up: true; readonly credits: Decimal; readonly invoicing: boolean }
  | { readonly tops_up: false; readonly because: AutoTopUpObstacle };

export type AutoTopUpObstacle =
  | 'disabled'
  | 'wallet_not_active'
  | 'above_threshold'
  | 'pending_auto_top_up'
  | 'unpaid_invoice'
  | 'pending_credits_suffice'
  | 'cooldown';

/** Minimum time between two direct top-ups when no cooldown is set (money 3.6). */
export const DIRECT_PAUSE_MS = 60 * 1000;
/**
 * Minimum time between two off-session collections when no cooldown is set (interface, wallet;
 * money 3.8).
 */
export const OFF_SESSION_COOLDOWN_MS = 60 * 60 * 1000;

/**
 * Decides whether one evaluation tops the wallet up, once (money 3.4 to 3.8). `realTimeCredits` is
 * the ongoing balance in credits; a balance equal to the threshold counts. The alert switch has no effect
 * (3.11).
 */
export function decideAutoTopUp(
  wallet: Pick<Wallet, 'wallet_status'>,
  config: AutoTopUp,
  realTimeCredits: Decimal,
  history: TopUpHistory,
  at: string,
): AutoTopUpDecision {
  const no = (because: AutoTopUpObstacle): AutoTopUpDecision => ({ tops_up: false, because });
  if (!config.enabled) return no('disabled');
  if (wallet.wallet_status !== 'active') return no('wallet_not_active');
  if (!isAtThreshold(config, realTimeCredits)) return no('above_threshold');
  if (history.pending.some((row) => row.is_auto)) return no('pending_auto_top_up');
  if (config.invoicing && history.has_unpaid_auto_invoice) return no('unpaid_invoice');
  const pending = sum(history.pending.map((row) => decimal(row.credit_amount)));
  if (pending.gt(0) && !isAtThreshold(config, realTimeCredits.plus(pending))) {
    return no('pending_credits_suffice');
  }
  if (isCooling(config, history.last_auto_top_up_at, at)) return no('cooldown');
  return { tops_up: true, credits: decimal(config.amount), invoicing: config.invoicing };
}

/** Whether the ongoing credits are so few that they are topped up. */
export const isAtThreshold = (
  { threshold }: Pick<AutoTopUp, 'threshold'>,
  credits: Decimal,
): boolean => credits.lte(decimal(threshold));

function isCooling(config: AutoTopUp, last: string | null, at: string): boolean {
  if (last === null) return false;
  const fallback = config.off_session
    ? OFF_SESSION_COOLDOWN_MS
    : config.invoicing
      ? 0
      : DIRECT_PAUSE_MS;
  return epochMs(at) - epochMs(last) < (config.cooldown_ms ?? fallback);
}

/** Whether an invoice can ask for the credits: they are worth at least one minor unit of the currency. */
export const canBeInvoiced = (
  { currency, topup_conversion_rate: rate }: Pick<Wallet, 'currency' | 'topup_conversion_rate'>,
  credits: Decimal,
): boolean => roundToCurrency(credits.times(decimal(rate)), currency).gt(0);

/** Refuses a configuration that could never top up (money 3.2, 2.11.2). */
export function validateAutoTopUp(
  wallet: Pick<Wallet, 'currency' | 'topup_conversion_rate'>,
  config: Pick<AutoTopUp, 'threshold' | 'amount' | 'invoicing'>,
  limits: TopUpConfig,
): void {
  const amount = decimal(config.amount);
  if (amount.lte(0)) throw invalidField('auto_topup.amount', 'must be above 0');
  if (config.invoicing && !canBeInvoiced(wallet, amount))
    throw invalidField(
      'auto_topup.amount',
      `must be worth at least one minor unit of ${wallet.currency}`,
    );
  if (decimal(config.threshold).lt(0)) {
    throw invalidField('auto_topup.threshold', 'must not be negative');
  }
  assertMinimum(amount.times(decimal(wallet.topup_conversion_rate)), wallet.currency, limits);
}

const UNIT_MS = { SECOND: 1_000, MINUTE: 60_000, HOUR: 3_600_000, DAY: 86_400_000 } as const;
export type CooldownUnit = keyof typeof UNIT_MS;
const COOLDOWN_MAX_MS = 366 * UNIT_MS.DAY;

/**
 * Parses a cooldown into milliseconds: ISO 8601 (`PT90M`, `P1D`), the short form (`1h30m`, `0s` for none), or
 * `{value, unit}` (money 3.1). At most 366 days. Refuses other input.
 */
export function cooldownMs(
  input: string | { readonly value: number; readonly unit: CooldownUnit },
): number {
  const ms =
    typeof input === 'string'
      ? (shortFormMs(input) ?? isoMs(input))
      : Number.isInteger(input.value) && Object.hasOwn(UNIT_MS, input.unit)
        ? input.value * UNIT_MS[input.unit]
        : null;
  if (ms === null || ms < 0 || ms > COOLDOWN_MAX_MS) {
    throw invalidField('auto_topup.cooldown', 'must be a duration such as "90m", "1h" or "P1D"');
  }
  return ms;
}

/** The form of a cooldown in answers: `1d2h3m4s` without zero parts, `0s` for none. */
export function cooldownText(ms: number): string {
  const parts = (['DAY', 'HOUR', 'MINUTE', 'SECOND'] as const).map((unit, index) => {
    const above = index === 0 ? Number.POSITIVE_INFINITY : UNIT_MS[UNITS_DOWN[index - 1]!];
    const count = Math.floor((ms % above) / UNIT_MS[unit]);
    return count === 0 ? '' : `${count}${unit[0]!.toLowerCase()}`;
  });
  return parts.join('') || '0s';
}
const UNITS_DOWN = ['DAY', 'HOUR', 'MINUTE', 'SECOND'] as const;

function shortFormMs(text: string): number | null {
  const match = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text.trim());
  if (match === null || match[0] === '') return null;
  return UNITS_DOWN.reduce(
    (ms, unit, index) => ms + Number(match[index + 1] ?? 0) * UNIT_MS[unit],
    0,
  );
}

function isoMs(text: string): number | null {
  try {
    const duration = Temporal.Duration.from(text);
    if (duration.years !== 0 || duration.months !== 0) return null;
    return duration.total({ unit: 'milliseconds', relativeTo: '2000-01-01' });
  } catch {
    return null;
  }
}
