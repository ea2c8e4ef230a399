import type { UsageEvent } from '../../schemas/events/usage-event.ts';

export const BENCH_SCOPE = { tenant_id: 'tenant_bench', environment_id: 'env_bench' };
export const BENCH_KEY = `sk_test_${'b'.repeat(43)}`;

/** One event as a client sends it: a random-looking id, one of 1,000 customers, five properties. */
export function sentEvent(n: number, nowMs: number) {
  return {
    event_id: eventId(n),
    event_name: 'completion',
    external_customer_id: `customer-${(n * 7919) % 1000}`,
    timestamp: new Date(nowMs + (n % 1000)).toISOString(),
    source: 'bench',
    properties: {
      model: 'large-2',
      input_tokens: (n * 31) % 5000,
      output_tokens: String((n * 17) % 900),
      region: 'eu-west-1',
      latency_ms: (n * 13) % 2000,
    },
  };
}

/** The same event as stored in a record of the log. */
export function storedEvent(n: number, nowMs: number): UsageEvent {
  const sent = sentEvent(n, nowMs);
  return {
    kind: 'usage',
    ...BENCH_SCOPE,
    event_id: sent.event_id,
    event_name: sent.event_name,
    external_customer_id: sent.external_customer_id,
    customer_id: '',
    timestamp: Date.parse(sent.timestamp),
    source: sent.source,
    properties: JSON.stringify(sent.properties),
    ingested_at: nowMs,
  };
}

/** Like a UUID. Ids that compress better than real ones would make the figures too good. */
function eventId(n: number): string {
  let state = Math.imul(n + 1, 0x9e3779b1) >>> 0;
  const word = (): string => {
    state = Math.imul(state ^ (state >>> 15), 0x85ebca6b) >>> 0;
    state = (state ^ (state >>> 13)) >>> 0;
    return state.toString(16).padStart(8, '0');
  };
  const hex = word() + word() + word() + n.toString(16).padStart(8, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
