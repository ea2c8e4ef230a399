import type { MeteredUsage } from '../../../domain/metering/aggregate.ts';
import type { UsageQuery } from '../../../domain/metering/usage.ts';

/** One tenant, one meter version, one customer unless a test says otherwise. */
export const SCOPE = { tenant_id: 'tenant_1', environment_id: 'env_1' } as const;
export const JANUARY = {
  start: '2026-01-01T00:00:00.000Z',
  end: '2026-02-01T00:00:00.000Z',
} as const;

export function row(
  timestamp: string,
  value: string,
  more: Partial<MeteredUsage> & { readonly position?: bigint } = {},
): MeteredUsage {
  return {
    ...SCOPE,
    meter_version_id: 'meterv_1',
    external_customer_id: 'customer_1',
    timestamp: Date.parse(timestamp),
    partition: 0,
    position: 0n,
    value,
    unique_value: null,
    dimensions: {},
    source: '',
    ...more,
  };
}

export function question(more: Partial<UsageQuery> = {}): UsageQuery {
  return {
    ...SCOPE,
    ...JANUARY,
    key: 'question',
    meter_version_id: 'meterv_1',
    aggregation: 'SUM',
    multiplier: null,
    reset_usage: 'BILLING_PERIOD',
    external_customer_ids: ['customer_1'],
    filter_values: {},
    group_by: [],
    window: null,
    ...more,
  };
}
