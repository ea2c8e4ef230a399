import assert from 'node:assert/strict';
import type { AggregationType } from './usage.ts';
import { withoutTrailing } from '../../schemas/digits.ts';

/**
 * The state of a set of events. States can be merged, and every aggregation except COUNT_UNIQUE is
 * computed exactly from them (metering 5, buckets). Amounts are integers scaled by 10^18.
 */
export interface UsageState {
  readonly event_count: number;
  readonly sum: bigint;
  /** Sum of value × milliseconds since 1970, scaled like the values. */
  readonly sum_value_time: bigint;
  readonly min: bigint;
  readonly max: bigint;
  /** The value with the greatest (timestamp, position, partition), and these three. */
  readonly latest: bigint;
  readonly latest_at: number;
  readonly latest_position: bigint;
  readonly latest_partition: number;
}

/** Decimal places of every value and quantity. */
export const SCALE_DIGITS = 18;
const SCALE = 10n ** BigInt(SCALE_DIGITS);

/** Half-open, milliseconds since 1970. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export function mergeStates(a: UsageState, b: UsageState): UsageState {
  const latest = isLater(a, b) ? a : b;
  return {
    event_count: a.event_count + b.event_count,
    sum: a.sum + b.sum,
    sum_value_time: a.sum_value_time + b.sum_value_time,
    min: a.min < b.min ? a.min : b.min,
    max: a.max > b.max ? a.max : b.max,
    latest: latest.latest,
    latest_at: latest.latest_at,
    latest_position: latest.latest_position,
    latest_partition: latest.latest_partition,
  };
}

function isLater(a: UsageState, b: UsageState): boolean {
  if (a.latest_at !== b.latest_at) return a.latest_at > b.latest_at;
  if (a.latest_position !== b.latest_position) return a.latest_position > b.latest_position;
  return a.latest_partition > b.latest_partition;
}

/**
 * The quantity of one period, scaled by 10^18; a quotient is rounded half away from zero (metering 6).
 * `carried` is the sum of the values before the period, the initial value of a WEIGHTED_SUM without
 * reset. `multiplier` belongs to SUM_WITH_MULTIPLIER.
 */
export function quantityOf(
  aggregation: Exclude<AggregationType, 'COUNT_UNIQUE'>,
  state: UsageState,
  span: Span,
  multiplier: string | null,
): bigint {
  switch (aggregation) {
    case 'COUNT':
      return BigInt(state.event_count) * SCALE;
    case 'SUM':
      return state.sum;
    case 'SUM_WITH_MULTIPLIER': {
      const { digits, scale } = scaled(multiplier ?? '1');
      return roundedQuotient(state.sum * digits, 10n ** BigInt(scale));
    }
    case 'AVG':
      return roundedQuotient(state.sum, BigInt(state.event_count));
    case 'MAX':
      return state.max;
    case 'MIN':
      return state.min;
    case 'LATEST':
      return state.latest;
    case 'WEIGHTED_SUM':
      return roundedQuotient(
        state.sum * BigInt(span.end) - state.sum_value_time,
        BigInt(span.end - span.start),
      );
  }
}

/** Canonical text of an amount scaled by 10^18. */
export function scaledText(amount: bigint): string {
  const sign = amount < 0n ? '-' : '';
  const digits = String(amount < 0n ? -amount : amount).padStart(SCALE_DIGITS + 1, '0');
  const whole = digits.slice(0, -SCALE_DIGITS);
  const fraction = withoutTrailing(digits.slice(-SCALE_DIGITS), '0');
  return sign + whole + (fraction === '' ? '' : `.${fraction}`);
}

function scaled(text: string): { digits: bigint; scale: number } {
  const parts = /^(-?\d+)(?:\.(\d+))?$/.exec(text);
  assert(parts !== null, `${text} is not decimal text`);
  const fraction = parts[2] ?? '';
  return { digits: BigInt(parts[1]! + fraction), scale: fraction.length };
}

/** Rounded half away from zero. The divisor is positive. */
function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  assert(divisor > 0n);
  const half = divisor / 2n;
  return dividend < 0n ? -((-dividend + half) / divisor) : (dividend + half) / divisor;
}
