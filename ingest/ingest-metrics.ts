import { Counter, Histogram, type Registry } from 'prom-client';

export interface IngestMetrics {
  accepted(events: number): void;
  refused(status: number): void;
  record(events: number): void;
  append(seconds: number): void;
}

export function createIngestMetrics(registry: Registry): IngestMetrics {
  const registers = [registry];
  const accepted = new Counter({
    name: 'ingest_events_accepted_total',
    help: 'Events answered 202: durable in the log.',
    registers,
  });
  const refused = new Counter({
    name: 'ingest_calls_refused_total',
    help: 'Calls of which nothing was accepted, by status.',
    labelNames: ['status'],
    registers,
  });
  const record = new Histogram({
    name: 'ingest_record_events',
    help: 'Events that share one log record.',
    buckets: [1, 3, 10, 30, 100, 300, 1000, 3000],
    registers,
  });
  const append = new Histogram({
    name: 'ingest_append_duration_seconds',
    help: 'Time until an append to the log was answered.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  });
  return {
    accepted: (events) => accepted.inc(events),
    refused: (status) => refused.inc({ status: String(status) }),
    record: (events) => record.observe(events),
    append: (seconds) => append.observe(seconds),
  };
}
