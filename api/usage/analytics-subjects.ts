import { versionForPeriod } from '../../domain/metering/version-for-period.ts';
import { selectUsage, type SelectedUsage } from '../../domain/pricing/filter-values.ts';
import { intersection, type Period } from '../../domain/time/instant.ts';
import type { Scope } from '../../postgres/client.ts';
import { meterVersionsOf, type MeterVersionRecord } from '../../postgres/meter-versions.ts';
import type { Customer } from '../../schemas/customer.ts';
import type { Meter } from '../../schemas/meter.ts';
import type { SubscriptionRow } from '../../schemas/subscription.ts';
import type { ApiDeps } from '../deps.ts';
import { groupBy } from '../group-by.ts';
import { withPrices, type BilledLine } from '../invoices/billing-sources.ts';
import { selectorOf } from '../invoices/line-questions.ts';
import { findMeters } from '../meters/repository.ts';
import { lineItemsOf } from '../subscriptions/repository.ts';
import { publishedMeters, subscriptionsInRange } from './repository.ts';

/** One thing whose usage is analysed: a usage line of a subscription, or a meter without a price. */
export interface AnalyticsSubject {
  readonly meter: Meter;
  readonly version: MeterVersionRecord;
  readonly subscription: SubscriptionRow | null;
  readonly line: BilledLine | null;
  /** What of the range is the line's own; all of it for a bare meter. */
  readonly stretches: readonly SelectedUsage[];
  readonly timezone: string;
}

/**
 * Usage lines of the customer's subscriptions that run in the range; without any, the environment's
 * meters. `meterIds` narrows both. Meters whose usage is still being counted are left out.
 */
export async function analyticsSubjects(
  deps: ApiDeps,
  scope: Scope,
  customer: Customer | null,
  range: Period,
  meterIds: readonly string[] | null,
): Promise<AnalyticsSubject[]> {
  const subscriptions =
    customer === null
      ? []
      : await subscriptionsInRange(deps.pool, scope, customer.id, range.start, range.end);
  return subscriptions.length === 0
    ? await bareMeters(deps, scope, customer, range, meterIds)
    : await usageLines(deps, scope, subscriptions, range, meterIds);
}

async function bareMeters(
  deps: ApiDeps,
  scope: Scope,
  customer: Customer | null,
  range: Period,
  meterIds: readonly string[] | null,
): Promise<AnalyticsSubject[]> {
  const meters = await publishedMeters(deps.pool, scope, meterIds);
  const versions = await versionsByMeter(deps, scope, meters);
  const whole = { ...range, filter_values: {}, excluded_filter_values: [] };
  return meters.flatMap((meter) => {
    const version = versionForPeriod(versions.get(meter.id) ?? [], [], range.start);
    if (version === null) return [];
    const timezone = customer?.timezone ?? 'UTC';
    return { meter, version, subscription: null, line: null, stretches: [whole], timezone };
  });
}

async function usageLines(
  deps: ApiDeps,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
  range: Period,
  meterIds: readonly string[] | null,
): Promise<AnalyticsSubject[]> {
  const items = await lineItemsOf(
    deps.pool,
    scope,
    subscriptions.map(({ id }) => id),
  );
  const usage = items.filter((item) => item.price_type === 'USAGE' && item.meter_id !== null);
  const lines = await withPrices(deps.pool, scope, usage);
  const siblings = groupBy(lines, ({ subscription_id }) => subscription_id);
  const meters = await findMeters(deps.pool, scope, [...new Set(lines.map((l) => l.meter_id!))]);
  const meterOf = new Map(meters.map((meter) => [meter.id, meter]));
  const versions = await versionsByMeter(deps, scope, meters);
  return lines.flatMap((line) => {
    if (meterIds !== null && !meterIds.includes(line.meter_id!)) return [];
    const subscription = subscriptions.find(({ id }) => id === line.subscription_id)!;
    const service = serviceOf(line, subscription, range);
    if (service === null) return [];
    const others = siblings.get(subscription.id)!.map(selectorOf);
    const stretches = selectUsage(selectorOf(line), others, service.start, service.end);
    const filters = stretches.flatMap((stretch) => [
      stretch.filter_values,
      ...stretch.excluded_filter_values,
    ]);
    const names = [...new Set(filters.flatMap((filter) => Object.keys(filter)))];
    const version = versionForPeriod(versions.get(line.meter_id!) ?? [], names, service.start);
    if (version === null) return [];
    const meter = meterOf.get(line.meter_id!)!;
    return {
      meter,
      version,
      subscription,
      line,
      stretches,
      timezone: subscription.customer_timezone,
    };
  });
}

/** When of the range the line is in force: its own dates, and those of its subscription. */
function serviceOf(line: BilledLine, subscription: SubscriptionRow, range: Period): Period | null {
  const own = intersection(range, line.start_date, line.end_date);
  if (own === null) return null;
  const running = intersection(own, subscription.start_date, subscription.end_date);
  if (running === null) return null;
  return intersection(running, running.start, subscription.cancelled_at);
}

async function versionsByMeter(deps: ApiDeps, scope: Scope, meters: readonly Meter[]) {
  const versions = await meterVersionsOf(
    deps.pool,
    scope,
    meters.map(({ id }) => id),
  );
  return groupBy(versions, ({ meter_id }) => meter_id);
}
