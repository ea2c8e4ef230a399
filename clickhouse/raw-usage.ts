import {
  countText,
  mergeStates,
  quantityOf,
  scaledText,
  type UsageState,
} from '../domain/metering/usage-state.ts';
import type { AggregationType, UsageWindow } from '../domain/metering/usage.ts';
import { epochMs } from '../domain/time/instant.ts';
import { windowsWithin, type WindowCell } from '../domain/time/usage-windows.ts';
import type { ClickHouse, ReadOptions } from './client.ts';
import { rawUsage, readRawUsage } from './queries/raw-usage.ts';
import { RowBinaryReader } from './row-binary.ts';

/** A question about raw events of one name, without a meter. */
export interface RawUsageQuestion {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_name: string;
  /** Null: all customers. */
  readonly external_customer_id: string | null;
  readonly aggregation: AggregationType;
  readonly multiplier: string | null;
  /** Null: every event counts as 1. */
  readonly property_name: string | null;
  /** Half-open, ISO 8601 UTC. */
  readonly start: string;
  readonly end: string;
  readonly filters: Readonly<Record<string, readonly string[]>>;
  readonly window: UsageWindow | null;
}

/** Quantities as decimal text. Windows without events are left out. */
export interface RawUsageAnswer {
  /** Null with windows. */
  readonly value: string | null;
  readonly windows: readonly { readonly window_start: string; readonly value: string }[];
}

/** Adds raw events up by the step that all borders of windows fall on, and the steps to windows. */
export async function aggregateRawEvents(
  clickhouse: ClickHouse,
  question: RawUsageQuestion,
  options: ReadOptions,
): Promise<RawUsageAnswer> {
  const cells = question.window === null ? null : windowsWithin(question.window, question);
  const query = rawUsage({
    tenant_id: question.tenant_id,
    environment_id: question.environment_id,
    event_name: question.event_name,
    external_customer_id: question.external_customer_id,
    aggregation: question.aggregation,
    property_name: question.property_name,
    filters: question.filters,
    start: epochMs(question.start),
    end: epochMs(question.end),
    step: cells === null ? 0 : stepOf(cells),
  });
  const bytes = await clickhouse.bytes(query, 'RowBinary', options);
  const found = new Map<number, Tally>();
  for (const reader = new RowBinaryReader(bytes); !reader.done;) {
    const { slot, state, uniques } = readRawUsage(reader, question.aggregation);
    const cell = cells === null ? 0 : cellOf(cells, slot);
    const known = found.get(cell);
    found.set(cell, {
      state: known === undefined ? state : mergeStates(known.state, state),
      uniques: new Set([...(known?.uniques ?? []), ...uniques]),
    });
  }
  const spanOf = (cell: number) => (cells === null ? question : cells[cell]!);
  const valueOf = (cell: number, tally: Tally) => quantity(question, spanOf(cell), tally);
  if (cells === null) {
    const all = found.get(0);
    return { value: all === undefined ? '0' : valueOf(0, all), windows: [] };
  }
  const windows = [...found]
    .sort(([a], [b]) => a - b)
    .map(([cell, tally]) => ({
      window_start: cells[cell]!.window_start,
      value: valueOf(cell, tally),
    }));
  return { value: null, windows };
}

interface Tally {
  readonly state: UsageState;
  readonly uniques: ReadonlySet<string>;
}

function quantity(
  question: RawUsageQuestion,
  span: { readonly start: string; readonly end: string },
  { state, uniques }: Tally,
): string {
  if (question.aggregation === 'COUNT_UNIQUE') return countText(uniques.size);
  const period = { start: epochMs(span.start), end: epochMs(span.end) };
  return scaledText(quantityOf(question.aggregation, state, period, question.multiplier));
}

const STEPS = [900, 60, 1] as const;

/** Inner borders only: what lies beyond the ends of the range is not read. */
function stepOf(cells: readonly WindowCell[]): number {
  return STEPS.find((step) =>
    cells.every((cell, index) => index === 0 || epochMs(cell.start) % (step * 1000) === 0),
  )!;
}

/** A step may begin before the range does; then it belongs to the first window. */
function cellOf(cells: readonly WindowCell[], slot: number): number {
  let low = 0;
  let high = cells.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (epochMs(cells[middle]!.start) <= slot) low = middle;
    else high = middle - 1;
  }
  return low;
}
