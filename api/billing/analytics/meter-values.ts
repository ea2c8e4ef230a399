import { invalidField } from '../../../domain/errors.ts';
import type { UsageQuery, UsageRow } from '../../../domain/metering/usage.ts';
import type { UsageWindow } from '../../../domain/time/usage-windows.ts';
import { Decimal } from '../../../domain/money.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { MeterVersionRecord } from '../../../postgres/tables/meter-versions.ts';
import type { MeterValues, MetersValuesBody, MeterValuesBody } from '../../../schemas/usage.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { ApiDeps } from '../../deps.ts';
import { lineItemsOf } from '../records/subscription-repository.ts';
import { askUsage, type UsageAsk } from '../../usage/quantities/ask-usage.ts';
import { figureText } from './cost-shares.ts';
import { findKnownCustomer } from '../../usage/quantities/known-customer.ts';
import { askedVersion } from '../../usage/quantities/meter-usage.ts';
import { rangeOf } from '../../conventions/usage-range.ts';
import { subscriptionsInRange } from '../../usage/quantities/repository.ts';

/**
 * Values of one meter over `[start, end)` for one customer. Zero if no subscription line of the customer in
 * the range has the meter, and for an unknown meter or customer.
 */
export async function meterValues(
  deps: ApiDeps,
  scope: Scope,
  body: MeterValuesBody,
): Promise<MeterValues> {
  const [values] = await valuesOf(deps, scope, body, [body.meter_id]);
  const points = body.window_size == null ? null : [];
  const { meter_id, aggregation_type } = body;
  return values ?? { meter_id, aggregation_type, total_value: '0', event_count: 0, points };
}

/** The same for several meters; meters without usage are left out. */
export async function metersValues(deps: ApiDeps, scope: Scope, body: MetersValuesBody) {
  const values = await valuesOf(deps, scope, body, [...new Set(body.meter_ids)]);
  return { items: values.filter(({ event_count }) => event_count > 0) };
}

async function valuesOf(
  deps: ApiDeps,
  scope: Scope,
  body: Omit<MeterValuesBody, 'meter_id'>,
  meterIds: readonly string[],
): Promise<MeterValues[]> {
  const { start, end } = rangeOf(deps.clock, body);
  const customer = await findKnownCustomer(deps.pool, scope, body.external_customer_id);
  if (customer === null) return [];
  const { pool } = deps;
  const subscriptions = await subscriptionsInRange(pool, scope, customer.id, start, end);
  const sold = await soldMeters(deps, scope, subscriptions, meterIds, { start, end });
  const filters = Object.entries(body.filters ?? {});
  const names = filters.map(([name]) => name);
  const asks: (UsageAsk & { meter_id: string })[] = [];
  for (const [meter_id, { customer_timezone }] of sold) {
    const version = await askedVersion(deps, scope, meter_id, names, start);
    refuseUncounted(version, body.aggregation_type);
    const { multiplier } = version.spec.aggregation;
    const query: UsageQuery = {
      ...scope,
      key: `total/${meter_id}`,
      meter_version_id: version.id,
      aggregation: body.aggregation_type,
      multiplier: body.aggregation_type === 'SUM_WITH_MULTIPLIER' ? (multiplier ?? '1') : null,
      reset_usage: version.spec.reset_usage,
      external_customer_ids: [body.external_customer_id],
      start,
      end,
      filter_values: Object.fromEntries([
        ...filters,
        ...(body.sources?.length ? [['source', body.sources] as const] : []),
      ]),
      excluded_filter_values: [],
      group_by: [],
      window: null,
    };
    asks.push({ meter_id, version, query });
    if (body.window_size == null) continue;
    const window: UsageWindow = {
      bucket_size: body.window_size,
      timezone: body.timezone ?? customer_timezone,
      billing_anchor: body.billing_anchor ?? null,
    };
    asks.push({ meter_id, version, query: { ...query, key: `points/${meter_id}`, window } });
  }
  const rows = await askUsage(deps, asks);
  return [...sold.keys()].map((meter_id) => {
    const total = rows.get(`total/${meter_id}`)![0]!;
    const points = rows.get(`points/${meter_id}`);
    return {
      meter_id,
      aggregation_type: body.aggregation_type,
      total_value: figureText(new Decimal(total.quantity)),
      event_count: total.event_count,
      points: points === undefined ? null : points.map(pointOf),
    };
  });
}

const pointOf = (row: UsageRow) => ({
  timestamp: row.window_start!,
  value: figureText(new Decimal(row.quantity)),
  event_count: row.event_count,
});

/** The meters that a subscription line in force in the range sells, with the first such subscription. */
async function soldMeters(
  deps: ApiDeps,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
  meterIds: readonly string[],
  range: { readonly start: string; readonly end: string },
): Promise<Map<string, SubscriptionRow>> {
  const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
  const lines = await lineItemsOf(deps.pool, scope, [...byId.keys()]);
  const running = lines.filter(
    ({ start_date, end_date }) =>
      start_date < range.end && (end_date === null || end_date > range.start),
  );
  return new Map(
    meterIds.flatMap((meterId) => {
      const line = running.find(({ meter_id }) => meter_id === meterId);
      return line === undefined ? [] : [[meterId, byId.get(line.subscription_id)!] as const];
    }),
  );
}

/** Only meters that count distinct values store them. */
function refuseUncounted(
  { spec }: MeterVersionRecord,
  asked: MeterValuesBody['aggregation_type'],
): void {
  if (asked === 'COUNT_UNIQUE' && spec.aggregation.type !== 'COUNT_UNIQUE')
    throw invalidField('aggregation_type', 'COUNT_UNIQUE goes with meters of that type only');
}
