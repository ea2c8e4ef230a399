import { subscriptionsOwning } from '../../../domain/metering/attribution.ts';
import { takesExpression } from '../../../domain/metering/meter-rules.ts';
import type { AggregationType } from '../../../domain/metering/usage.ts';
import type { RecurringPeriod } from '../../../domain/time/billing-grid.ts';
import { firstPeriod } from '../../../domain/time/billing-periods.ts';
import { intersection, type Period } from '../../../domain/time/instant.ts';
import type { JsonObject } from '../compare.ts';
import { oneOf, type AreaOperations } from '../operation.ts';
import { usageOf, type MeteringCase } from './metering-case.ts';

/** Events of these cases carry their properties beside the timestamp. */
function question(given: JsonObject, period: Period): MeteringCase {
  const aggregation = given['aggregation'] as JsonObject;
  const group = aggregation['group_by'] as string | undefined;
  return {
    aggregation,
    filters: (given['filters'] ?? []) as never as MeteringCase['filters'],
    reset_usage: (given['reset_usage'] ?? 'BILLING_PERIOD') as MeteringCase['reset_usage'],
    events: (given['events'] as (JsonObject | string)[]).map((event, index) => {
      const properties = typeof event === 'string' ? { timestamp: event } : event;
      return {
        event_id: `event_${index}`,
        timestamp: properties['timestamp'] as string,
        properties,
      };
    }),
    period,
    group_by: group === undefined ? [] : [group],
    bucket_size: null,
    timezone: (given['customer_timezone'] ?? given['timezone'] ?? '') as string,
  };
}

const OUTSIDE: Period = { start: '2026-01-01T00:00:00.000Z', end: '2026-01-02T00:00:00.000Z' };
const CANCELLATIONS = ['before_window', 'in_window', 'after_window', 'never'] as const;
const CANCELLED = {
  before_window: OUTSIDE.end,
  in_window: '2026-02-15T00:00:00.000Z',
  after_window: '2026-03-02T00:00:00.000Z',
  never: null,
} as const;
const WINDOW: Period = { start: '2026-02-01T00:00:00.000Z', end: '2026-03-01T00:00:00.000Z' };

export const metering: AreaOperations = {
  meter_usage: (given) => {
    const period = { start: given['period_start'] as string, end: given['period_end'] as string };
    const line = given['line_item'] as { start_date: string; end_date: string | null } | undefined;
    const within = line ? intersection(period, line.start_date, line.end_date)! : period;
    const asked = question(given, within);
    const byDay = usageOf({ ...asked, bucket_size: 'DAY', group_by: [] });
    return {
      usage: usageOf({ ...asked, group_by: [] })[0]!.quantity,
      usage_by_group: Object.fromEntries(
        usageOf(asked).map(({ group, quantity }) => [group[0] ?? '', quantity]),
      ),
      usage_by_day: Object.fromEntries(
        byDay.map(({ window_start, quantity }) => [window_start!.slice(0, 10), quantity]),
      ),
    };
  },
  meter_usage_first_period: (given) => {
    const start_date = given['subscription_start'] as string;
    const period = firstPeriod({
      start_date,
      end_date: null,
      billing_anchor: start_date,
      billing_cycle: 'anniversary',
      billing_period: given['billing_period'] as RecurringPeriod,
      billing_period_count: 1,
      customer_timezone: given['customer_timezone'] as string,
    });
    return { usage: usageOf(question(given, period!))[0]!.quantity };
  },
  aggregation_supports_expression: (given) => ({
    supports_expression: takesExpression(
      (given['aggregation'] as JsonObject)['type'] as AggregationType,
    ),
  }),
  usage_attribution: (given) => {
    const subscriptions = (given['subscriptions'] as JsonObject[]).map((subscription) => ({
      id: subscription['id'] as string,
      start_date: OUTSIDE.start,
      end_date: null,
      cancelled_at:
        CANCELLED[oneOf('cancelled_at', subscription['cancelled_at'] ?? 'never', CANCELLATIONS)],
    }));
    return { attributed_to: subscriptionsOwning(subscriptions, WINDOW).map(({ id }) => id) };
  },
};
