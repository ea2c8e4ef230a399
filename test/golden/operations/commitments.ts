import type { UsageRow } from '../../../domain/metering/usage.ts';
import {
  type BucketSize,
  type UsageWindow,
  windowsWithin,
} from '../../../domain/time/usage-windows.ts';
import { Decimal, decimal, sum } from '../../../domain/money.ts';
import {
  applyCommitment,
  commitmentTerms,
  roundCommitment,
  type CommitmentType,
} from '../../../domain/pricing/commitment.ts';
import { rateUsageLine } from '../../../domain/pricing/rate-usage-line.ts';
import { applyTermCommitment } from '../../../domain/pricing/term-commitment.ts';
import { commitmentWindows } from '../../../domain/pricing/usage-measure.ts';
import { validateLineCommitment } from '../../../domain/pricing/validate-commitment.ts';
import type { JsonObject } from '../compare.ts';
import { oneOf, type AreaOperations } from '../operation.ts';
import {
  ANY_PERIOD,
  ANY_SCHEDULE,
  canonicalInstant,
  canonicalPeriod,
  caseTerms,
  wholeCell,
} from './price.ts';

export const commitments: AreaOperations = {
  line_item_commitment(given) {
    const outcome = applyCommitment(
      number(given['usage_amount']),
      number(given['commitment_amount']),
      number(given['commitment_overage_factor']),
      given['commitment_true_up_enabled'] as boolean,
    );
    return { ...computed(outcome), total: outcome.charge };
  },

  subscription_commitment(given) {
    const outcome = applyCommitment(
      number(given['usage_amount']),
      number(given['commitment_amount']),
      number(given['overage_factor']),
      given['enable_true_up'] as boolean,
    );
    return { has_overage: outcome.overage.gt(0), ...computed(outcome), total: outcome.charge };
  },

  subscription_commitment_cumulative(given) {
    const factor = number(given['overage_factor']);
    const outcome = applyTermCommitment(
      number(given['current_base_usage_amount']),
      { overageFactor: factor, trueUpEnabled: given['enable_true_up'] as boolean },
      {
        term: ANY_PERIOD,
        commitment: number(given['commitment_amount']),
        priorUsage: number(given['prior_base_usage_amount']),
        lastPeriod: false,
      },
    );
    return {
      within_commitment: outcome.utilized,
      overage_base: outcome.usage.minus(outcome.utilized),
      overage_charge: outcome.overage,
      total: outcome.charge,
    };
  },

  split_charge(given) {
    const charges = given['charges'] as JsonObject[];
    return {
      line_count: charges.length,
      total: sum(charges.map((charge) => number(charge['amount']))),
    };
  },

  true_up_rounding(given) {
    const used = number(given['used_amount']);
    const outcome = applyCommitment(used, number(given['commitment_amount']), new Decimal(1), true);
    const parts = roundCommitment(outcome, given['currency'] as string);
    return { computed_true_up_amount: parts.trueUp };
  },

  windowed_line_item_commitment(given) {
    const item = given['line_item'] as JsonObject;
    const type = item['commitment_type'] as CommitmentType;
    const service = canonicalPeriod(given['period_start'], given['period_end']);
    const rows = (given['usage_by_window'] as JsonObject[]).map((row): UsageRow => ({
      group: [],
      window_start: canonicalInstant(row['window_start']),
      quantity: row['quantity'] as string,
      event_count: 1,
    }));
    const minutes = oneOf(
      'window_size_minutes',
      given['window_size_minutes'],
      [1, 15, 30, 60, 180, 360, 720, 1440, 10080],
    );
    const bucket_size = BUCKET_OF_MINUTES[minutes];
    const line = {
      commitment_type: type,
      [`commitment_${type}`]: item['commitment_value'] as string,
      commitment_overage_factor: item['overage_factor'] as string,
      commitment_true_up_enabled: item['true_up_enabled'] as boolean,
      commitment_windowed: true,
    };
    const windows = commitmentWindows({
      service,
      cell: service,
      bucket: utcWindow(bucket_size),
      commitment: commitmentTerms(line),
      charge: { billing_period: 'MONTHLY', billing_period_count: 1 },
      schedule: ANY_SCHEDULE,
    });
    const [rated] = rateUsageLine({
      line,
      price: caseTerms(item['price'] as JsonObject),
      aggregation: 'SUM',
      bucket_size,
      timezone: 'UTC',
      rows,
      cell: wholeCell(service),
      proration_behavior: 'none',
      commitment: { scope: 'windows', windows: windows! },
    });
    return { ...(rated!.commitment_info as object as JsonObject), total: rated!.amount };
  },

  window_starts(given) {
    const window = utcWindow(given['bucket_size'] as BucketSize);
    const anchor = (given['billing_anchor'] ?? given['start']) as string;
    const cells = windowsWithin(
      { ...window, billing_anchor: canonicalInstant(anchor) },
      canonicalPeriod(given['start'], given['end']),
    );
    return { starts: cells.map((cell) => cell.window_start) };
  },

  commitment_config_valid(given) {
    validateLineCommitment(
      {
        commitment_amount: '1',
        commitment_overage_factor: given['commitment_overage_factor'] as string,
      },
      { type: 'USAGE', windowed: false },
    );
    return {};
  },
};

const BUCKET_OF_MINUTES = {
  1: 'MINUTE',
  15: '15MIN',
  30: '30MIN',
  60: 'HOUR',
  180: '3HOUR',
  360: '6HOUR',
  720: '12HOUR',
  1440: 'DAY',
  10080: 'WEEK',
} as const;

const utcWindow = (bucket_size: BucketSize): UsageWindow => ({
  bucket_size,
  timezone: 'UTC',
  billing_anchor: null,
});

const number = (value: unknown): Decimal => decimal(String(value));

const computed = (outcome: { utilized: Decimal; overage: Decimal; trueUp: Decimal }) => ({
  computed_commitment_utilized_amount: outcome.utilized,
  computed_overage_amount: outcome.overage,
  computed_true_up_amount: outcome.trueUp,
});
