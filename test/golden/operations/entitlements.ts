import {
  allowanceQuestions,
  shareMeterAllowance,
  type AllowanceLine,
  type AllowanceMeter,
} from '../../../domain/entitlement/allowance-usage.ts';
import { billableUsage } from '../../../domain/pricing/allowance.ts';
import {
  openQuotaWindow,
  quotaOverage,
  quotaSlots,
  quotaStatus,
  type QuotaConfig,
} from '../../../domain/entitlement/quota-windows.ts';
import { quotaUsage } from '../../../domain/entitlement/quota-usage.ts';
import type { UsageRow } from '../../../domain/metering/usage.ts';
import type { UsageQuestion } from '../../../domain/metering/usage-question.ts';
import { decimal, Decimal, sum } from '../../../domain/money.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import { rateUsageLine } from '../../../domain/pricing/rate-usage-line.ts';
import { earlierOf, epochMs, isoText, laterOf } from '../../../domain/time/instant.ts';
import type { JsonObject } from '../compare.ts';
import { oneOf, type AreaOperations } from '../operation.ts';
import {
  ANY_PERIOD,
  ANY_SCHEDULE,
  canonicalInstant,
  canonicalPeriod,
  caseTerms,
  textOf,
  wholeCell,
  wholeUsage,
} from './price.ts';
import { periodAllowance } from './pricing.ts';

export const entitlements: AreaOperations = {
  usage_charge_with_entitlement(given) {
    const entitlement = given['entitlement'] as JsonObject;
    const limit = entitlement['is_enabled'] === false ? '0' : entitlement['usage_limit'];
    const usage = textOf(given['usage']);
    const lines = rateUsageLine({
      line: {},
      price: caseTerms(given['price'] as JsonObject),
      aggregation: 'SUM',
      bucket_size: null,
      timezone: 'UTC',
      rows: wholeUsage(usage),
      cell: wholeCell(),
      proration_behavior: 'none',
      allowance: periodAllowance(limit == null ? null : textOf(limit), usage),
    });
    return {
      amount: sum(lines.map((line) => line.amount)),
      billable_quantity: lines[0]!.quantity,
      line_items: lines.length,
    };
  },

  never_reset_usage(given) {
    const period = canonicalPeriod(given['period_start'], given['period_end']);
    const meter: AllowanceMeter = {
      aggregation: 'SUM',
      reset_usage: 'BILLING_PERIOD',
      usage_reset_period: 'NEVER',
      schedule: { ...ANY_SCHEDULE, start_date: canonicalInstant(given['subscription_start']) },
      charge_period: period,
    };
    const start = laterOf(period.start, canonicalInstant(given['line_item_start']));
    const line: AllowanceLine = {
      line_id: 'line',
      stream: '',
      service: {
        start,
        end: earlierOf(period.end, (given['line_item_end'] ?? null) as string | null),
      },
      limit: decimal(textOf(given['usage_limit'])),
      windowed: false,
      bucket: null,
    };
    const events = (given['usage'] as JsonObject[]).map((event) => ({
      at: epochMs(event['date'] as string),
      value: decimal(textOf(event['value'])),
    }));
    const answer = (question: Pick<UsageQuestion, 'start' | 'end'>): readonly UsageRow[] => {
      const [from, until] = [epochMs(question.start), epochMs(question.end)];
      const inside = events.filter(({ at }) => at >= from && at < until);
      return wholeUsage(sum(inside.map(({ value }) => value)).toFixed());
    };
    const questions = allowanceQuestions(meter, line);
    const replies = new Map(questions.map((question) => [question.key, answer(question)]));
    const rows = answer(line.service);
    const share = shareMeterAllowance(meter, [{ line, rows, replies }]).get('line')!;
    return { billable_quantity: billableUsage(share) };
  },

  open_grants(given) {
    const slots = quotaSlots(
      (given['quotas'] as string[]).map((quota, index) => ({
        ...hours(given['duration_hours'] as number),
        entitlement_id: `ent_${index}`,
        grant_quota: decimal(quota),
        aggregation_mode: given['aggregation_mode'] as QuotaConfig['aggregation_mode'],
      })),
    );
    return { grants: slots.length, quotas: slots.map(({ quota }) => quota) };
  },

  grant_window(given) {
    const previous = given['previous_valid_to'];
    const window = openQuotaWindow(
      hours(given['duration_hours'] as number),
      {
        cycle: canonicalPeriod(given['cycle_start'], given['cycle_end']),
        covered_until: previous === undefined ? null : canonicalInstant(previous),
        timezone: 'UTC',
      },
      canonicalInstant(given['first_uncovered_usage']),
    );
    return { valid_from: window?.start, valid_to: window?.end };
  },

  grant_status(given) {
    const status = quotaStatus(decimal(textOf(given['quota'])), decimal(textOf(given['usage'])));
    return { grant_status: status, alert: status === 'exhausted' };
  },

  bill_grant_overage(given) {
    oneOf('measure', given['measure'] ?? 'quantity', ['quantity']);
    const windows = (given['grants'] as JsonObject[]).map((grant) => ({
      quota: decimal(textOf(grant['quota'])),
      usage: decimal(textOf(grant['usage'])),
    }));
    return priced(given, quotaOverage(windows));
  },

  bill_parallel_grants(given) {
    const usage = (given['usage'] as JsonObject[]).map((part) => ({
      at: epochMs(after(part['at'] as string)),
      quantity: decimal(textOf(part['quantity'])),
    }));
    // One unit of earlier usage at each crossing, and quotas that it uses up.
    const crossings = (given['grants'] as JsonObject[]).map((grant) => ({
      at: epochMs(after(grant['exhausted_at'] as string)),
      end_date: after(grant['valid_to'] as string),
    }));
    const filler = crossings.map(({ at }) => ({ at, quantity: decimal('1') }));
    const moments = [...filler, ...usage].sort((left, right) => left.at - right.at);
    const grants = crossings.map(({ at, end_date }, index) => ({
      config: parallel(
        `ent_${index}`,
        sum(
          [...filler, ...usage.filter((part) => part.at < at)]
            .filter((part) => part.at <= at)
            .map(({ quantity }) => quantity),
        ),
      ),
      start_date: null,
      end_date,
    }));
    const never = {
      config: parallel('ent_x', decimal('1000000000')),
      start_date: null,
      end_date: null,
    };
    const { billed } = quotaUsage([...grants, never], MONTHLY, moments);
    return priced(given, sum(billed.filter((_, index) => !filler.includes(moments[index]!))));
  },
};

const parallel = (entitlement_id: string, grant_quota: Decimal): QuotaConfig => ({
  ...hours(1),
  entitlement_id,
  grant_quota,
  grant_duration_unit: 'subscription_period',
  aggregation_mode: 'parallel',
});

const MONTHLY = {
  billing_anchor: ANY_PERIOD.start,
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  customer_timezone: 'UTC',
} as const;

const hours = (count: number): QuotaConfig => ({
  entitlement_id: 'ent',
  grant_measure: 'quantity',
  grant_duration_value: count,
  grant_duration_unit: 'hour',
  grant_quota: decimal('1'),
  grant_allocation_behavior: 'first_usage',
  aggregation_mode: 'additive',
});

const priced = (given: JsonObject, quantity: Decimal) => {
  const { model } = caseTerms(given['price'] as JsonObject);
  return { billable_quantity: quantity, amount: rate(model, quantity).amount };
};

/** `+20m` and `+1h` run from the start of the grant. */
function after(offset: string): string {
  const [, count, unit] = /^\+(\d+)([mh])$/.exec(offset)!;
  return isoText(epochMs(ANY_PERIOD.start) + Number(count) * (unit === 'h' ? 3_600_000 : 60_000));
}
