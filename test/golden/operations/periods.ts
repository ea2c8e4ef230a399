import { windowStart } from '../../../domain/time/usage-windows.ts';
import { billingGrid, type RecurringPeriod } from '../../../domain/time/billing-grid.ts';
import { billingAnchor, calendarAnchor } from '../../../domain/time/billing-anchor.ts';
import {
  billingPeriods,
  firstPeriod,
  nextPeriod,
  periodContaining,
  previousPeriod,
  type BillingSchedule,
} from '../../../domain/time/billing-periods.ts';
import { chargeCells } from '../../../domain/time/charge-cells.ts';
import { isChargedIn, oneTimeTiming } from '../../../domain/time/charge-timing.ts';
import { earlierOf, isWithin, laterOf } from '../../../domain/time/instant.ts';
import { advanceDays, localDaysBetween } from '../../../domain/time/local-days.ts';
import { resetWindowAt, type UsageResetPeriod } from '../../../domain/time/reset-windows.ts';
import { BillingError, invalidField } from '../../../domain/errors.ts';
import { timezone as timezoneName } from '../../../schemas/timezone.ts';
import type { JsonObject } from '../compare.ts';
import type { AreaOperations } from '../operation.ts';

const text = (given: JsonObject, key: string): string => given[key] as string;

function timezone(given: JsonObject): string {
  const name = (given['customer_timezone'] ?? given['timezone'] ?? '') as string;
  const { success, data } = timezoneName.safeParse(name.trim() || 'UTC');
  if (!success) throw invalidField('timezone', 'must be a time zone of the IANA database');
  return data;
}

/** The schedule that a case describes; it begins at `start` when the case names no other start. */
function schedule(given: JsonObject, start: string): BillingSchedule {
  const billing_cycle = (given['billing_cycle'] ?? 'anniversary') as 'anniversary' | 'calendar';
  const billing_period = text(given, 'billing_period') as RecurringPeriod;
  const shared = {
    start_date: start,
    billing_cycle,
    billing_period,
    customer_timezone: timezone(given),
  };
  return {
    ...shared,
    billing_period_count: (given['billing_period_count'] ?? 1) as number,
    end_date: (given['end_date'] ?? given['subscription_end_date'] ?? null) as string | null,
    billing_anchor: (given['billing_anchor'] as string | undefined) ?? billingAnchor({ ...shared }),
  };
}

const bounds = (period: { start: string; end: string } | null) =>
  period === null ? null : { start: period.start, end: period.end };

const named = (period: { start: string; end: string } | null) =>
  period === null ? null : { period_start: period.start, period_end: period.end };

export const periods: AreaOperations = {
  next_billing_date: (given) => {
    const start = text(given, 'current_period_start');
    return { next_billing_date: firstPeriod(schedule(given, start))?.end };
  },
  calendar_billing_anchor: (given) => ({
    billing_anchor: calendarAnchor(
      text(given, 'start_date'),
      text(given, 'billing_period') as RecurringPeriod,
      timezone(given),
    ),
  }),
  first_period: (given) => {
    const period = firstPeriod(schedule(given, text(given, 'start_date')));
    return { current_period_start: period?.start, current_period_end: period?.end };
  },
  billing_periods: (given) => {
    const start = text(given, 'initial_period_start');
    const until = text(given, 'until');
    const found = billingPeriods({ ...schedule(given, start), end_date: until }, start, until);
    return { periods: found.map(bounds) };
  },
  period_containing: (given) => {
    // The stored period is read as it stands; the boundary function is for every other one (billing 1.4).
    const known = {
      start: text(given, 'known_period_start'),
      end: text(given, 'known_period_end'),
    };
    const target = text(given, 'target');
    const found = isWithin(target, known.start, known.end)
      ? known
      : periodContaining(schedule(given, known.start), target);
    return { ...named(found) };
  },
  event_period: (given) => {
    const start = text(given, 'subscription_start');
    const period = periodContaining(schedule(given, start), text(given, 'event_timestamp'));
    if (period === null) throw new BillingError('invalid', 'no_period', 'before the subscription');
    return { period_start: period.start };
  },
  next_usage_reset: (given) => ({
    next_usage_reset_at: resetWindowAt(
      {
        start_date: text(given, 'subscription_start'),
        billing_anchor: text(given, 'billing_anchor'),
        billing_cycle: 'anniversary',
        customer_timezone: timezone(given),
      },
      text(given, 'usage_reset_period') as UsageResetPeriod,
      text(given, 'current_time'),
    ).end,
  }),
  floor_to_hour: (given) => ({
    time: windowStart(
      { bucket_size: 'HOUR', timezone: timezone(given), billing_anchor: null },
      text(given, 'time'),
    ),
  }),
  floor_to_day: (given) => ({
    time: windowStart(
      { bucket_size: 'DAY', timezone: timezone(given), billing_anchor: null },
      text(given, 'time'),
    ),
  }),
  floor_to_week: (given) => ({
    time: windowStart(
      { bucket_size: 'WEEK', timezone: timezone(given), billing_anchor: null },
      text(given, 'time'),
    ),
  }),
  advance_days: (given) => ({
    time: advanceDays(text(given, 'time'), given['days'] as number, timezone(given)),
  }),
  line_item_period_for_invoice: (given) => {
    const line = given['line_item'] as JsonObject;
    const invoice = {
      start: text(given, 'invoice_period_start'),
      end: text(given, 'invoice_period_end'),
    };
    const own = schedule(line, text(line, 'start_date'));
    const cadence = text(line, 'invoice_cadence') as 'ADVANCE' | 'ARREAR';
    const found = chargeCells(own, own, invoice).find(({ cell }) =>
      isChargedIn(cadence, cell, invoice),
    );
    return {
      included: found !== undefined,
      line_period_start: found?.cell.start,
      line_period_end: found?.cell.end,
    };
  },
  classify_one_time_line_item: (given) => {
    const line = given['line_item'] as JsonObject;
    return {
      bucket: oneTimeTiming(
        {
          invoice_cadence: text(line, 'invoice_cadence') as 'ADVANCE' | 'ARREAR',
          start_date: text(line, 'start_date'),
        },
        { start: text(given, 'current_period_start'), end: text(given, 'current_period_end') },
        text(given, 'next_period_end'),
      ),
    };
  },
  line_item_clamp_start: (given) => ({
    start: laterOf(text(given, 'line_item_start'), text(given, 'period_start')),
  }),
  line_item_clamp_end: (given) => ({
    end: earlierOf(text(given, 'period_end'), given['line_item_end'] as string | null),
  }),
  peers: (given, expected) => answerQuery(given, given['query'] as JsonObject, expected),
};

function answerQuery(given: JsonObject, query: JsonObject, expected: JsonObject) {
  const start = text(given, 'start_date');
  const own = schedule(given, start);
  switch (query['kind']) {
    case 'containing':
      // `bracketed_by` describes how the source checked the boundary; it is no input.
      return {
        bracketed_by: expected['bracketed_by'],
        ...named(periodContaining(own, text(query, 'at'))),
      };
    case 'preceding': {
      const containing = periodContaining(own, text(query, 'at'));
      const period = containing && previousPeriod(own, containing.start);
      return {
        ...named(period),
        days_in_period: period && localDaysBetween(period.start, period.end, own.customer_timezone),
      };
    }
    case 'nth_boundary':
      return { boundary: billingGrid(own).boundary(query['n'] as number) };
    case 'list':
      return {
        periods: billingPeriods(own, start, FAR, query['count'] as number).map(named),
      };
    case 'consecutive_boundaries': {
      const boundaries = [];
      const count = (expected['boundaries'] as string[]).length;
      for (
        let at: string | undefined = text(query, 'from');
        at !== undefined && boundaries.length < count;
        at = nextPeriod(own, at)?.end
      ) {
        boundaries.push(at);
      }
      return { boundaries };
    }
    default:
      throw new Error(`unknown query ${String(query['kind'])}`);
  }
}

const FAR = '9000-01-01T00:00:00.000Z';
