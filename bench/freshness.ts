import { setTimeout as sleep } from 'node:timers/promises';
import { benchRow, type BenchRow } from './bench-row.ts';
import type { LoadReport } from './whole/load-process.ts';
import { startProduct, type Product } from './whole/product.ts';

const EVENTS_PER_SECOND = 5_000;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
const POLL_MS = 15;

/**
 * From the 202 of one event to the first usage answer that counts it, while 5,000 events a second come
 * in: a probe sends an event for a customer of its own and asks until it is there.
 */
export async function run(): Promise<BenchRow[]> {
  const product = await startProduct();
  try {
    const eventNames = ['bench.count', 'bench.sum', 'bench.max'];
    const [countMeter] = await product.createMeters(eventNames);
    const load = await product.startLoad({
      eventsPerSecond: EVENTS_PER_SECOND,
      seconds: SECONDS,
      eventNames,
    });
    const sending = load.ask<LoadReport>('go');
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
        'freshness p99, accepted to visible',
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
