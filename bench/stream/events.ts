import { createMeterVersion } from '../../postgres/tables/meter-versions.ts';
import type { Pool } from '../../postgres/client.ts';
import { partitionOf, slotOf, slotScope } from '../../schemas/events/slot.ts';
import { encodeEvents, type UsageEvent } from '../../schemas/events/usage-event.ts';
import type { LogAppend } from '../../platform/event-log/event-log.ts';
import { BENCH_SCOPE } from './instance.ts';

/** Three meters: each on its own event name (an event feeds one meter), or all on one name. */
export type MeterLayout = 'three names' | 'one name';

const NAMES = ['request', 'transfer', 'session'];

export async function createBenchMeters(pool: Pool, layout: MeterLayout): Promise<void> {
  const types = ['COUNT', 'SUM', 'MAX'] as const;
  for (const [n, type] of types.entries())
    await pool.begin((tx) =>
      createMeterVersion(tx, BENCH_SCOPE, {
        id: `meterv_bench_${n}`,
        meter_id: `meter_bench_${n}`,
        spec: {
          event_name: layout === 'three names' ? NAMES[n]! : NAMES[0]!,
          aggregation: {
            type,
            field: type === 'COUNT' ? null : 'tokens',
            expression: null,
            multiplier: null,
            group_by: null,
            bucket_size: null,
          },
          filters: [],
          reset_usage: 'BILLING_PERIOD',
        },
        dimensions: [],
        created_by: 'bench',
      }),
    );
}

/** Event number `n`: distinct id, one of 1,000 customers, five properties, current time. */
export function benchEvent(n: number, layout: MeterLayout, now: number): UsageEvent {
  return {
    kind: 'usage',
    ...BENCH_SCOPE,
    event_id: `5f2a9c1e-${String(n).padStart(12, '0')}`,
    event_name: layout === 'three names' ? NAMES[n % 3]! : NAMES[0]!,
    external_customer_id: `customer-${(n * 7919) % 1000}`,
    customer_id: '',
    timestamp: now,
    source: 'bench',
    properties: `{"tokens":${(n * 31) % 5000},"model":"large-2","region":"eu-west-1","latency_ms":${n % 900},"status":"ok"}`,
    ingested_at: now,
  };
}

/** Records of 1,000 events of one partition each, as the edge builds them from bulk calls. */
export function benchRecords(events: readonly UsageEvent[], partitions: number): LogAppend[] {
  const scope = slotScope(BENCH_SCOPE.tenant_id, BENCH_SCOPE.environment_id);
  const parts: UsageEvent[][] = Array.from({ length: partitions }, () => []);
  for (const event of events)
    parts[partitionOf(slotOf(scope, event.event_id), partitions)]!.push(event);
  return parts.flatMap((list, partition) => {
    const records: LogAppend[] = [];
    for (let at = 0; at < list.length; at += 1_000) {
      const part = list.slice(at, at + 1_000);
      records.push({ partition, value: encodeEvents(part), eventCount: part.length });
    }
    return records;
  });
}
