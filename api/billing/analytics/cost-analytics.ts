import { BillingError, invalidField } from '../../../domain/errors.ts';
import { versionForPeriod, versionToShow } from '../../../domain/metering/version-for-period.ts';
import { Decimal, ZERO } from '../../../domain/money.ts';
import { priceTerms } from '../../../domain/pricing/price.ts';
import { intersection, type Period } from '../../../domain/time/instant.ts';
import type { Scope } from '../../../postgres/client.ts';
import { meterVersionsOf } from '../../../postgres/tables/meter-versions.ts';
import type {
  CostAnalytics,
  CostAnalyticsBody,
  CostAnalyticsItem,
} from '../../../schemas/cost-analytics.ts';
import { getActiveCostsheet } from '../../catalog/costs/repository.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import type { ApiDeps } from '../../deps.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { findMeters } from '../../catalog/meters/repository.ts';
import {
  findPricesOfEntities,
  priceAnswers,
  type PriceRow,
} from '../../catalog/prices/repository.ts';
import { asksOf, figuresOf, type AnalyticsQuestion } from './analytics-figures.ts';
import { usageLines, type AnalyticsSubject } from './analytics-subjects.ts';
import { askUsage } from '../../usage/quantities/ask-usage.ts';
import { figureText, netCost } from './cost-shares.ts';
import { findKnownCustomer } from '../../usage/quantities/known-customer.ts';
import { rangeOf } from '../../conventions/usage-range.ts';
import { rateSubjects } from './rate-subjects.ts';
import { subscriptionsInRange, subscriptionsOfScope } from '../../usage/quantities/repository.ts';
import { meterIdsOf } from './usage-analytics.ts';

interface PricedSubject {
  readonly price: PriceRow;
  readonly subject: AnalyticsSubject;
}

/**
 * Cost of usage by the prices of the active costsheet, over the part of the range in which each price is in
 * force, and the revenue of the same usage after discounts, as in usage analytics (money 13.2).
 * Currencies are never added up: only revenue in the costsheet's currency counts.
 */
export async function costAnalytics(
  deps: ApiDeps,
  scope: Scope,
  body: CostAnalyticsBody,
): Promise<CostAnalytics> {
  if (!body.start_time !== !body.end_time)
    throw invalidField(
      body.start_time ? 'end_time' : 'start_time',
      'is required: send both times, or neither for the default range',
    );
  const range = rangeOf(deps.clock, body);
  const externalId = body.external_customer_id || null;
  const customer = await findKnownCustomer(deps.pool, scope, externalId);
  const meterIds = await meterIdsOf(deps, scope, body);
  const asked: AnalyticsQuestion = {
    scope,
    external_customer_ids: externalId === null ? null : [externalId],
    filter_values: body.property_filters ?? {},
    group_by: [],
    window_size: null,
    timezone: null,
  };
  const priced = await pricedMeters(deps, scope, range, meterIds, customer?.timezone ?? 'UTC');
  const subscriptions =
    externalId === null
      ? await subscriptionsOfScope(deps.pool, scope, range.start, range.end)
      : customer === null
        ? []
        : await subscriptionsInRange(deps.pool, scope, customer.id, range.start, range.end);
  const sold = await usageLines(deps, scope, subscriptions, range, meterIds);
  const externalOf = await externalIds(deps, scope, sold);
  const ofLine = (subject: AnalyticsSubject): AnalyticsQuestion => ({
    ...asked,
    external_customer_ids: [externalOf.get(subject.subscription!.customer_id)!],
  });

  const costSubjects = priced.map(({ subject }) => subject);
  const rows = await askUsage(deps, [
    ...costSubjects.flatMap((subject, number) => asksOf(subject, number, asked)),
    ...sold.flatMap((subject, index) =>
      asksOf(subject, costSubjects.length + index, ofLine(subject)),
    ),
  ]);
  const rated = rateSubjects(sold, rows);
  const revenues = sold.flatMap((subject, index) =>
    figuresOf(
      subject,
      costSubjects.length + index,
      ofLine(subject),
      rows,
      rated.get(subject) ?? [],
    ).map(({ cost }) => ({ currency: subject.line!.currency, amount: netCost(cost) })),
  );
  const costs = priced.flatMap(({ price, subject }, number) =>
    figuresOf(subject, number, asked, rows, []).map((figures) => ({ price, subject, figures })),
  );
  const currency = costs[0]?.price.currency ?? revenues[0]?.currency ?? '';
  const total = (amounts: readonly { currency: string; amount: Decimal }[]) =>
    amounts
      .filter((entry) => entry.currency === currency)
      .reduce((sum, { amount }) => sum.plus(amount), ZERO);
  const total_cost = total(
    costs.map(({ price, figures }) => ({ currency: price.currency, amount: figures.cost.cost })),
  );
  const shown = await embeds(
    deps,
    scope,
    costs.map(({ price }) => price),
    body.expand ?? [],
  );
  const items = costs.map(({ price, subject, figures }): CostAnalyticsItem => ({
    meter_id: subject.meter.id,
    meter_name: subject.meter.name,
    customer_id: customer?.id ?? null,
    external_customer_id: externalId,
    source: null,
    properties: null,
    total_cost: figureText(figures.cost.cost),
    total_quantity: figureText(figures.usage),
    total_events: figures.event_count,
    cost_by_period: null,
    currency: price.currency,
    price_id: price.id,
    costsheet_id: price.entity_id,
    meter: shown.meter ? subject.meter : null,
    price: shown.prices.get(price.id) ?? null,
  }));
  const offset = body.offset ?? 0;
  return {
    cost_analytics: items.slice(offset, offset + (body.limit ?? items.length)),
    ...profit(total(revenues), total_cost),
    currency,
    start_time: range.start,
    end_time: range.end,
  };
}

/** Margin over revenue and over cost, with 15 decimals; 0 if the divisor is 0. */
function profit(revenue: Decimal, cost: Decimal) {
  const margin = revenue.minus(cost);
  const quotient = (by: Decimal) => (by.isZero() ? ZERO : margin.div(by));
  return {
    total_revenue: figureText(revenue),
    total_cost: figureText(cost),
    margin: figureText(margin),
    margin_percent: figureText(quotient(revenue).times(100)),
    roi: figureText(quotient(cost)),
    roi_percent: figureText(quotient(cost).times(100)),
  };
}

/** The costsheet's usage prices as subjects, oldest first; empty without an active costsheet. */
async function pricedMeters(
  deps: ApiDeps,
  scope: Scope,
  range: Period,
  meterIds: readonly string[] | null,
  timezone: string,
): Promise<PricedSubject[]> {
  const sheet = await getActiveCostsheet(deps.pool, scope).catch((error: unknown) => {
    if (error instanceof BillingError && error.kind === 'not_found') return null;
    throw error;
  });
  if (sheet === null) return [];
  const rows = await findPricesOfEntities(deps.pool, scope, 'COSTSHEET', [sheet.id], null);
  const prices = rows
    .filter(({ type, meter_id }) => type === 'USAGE' && meter_id !== null)
    .filter(({ meter_id }) => meterIds === null || meterIds.includes(meter_id!))
    .toSorted((left, right) => Number(left.sequence) - Number(right.sequence));
  const ids = [...new Set(prices.map(({ meter_id }) => meter_id!))];
  const meters = new Map(
    (await findMeters(deps.pool, scope, ids)).map((meter) => [meter.id, meter]),
  );
  const versions = groupBy(
    await meterVersionsOf(deps.pool, scope, ids),
    ({ meter_id }) => meter_id,
  );
  return prices.flatMap((price): PricedSubject[] => {
    const inForce = intersection(range, price.start_date ?? range.start, price.end_date);
    if (inForce === null) return [];
    const filter_values = price.filter_values ?? {};
    const names = Object.keys(filter_values);
    const own = versions.get(price.meter_id!) ?? [];
    const version =
      versionForPeriod(own, names, inForce.start) ?? versionToShow(own, [], inForce.start);
    if (version === null) return [];
    const terms = priceTerms(price);
    const stretch = {
      ...inForce,
      filter_values,
      excluded_filter_values: [],
      excluded_during: [],
      external_customer_ids: null,
      version,
    };
    const subject: AnalyticsSubject = {
      meter: meters.get(price.meter_id!)!,
      subscription: null,
      line: null,
      terms,
      bucket: terms.bucketSize ?? version.spec.aggregation.bucket_size,
      stretches: [stretch],
      charges: [],
      coupons: [],
      committedUsage: [],
      pauses: [],
      timezone,
      isShown: true,
    };
    return [{ price, subject }];
  });
}

async function externalIds(
  deps: ApiDeps,
  scope: Scope,
  sold: readonly AnalyticsSubject[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(sold.map(({ subscription }) => subscription!.customer_id))];
  const customers = await findCustomers(deps.pool, scope, ids);
  return new Map(customers.map(({ id, external_id }) => [id, external_id]));
}

async function embeds(
  deps: ApiDeps,
  scope: Scope,
  prices: readonly PriceRow[],
  expand: readonly string[],
) {
  const answers = expand.includes('price') ? await priceAnswers(deps.pool, scope, prices, {}) : [];
  return {
    meter: expand.includes('meter'),
    prices: new Map(answers.map((price) => [price.id, price])),
  };
}
