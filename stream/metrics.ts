import { Counter, Histogram, type Registry } from 'prom-client';

/** Metrics of the stream. */
export interface StreamMetrics {
  inserted(table: string, rows: number): void;
  /** Events of a batch, recorded after its progress has moved, with the age of the oldest at that time. */
  processed(partition: number, events: number, duplicates: number, oldestSeconds: number): void;
  rejected(reason: string): void;
  /** Whole records and events that are set aside before any meter version. */
  setAside(tenantId: string, reason: string): void;
  sealed(buckets: number, seconds: number): void;
}

export function createStreamMetrics(registry: Registry): StreamMetrics {
  const registers = [registry];
  const insertRows = new Histogram({
    name: 'meterline_stream_insert_rows',
    help: 'Rows of one insert into ClickHouse.',
    labelNames: ['table'],
    buckets: [1, 10, 100, 1_000, 5_000, 10_000, 20_000, 50_000, 100_000],
    registers,
  });
  const events = new Counter({
    name: 'meterline_stream_events_total',
    help: 'Copies of events that the stream has processed.',
    labelNames: ['partition'],
    registers,
  });
  const duplicates = new Counter({
    name: 'meterline_stream_duplicates_total',
    help: 'Processed copies that were not canonical.',
    registers,
  });
  const freshness = new Histogram({
    name: 'meterline_stream_freshness_seconds',
    help: 'From acceptance to visible usage, of the oldest event of each batch.',
    buckets: [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 5, 10, 60, 600],
    registers,
  });
  const rejects = new Counter({
    name: 'meterline_stream_rejected_total',
    help: 'Events and records set aside, by reason; one for each meter version that could not meter.',
    labelNames: ['reason'],
    registers,
  });
  const setAside = new Counter({
    name: 'meterline_stream_set_aside_total',
    help: 'Records that could not be read (no tenant) and events that could not be stored.',
    labelNames: ['tenant', 'reason'],
    registers,
  });
  const sealedBuckets = new Counter({
    name: 'meterline_sealed_buckets_total',
    help: 'Usage buckets recomputed under a seal.',
    registers,
  });
  const sealSeconds = new Histogram({
    name: 'meterline_seal_cycle_seconds',
    help: 'Duration of one cycle of the sealer that wrote something.',
    buckets: [0.05, 0.1, 0.5, 1, 5, 10, 60, 300],
    registers,
  });
  return {
    inserted: (table, rows) => insertRows.labels(table).observe(rows),
    processed(partition, count, duplicateCount, oldestSeconds) {
      events.labels(String(partition)).inc(count);
      duplicates.inc(duplicateCount);
      freshness.observe(oldestSeconds);
    },
    rejected: (reason) => rejects.labels(reason).inc(),
    setAside: (tenantId, reason) => setAside.labels(tenantId, reason).inc(),
    sealed(buckets, seconds) {
      sealedBuckets.inc(buckets);
      sealSeconds.observe(seconds);
    },
  };
}
