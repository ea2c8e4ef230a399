import { BillingError } from '../errors.ts';
import type { ExcludedDuring, FilterValues } from '../metering/usage.ts';
import { intersection, type Period } from '../time/instant.ts';

/** The fields of a USAGE line item that decide which events it rates. */
export interface UsageSelector {
  readonly id: string;
  /** Named in a refusal: a refused line is not created, so clients do not know its id. */
  readonly price_id: string;
  readonly meter_id: string;
  /** Names of the price and of the meter, which a refusal gives beside their ids. */
  readonly price_name?: string | null;
  readonly meter_name?: string | null;
  readonly filter_values: FilterValues;
  /** Half-open; ISO 8601 UTC. */
  readonly start_date: string;
  readonly end_date: string | null;
}

/** The events that a line rates in a part of its service. */
export interface SelectedUsage {
  readonly start: string;
  readonly end: string;
  readonly filter_values: FilterValues;
  /** Events that other lines rate in all of the time. */
  readonly excluded_filter_values: readonly FilterValues[];
  /** Events that other lines rate in a part of the time. */
  readonly excluded_during: readonly ExcludedDuring[];
}

/** Whether the event's properties match every key. Without keys every event matches. */
export function matchesFilter(
  filter: FilterValues,
  properties: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(filter).every(([key, values]) => {
    const value = properties[key];
    return value !== undefined && values.includes(value);
  });
}

/** Whether one event can match both filters: no common key has disjoint values. */
export function filtersOverlap(left: FilterValues, right: FilterValues): boolean {
  return Object.entries(left).every(([key, values]) => {
    const others = right[key];
    return others === undefined || values.some((value) => others.includes(value));
  });
}

/** More keys win. A price without keys rates the rest (billing 2.5). */
export function specificity(filter: FilterValues): number {
  return Object.keys(filter).length;
}

/**
 * The events of `[start, end)` that the line rates: it matches them and no line with more keys does
 * (billing 2.5). A line with more keys takes its events while it runs; all other events of the time are rated
 * together. `others` are the subscription's other USAGE lines.
 */
export function selectUsage(
  line: UsageSelector,
  others: readonly UsageSelector[],
  start: string,
  end: string,
): SelectedUsage {
  const stronger = others.flatMap((other) => {
    const runs = intersection({ start, end }, other.start_date, other.end_date);
    const isStronger =
      other.meter_id === line.meter_id &&
      specificity(other.filter_values) > specificity(line.filter_values) &&
      filtersOverlap(other.filter_values, line.filter_values);
    return isStronger && runs !== null ? [{ ...runs, filter_values: other.filter_values }] : [];
  });
  const isWhole = (runs: Period): boolean => runs.start === start && runs.end === end;
  return {
    start,
    end,
    filter_values: line.filter_values,
    excluded_filter_values: stronger.filter(isWhole).map(({ filter_values }) => filter_values),
    excluded_during: stronger
      .filter((runs) => !isWhole(runs))
      .map((runs) => ({ ...runs, external_customer_ids: null })),
  };
}

/**
 * Refuses two lines that would rate the same event: same meter, overlapping time, overlapping filters, equal
 * number of keys (billing 2.5, money 12.1).
 */
export function refuseUsageRatedTwice(lines: readonly UsageSelector[], path = 'line_items'): void {
  for (const [index, line] of lines.entries()) {
    const rival = lines.slice(0, index).find((other) => ratesTheSame(line, other));
    if (rival === undefined) continue;
    const message =
      `prices ${named(rival.price_id, rival.price_name)} and ${named(line.price_id, line.price_name)} ` +
      `would both bill the same usage of meter ${named(line.meter_id, line.meter_name)}: ` +
      `tell their events apart by filter_values`;
    throw new BillingError('invalid', 'validation_error', message, [
      { path, code: 'usage_rated_twice', message },
    ]);
  }
}

const named = (id: string, name: string | null | undefined): string =>
  name ? `“${name}” (${id})` : id;

function ratesTheSame(left: UsageSelector, right: UsageSelector): boolean {
  return (
    left.meter_id === right.meter_id &&
    (left.end_date === null || right.start_date < left.end_date) &&
    (right.end_date === null || left.start_date < right.end_date) &&
    specificity(left.filter_values) === specificity(right.filter_values) &&
    filtersOverlap(left.filter_values, right.filter_values)
  );
}
