import { withArticle } from '../article.ts';
import { groupBy } from '../group-by.ts';
import { BillingError, invalidField, invalidOperation } from '../errors.ts';
import { decimal, Decimal, sum } from '../money.ts';
import { effectiveMonths, type BillingPeriod } from '../pricing/cadence.ts';
import type { PriceRecord } from '../pricing/price.ts';
import { byText } from '../text-order.ts';
import type { SubscriptionStatus } from '../states/subscription.ts';
import type { BillingCycle } from '../time/billing-grid.ts';
import { epochMs, type Instant } from '../time/instant.ts';

export interface ChangeableSubscription {
  readonly plan_id: string;
  readonly currency: string;
  readonly subscription_status: SubscriptionStatus;
  readonly subscription_type: string;
  readonly active_pause_id: string | null;
  readonly has_phases: boolean;
  readonly has_pending_cancellation: boolean;
  readonly has_pending_checkout: boolean;
}

/** Refuses a subscription that cannot change its plan in place (billing 14.2). */
export function assertPlanChangeable(
  subscription: ChangeableSubscription,
  targetPlanId: string,
): void {
  if (subscription.plan_id === targetPlanId) {
    throw invalidField('target_plan_id', 'is the plan that the subscription has');
  }
  const status = subscription.subscription_status;
  if (status !== 'active' && status !== 'trialing') {
    throw invalidOperation(
      `${withArticle(status)} subscription cannot change its plan.`,
      'subscription_status',
    );
  }
  if (subscription.subscription_type !== 'standalone') {
    throw invalidOperation(
      `A subscription of type ${subscription.subscription_type} cannot change its plan.`,
      'subscription_type',
    );
  }
  if (subscription.active_pause_id !== null) {
    throw invalidOperation('The subscription is paused or is about to be.', 'pause_status');
  }
  if (subscription.has_phases) {
    throw invalidOperation('A subscription with phases cannot change its plan.', 'phases');
  }
  if (subscription.has_pending_cancellation) {
    throw invalidOperation('A cancellation is scheduled; withdraw it first.', 'cancel_at');
  }
  if (subscription.has_pending_checkout) {
    const message = 'A checkout of the subscription is under way.';
    throw new BillingError('conflict', 'checkout_in_progress', message, [
      { path: 'target_plan_id', code: 'checkout_in_progress', message },
    ]);
  }
}

/**
 * Refuses a plan change that restarts the billing periods where they cannot restart: a trial and a calendar keep their
 * grid (billing 1.2, 1.6), and a period without a length cannot end. `at` is the effect.
 */
export function assertRestartable(
  subscription: {
    readonly subscription_status: SubscriptionStatus;
    readonly billing_cycle: BillingCycle;
    readonly current_period_start: Instant;
  },
  at: Instant,
): void {
  const path = 'billing_period_behaviour';
  if (subscription.subscription_status === 'trialing')
    throw invalidField(path, 'cannot be anchor_at_effect in a trial: its end begins the periods');
  if (subscription.billing_cycle === 'calendar')
    throw invalidField(
      path,
      'cannot be anchor_at_effect on the billing cycle calendar: its periods follow the calendar',
    );
  if (epochMs(at) <= epochMs(subscription.current_period_start))
    throw invalidField(
      path,
      `cannot be anchor_at_effect at or before the start of the period, ${subscription.current_period_start}; use keep`,
    );
}

/** A price with the fields that identify its service. */
export interface ServicePrice extends PriceRecord {
  readonly meter_id: string | null;
  /** Dimension → values. Null or empty means all usage of the meter. */
  readonly filter_values: Readonly<Record<string, readonly string[]>> | null;
  readonly lookup_key: string | null;
  readonly billing_period: BillingPeriod;
  readonly billing_period_count: number;
  readonly invoice_cadence: 'ARREAR' | 'ADVANCE';
}

export interface PlanLine {
  readonly id: string;
  readonly price: ServicePrice;
}

/** Action for a line or for a price of the target plan (billing 14.2, line pairing). */
export type LinePairing =
  | { readonly action: 'keep'; readonly line_id: string; readonly price_id: string }
  | { readonly action: 'replace'; readonly line_id: string; readonly price_id: string }
  | { readonly action: 'close'; readonly line_id: string }
  | { readonly action: 'open'; readonly price_id: string };

/**
 * Pairs the lines of the old plan with the prices of the new plan. Same service means: for usage the same
 * meter and filter, for a fixed fee the same lookup key. A pair with identical fixed pricing keeps its line,
 * which then references the new price. Any other pair closes the line and opens a new one. A line without a
 * pair is closed, a price without a pair is opened. Each line and price is paired once, in order.
 */
export function pairLines(
  lines: readonly PlanLine[],
  targetPrices: readonly ServicePrice[],
): LinePairing[] {
  const byService = groupBy(targetPrices, serviceText);
  const paired = new Set<ServicePrice>();
  const pairs = lines.map((line): LinePairing => {
    const service = serviceText(line.price);
    const price = service === null ? undefined : byService.get(service)?.shift();
    if (price === undefined) return { action: 'close', line_id: line.id };
    paired.add(price);
    const action = isIdenticalFixed(line.price, price) ? 'keep' : 'replace';
    return { action, line_id: line.id, price_id: price.id };
  });
  const open = targetPrices.filter((price) => !paired.has(price));
  return [...pairs, ...open.map((price): LinePairing => ({ action: 'open', price_id: price.id }))];
}

/** The same text for the same service; null for a price that has no pair. */
function serviceText({ type, lookup_key, meter_id, filter_values }: ServicePrice): string | null {
  if (type === 'FIXED') return lookup_key ? JSON.stringify([type, lookup_key]) : null;
  return meter_id === null ? null : JSON.stringify([type, meter_id, filterText(filter_values)]);
}

/** Whether both prices are fixed and equal in all terms that affect rating. */
function isIdenticalFixed(left: ServicePrice, right: ServicePrice): boolean {
  return left.type === 'FIXED' && ratingText(left) === ratingText(right);
}

const filterText = (filter: ServicePrice['filter_values']): string =>
  JSON.stringify(
    Object.entries(filter ?? {})
      .map(([key, values]) => [key, [...values].sort()] as const)
      .sort(([left], [right]) => byText(left, right)),
  );

const ratingText = (price: ServicePrice): string =>
  JSON.stringify([
    price.billing_model,
    price.currency,
    canonical(price.amount),
    price.tier_mode ?? null,
    price.tiers?.map((tier) => [
      canonical(tier.up_to),
      canonical(tier.unit_amount),
      canonical(tier.flat_amount ?? '0'),
    ]) ?? null,
    price.transform_quantity
      ? [price.transform_quantity.divide_by, price.transform_quantity.round ?? 'up']
      : null,
    price.billing_period,
    price.billing_period_count,
    price.invoice_cadence,
  ]);

const canonical = (value: string | number | null | undefined): string | null =>
  value === null || value === undefined ? null : new Decimal(String(value)).toFixed();

export type ChangeType = 'upgrade' | 'downgrade' | 'lateral';

/** A recurring fixed charge on one side of a change; amounts as decimal text. */
export interface RecurringCharge {
  readonly amount: string;
  readonly quantity: string;
  readonly billing_period: BillingPeriod;
  readonly billing_period_count: number;
}

/**
 * Whether a change raises, lowers or keeps the monthly fixed fees (billing 14.2). Informational
 * only.
 */
export function changeType(
  closing: readonly RecurringCharge[],
  opening: readonly RecurringCharge[],
): ChangeType {
  const difference = monthly(opening).comparedTo(monthly(closing));
  return difference > 0 ? 'upgrade' : difference < 0 ? 'downgrade' : 'lateral';
}

/** Fixed fees per month. Converts days and weeks with a month of 365.25 / 12 days; omits one-time charges. */
const monthly = (charges: readonly RecurringCharge[]): Decimal =>
  sum(
    charges
      .filter((charge) => charge.billing_period !== 'ONETIME')
      .map((charge) =>
        decimal(charge.amount).times(decimal(charge.quantity)).div(lengthInMonths(charge)),
      ),
  );

function lengthInMonths(charge: RecurringCharge): Decimal {
  const months = effectiveMonths(charge);
  if (months !== null) return new Decimal(months);
  const days = (charge.billing_period === 'WEEKLY' ? 7 : 1) * charge.billing_period_count;
  return new Decimal(days).times(12).div('365.25');
}
