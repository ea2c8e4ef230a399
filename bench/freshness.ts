import { setTimeout as sleep } from 'node:timers/promises';
import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import type { LoadReport } from './whole/load-process.ts';
import { startProduct, type Product } from './whole/product.ts';

const EVENTS_PER_SECOND = 5_000;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
const POLL_MS = 15;

/** Past events for the backfill of a new meter version: more than it can count during the load. */
const PAST_EVENTS = Number(process.env['BENCH_PAST_EVENTS'] ?? 1_000_000);

/**
 * Time from the 202 of one event to the first usage answer that counts it, under 5,000 events a second.
 * A probe sends an event for a separate customer and polls usage until it counts the event. With
 * `--backfill`, the backfill of a new meter runs at the same time, over events sent before.
 */
export async function run({ backfill = false }: BenchOptions = {}): Promise<BenchRow[]> {
  const product = await startProduct();
  try {
    const eventNames = ['bench.count', 'bench.sum', 'bench.max'];
    const [countMeter] = await product.createMeters(eventNames);
    if (backfill) await sendPast(product);
    const load = await product.startLoad({
      eventsPerSecond: EVENTS_PER_SECOND,
      seconds: SECONDS,
      eventNames,
    });
    const sending = load.ask<LoadReport>('go');
    if (backfill)
      await product.api.post('/meters', {
        name: 'Bench past',
        event_name: PAST_NAME,
        aggregation: { type: 'SUM', field: 'tokens' },
        filters: [],
        reset_usage: 'BILLING_PERIOD',
      });
    await sleep(3_000);
    const delays: number[] = [];
    let report: LoadReport | null = null;
    void sending.then((answer) => (report = answer));
    for (let probe = 0; report === null; probe += 1)
      delays.push(await delayOf(product, countMeter!, probe));
    const { accepted, seconds } = await sending;
    await load.stop();
    delays.sort((a, b) => a - b);
    const at = (share: number): number =>
      delays[Math.min(delays.length - 1, Math.floor(delays.length * share))]!;
    return [
      benchRow(
        `freshness p99, accepted to visible${backfill ? `, while ${PAST_EVENTS} events are filled in` : ''}`,
        at(0.99),
        'ms',
        null,
        `p50 ${at(0.5).toFixed(0)} ms, p90 ${at(0.9).toFixed(0)} ms, ${delays.length} probes asked every ${POLL_MS} ms ` +
          `while ${Math.round(accepted / seconds)} events/s were accepted`,
      ),
    ];
  } finally {
    await product.close();
  }
}

const PAST_NAME = 'bench.past';

/** Sends as fast as the edge accepts, then waits until the stream has processed all events. */
async function sendPast(product: Product): Promise<void> {
  const load = await product.startLoad({
    eventsPerSecond: 20_000,
    seconds: PAST_EVENTS / 20_000,
    eventNames: [PAST_NAME],
  });
  const { accepted } = await load.ask<LoadReport>('go');
  await load.stop();
  while ((await product.visibleEvents()) < accepted) await sleep(250);
}

async function delayOf(product: Product, meterId: string, probe: number): Promise<number> {
  const customer = `probe-${probe}`;
  await product.api.post('/events', {
    event_id: `probe-event-${probe}`,
    event_name: 'bench.count',
    external_customer_id: customer,
    properties: { tokens: 1 },
  });
  const acceptedAt = performance.now();
  for (;;) {
    const usage = await product.api.post<{ value: number | null }>('/events/usage/meter', {
      meter_id: meterId,
      external_customer_id: customer,
    });
    if (Number(usage.value ?? 0) === 1) return performance.now() - acceptedAt;
    if (performance.now() - acceptedAt > 30_000)
      throw new Error(`${customer} is not visible after 30 s`);
    await sleep(POLL_MS);
  }
}
