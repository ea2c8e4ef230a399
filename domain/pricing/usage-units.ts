import assert from 'node:assert/strict';
import type { AggregationType, UsageRow } from '../metering/usage.ts';
import { decimal, ZERO, type Decimal } from '../money.ts';
import { byText } from '../text-order.ts';

/** A quantity that is rated alone: the whole charge period, one window, or one group in one window. */
export interface UsageUnit {
  readonly windowStart: string | null;
  readonly group: readonly string[];
  readonly quantity: Decimal;
  readonly eventCount: number;
}

/**
 * The units of a line from the rows of its usage query, in the order of time, then of groups
 * (billing 2.4). Without windows the charge period is one unit, even without usage. With windows
 * each window is a unit; with MAX each (window, group) is. Windowed SUM adds up its groups.
 */
export function usageUnits(
  rows: readonly UsageRow[],
  windowed: boolean,
  aggregation: AggregationType,
): readonly UsageUnit[] {
  if (!windowed) return [wholePeriod(rows)];
  const units = new Map<string, UsageUnit>();
  for (const row of rows) {
    assert(row.window_start !== null, 'a windowed price needs windowed usage');
    const group = aggregation === 'MAX' ? row.group : [];
    // A space orders before every other printable character, so keys order like (window, group).
    const key =
      group.length === 0 ? row.window_start : `${row.window_start} ${JSON.stringify(group)}`;
    const known = units.get(key);
    assert(known === undefined || aggregation !== 'MAX', 'a window answered twice');
    units.set(key, {
      windowStart: row.window_start,
      group,
      quantity: decimal(row.quantity).plus(known?.quantity ?? ZERO),
      eventCount: row.event_count + (known?.eventCount ?? 0),
    });
  }
  return [...units].sort(([left], [right]) => byText(left, right)).map(([, unit]) => unit);
}

function wholePeriod(rows: readonly UsageRow[]): UsageUnit {
  assert(rows.length <= 1, 'usage of a whole period comes in one row');
  const row = rows[0];
  assert(row === undefined || row.window_start === null, 'windows for a price without windows');
  return {
    windowStart: null,
    group: [],
    quantity: row === undefined ? ZERO : decimal(row.quantity),
    eventCount: row?.event_count ?? 0,
  };
}
