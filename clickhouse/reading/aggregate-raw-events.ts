import type { AggregationType } from '../../domain/metering/usage.ts';
import type { UsageWindow } from '../../domain/time/usage-windows.ts';
import type { ClickHouse } from '../client.ts';
import type { QueryLimits } from '../query-limits.ts';
import { answerFromEvents } from './answer-from-events.ts';

/** A query on raw events of one name, without a meter. */
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
  /** Properties by which values are grouped, within each window if there are windows; default none. */
  readonly group_by?: readonly string[];
}

/** Quantities as decimal text. Windows and groups without events are omitted. */
export interface RawUsageAnswer {
  /** Null with windows or groups. */
  readonly value: string | null;
  /** By window, then by group; empty without either. */
  readonly rows: readonly RawUsageRow[];
}

export interface RawUsageRow {
  /** Null without windows. */
  readonly window_start: string | null;
  /** Values of `group_by`, in its order. */
  readonly group: readonly string[];
  readonly value: string;
}

/** What a meter with this event name, aggregation type and field would count. */
export async function aggregateRawEvents(
  clickhouse: ClickHouse,
  question: RawUsageQuestion,
  limits: QueryLimits,
): Promise<RawUsageAnswer> {
  const { tenant_id, environment_id, aggregation, multiplier, start, end, window } = question;
  const customer = question.external_customer_id;
  const { rows } = await answerFromEvents(
    clickhouse,
    {
      key: '',
      tenant_id,
      environment_id,
      meter_version_id: '',
      aggregation,
      multiplier,
      reset_usage: 'BILLING_PERIOD',
      external_customer_ids: customer === null ? null : [customer],
      start,
      end,
      filter_values: {},
      group_by: question.group_by ?? [],
      window,
    },
    {
      event_name: question.event_name,
      aggregation: { type: aggregation, field: question.property_name },
      // Filters of this query are on properties, including a property called "source".
      filters: Object.entries(question.filters).map(([key, values]) => ({ key, values })),
    },
    limits,
  );
  if (window === null && !question.group_by?.length)
    return { value: rows[0]?.quantity ?? '0', rows: [] };
  return {
    value: null,
    rows: rows.map(({ window_start, group, quantity }) => ({
      window_start,
      group,
      value: quantity,
    })),
  };
}
