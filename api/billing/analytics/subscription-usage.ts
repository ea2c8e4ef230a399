import { setImmediate as nextTurn } from 'node:timers/promises';
import { NO_COMMITMENT } from '../../../domain/pricing/commitment.ts';
import { displayAmount, roundToCurrency } from '../../../domain/currency.ts';
import { invalidField } from '../../../domain/errors.ts';
import type { UsageRow } from '../../../domain/metering/usage.ts';
import { Decimal, decimal, sum, ZERO } from '../../../domain/money.ts';
import { rateUsageLine } from '../../../domain/pricing/rate-usage-line.ts';
import { commitmentReach } from '../../../domain/pricing/validate-commitment.ts';
import { byText } from '../../../domain/text-order.ts';
import type { Period } from '../../../domain/time/instant.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type {
  SubscriptionUsage,
  SubscriptionUsageBody,
  SubscriptionUsageCharge,
} from '../../../schemas/subscription-usage.ts';
import type { ApiDeps } from '../../deps.ts';
import { priceAnswers } from '../../catalog/prices/repository.ts';
import { endOf, positionInTerm } from '../computing/term-ledger.ts';
import { subscriptionLedger } from '../computing/subscription-commitments.ts';
import { pausedTimes } from '../records/pause-repository.ts';
import { committedUsage } from '../records/subscription-invoice-repository.ts';
import { getSubscription } from '../records/subscription-repository.ts';
import { ratingAsks } from './analytics-figures.ts';
import { usageLines, type AnalyticsSubject } from './analytics-subjects.ts';
import { askUsage } from '../../usage/quantities/ask-usage.ts';
import { refuseLongRange } from '../../conventions/usage-range.ts';

/**
 * Usage and charges of a subscription: the quantities of its invoices, before allowances, line commitments
 * and coupons (as the reference answers). A commitment of the subscription divides the
 * charges into those within it and those beyond. Each amount is rounded separately; the total rounds the
 * unrounded sum.
 */
export async function subscriptionUsage(
  deps: ApiDeps,
  scope: Scope,
  body: SubscriptionUsageBody,
): Promise<SubscriptionUsage> {
  const subscription = await getSubscription(deps.pool, scope, body.subscription_id);
  const { start, end } = rangeOf(subscription, body, isoTime(deps.clock.now()));
  const subjects = await usageLines(deps, scope, [subscription], { start, end }, null);
  const rows = await askUsage(deps, subjects.flatMap(ratingAsks));
  const measured: Measured[] = [];
  for (const subject of subjects) {
    measured.push(measure(subject, rows));
    // Ten years of days are 3,653 charges of each line: other requests get a turn.
    await nextTurn();
  }
  measured.sort((left, right) => byText(left.meter_display_name, right.meter_display_name));
  const commitment = decimal(subscription.commitment_amount ?? '0');
  const factor = decimal(subscription.overage_factor);
  const used = await usedInTerm(deps.pool, subscription, start);
  const { charges, utilized, overage } = divide(measured, commitment, used, factor);

  const prices = await priceAnswers(
    deps.pool,
    scope,
    subjects.map(({ line }) => line!.price),
    {},
  );
  const priceOf = new Map(prices.map((price) => [price.id, price]));
  const { currency } = subscription;
  const shown = (amount: Decimal) => roundToCurrency(amount, currency);
  const amount = shown(sum(charges.map((charge) => charge.amount)));
  return {
    amount: amount.toNumber(),
    currency,
    display_amount: displayAmount(amount, currency),
    start_time: start,
    end_time: end,
    charges: charges.map(({ subject, meter_display_name, ...charge }): SubscriptionUsageCharge => {
      const line = subject.line!;
      return {
        subscription_line_item_id: line.id,
        meter_id: line.meter_id!,
        meter_display_name,
        quantity: charge.quantity.toNumber(),
        amount: shown(charge.amount).toNumber(),
        currency: line.currency,
        display_amount: displayAmount(shown(charge.amount), line.currency),
        filter_values: line.price.filter_values ?? {},
        is_overage: charge.is_overage,
        overage_factor: charge.is_overage ? factor.toNumber() : null,
        price: priceOf.get(line.price_id)!,
      };
    }),
    commitment_amount: commitment.toNumber(),
    commitment_utilized: shown(utilized).toNumber(),
    overage_amount: shown(overage).toNumber(),
    overage_factor: factor.toNumber(),
    has_overage: overage.gt(0),
  };
}

/** 400 `usage_query_too_large` for more than ten years, unless it is the running period (tenancy S13). */
function rangeOf(subscription: SubscriptionRow, body: SubscriptionUsageBody, now: string): Period {
  const isLifetime = body.lifetime_usage === true;
  const { start_date, current_period_start, current_period_end } = subscription;
  const start = body.start_time ?? (isLifetime ? start_date : current_period_start);
  const end = body.end_time ?? (isLifetime && now > start ? now : current_period_end);
  if (end <= start) throw invalidField('end_time', 'must be after start_time');
  refuseLongRange(subscription, { start, end });
  return { start, end };
}

interface Measured {
  readonly subject: AnalyticsSubject;
  readonly meter_display_name: string;
  readonly quantity: Decimal;
  readonly amount: Decimal;
}

/** The line's usage and its price per charge cell, as an invoice rates it before any deduction. */
function measure(
  subject: AnalyticsSubject,
  rows: ReadonlyMap<string, readonly UsageRow[]>,
): Measured {
  const line = subject.line!;
  const questions = subject.charges.flatMap((charge) => charge.questions);
  const rated = questions.flatMap(({ query, cell }) =>
    rateUsageLine({
      line: NO_COMMITMENT,
      price: line.terms,
      aggregation: query.aggregation,
      bucket_size: query.window?.bucket_size ?? null,
      timezone: subject.timezone,
      rows: rows.get(query.key)!,
      cell,
      proration_behavior: 'none',
      allowance: null,
    }),
  );
  return {
    subject,
    meter_display_name: line.meter_display_name ?? subject.meter.name,
    quantity: sum(
      questions.flatMap(({ query }) => rows.get(query.key)!.map((row) => decimal(row.quantity))),
    ),
    amount: sum(rated.map((row) => row.unrounded)),
  };
}

/** Usage of earlier periods of the running term, which a commitment for a longer term covered (billing 6.4). */
async function usedInTerm(db: Db, subscription: SubscriptionRow, start: string): Promise<Decimal> {
  if (subscription.commitment_amount === null || subscription.commitment_duration === null)
    return ZERO;
  if (
    commitmentReach(
      { windowed: false, duration: subscription.commitment_duration },
      subscription,
    ) !== 'term'
  )
    return ZERO;
  const stored = await committedUsage(db, subscription, [subscription.id]);
  return positionInTerm(subscription, {
    duration: subscription.commitment_duration,
    commitment: decimal(subscription.commitment_amount),
    pauses: (await pausedTimes(db, subscription, [subscription.id])).get(subscription.id) ?? [],
    ends_at: endOf(subscription),
    closes_at: null,
    ledger: subscriptionLedger(stored),
    period: { start, end: start },
    proration_behavior: 'none',
  }).priorUsage;
}

/**
 * Charges consume the commitment in order; the charge that crosses it is split in two (billing 6).
 */
function divide(
  measured: readonly Measured[],
  commitment: Decimal,
  used: Decimal,
  factor: Decimal,
) {
  const charges: (Measured & { readonly is_overage: boolean })[] = [];
  const available = Decimal.max(commitment.minus(used), ZERO);
  let left = available;
  let overage = ZERO;
  for (const charge of measured) {
    if (commitment.isZero() || charge.amount.lte(left)) {
      left = Decimal.max(left.minus(charge.amount), ZERO);
      charges.push({ ...charge, is_overage: false });
      continue;
    }
    const within = charge.quantity.times(left).div(charge.amount).toDecimalPlaces(15);
    if (left.gt(0)) charges.push({ ...charge, quantity: within, amount: left, is_overage: false });
    const beyond = charge.amount.minus(left).times(factor);
    overage = overage.plus(beyond);
    charges.push({
      ...charge,
      quantity: charge.quantity.minus(within),
      amount: beyond,
      is_overage: true,
    });
    left = ZERO;
  }
  return { charges, utilized: available.minus(left), overage };
}
