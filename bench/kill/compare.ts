import { setTimeout as sleep } from 'node:timers/promises';
import { createApiClient } from '../../main/demo/api-client.ts';
import { clickhouseRows } from './clickhouse-rows.ts';
import { thousandths, type Ledger, type Totals } from './ledger.ts';

export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly clickhouseUrl: string;
}

export const METERS = [
  { type: 'COUNT', field: null, expected: (totals: Totals) => String(totals.count) },
  { type: 'SUM', field: 'value', expected: (totals: Totals) => thousandths(totals.sum) },
  { type: 'MAX', field: 'value', expected: (totals: Totals) => thousandths(totals.max) },
  { type: 'COUNT_UNIQUE', field: 'user', expected: (totals: Totals) => String(totals.users.size) },
  {
    type: 'LATEST',
    field: 'value',
    expected: (totals: Totals) => thousandths(totals.latest.value),
  },
] as const;

export async function createMeters(target: Target): Promise<string[]> {
  const api = createApiClient(target.baseUrl, target.apiKey);
  const ids: string[] = [];
  for (const { type, field } of METERS) {
    const aggregation = field === null ? { type } : { type, field };
    const meter = await api.post<{ id: string }>('/meters', {
      name: `Kill ${type}`,
      event_name: 'kill.sample',
      aggregation,
      filters: [],
      reset_usage: 'BILLING_PERIOD',
    });
    ids.push(meter.id);
  }
  return ids;
}

export interface Verdict {
  readonly lost: number;
  readonly double: number;
  readonly aggDiff: number;
  readonly examples: string[];
}

/** Waits until the stream has caught up, then compares every id and every total. */
export async function compare(
  target: Target,
  meterIds: readonly string[],
  ledger: Ledger,
  period: { start: string; end: string },
  drainSeconds: number,
): Promise<Verdict> {
  const deadline = performance.now() + drainSeconds * 1000;
  for (;;) {
    try {
      const verdict = await compareOnce(target, meterIds, ledger, period);
      if (verdict.lost + verdict.aggDiff === 0 || performance.now() > deadline) return verdict;
    } catch (error) {
      // The last failpoints fire while the backlog is processed; interrupted queries are repeated.
      if (performance.now() > deadline) throw error;
    }
    await sleep(1_000);
  }
}

async function compareOnce(
  target: Target,
  meterIds: readonly string[],
  ledger: Ledger,
  period: { start: string; end: string },
): Promise<Verdict> {
  const examples: string[] = [];
  const api = createApiClient(target.baseUrl, target.apiKey);
  const counted = await canonicalCopies(target.clickhouseUrl);
  let lost = 0;
  let double = 0;
  for (const id of ledger.acknowledged.keys()) {
    const copies = counted.get(id) ?? 0;
    if (copies === 0) lost += 1;
    if (copies > 1) double += 1;
    if (copies !== 1 && examples.length < 5) examples.push(`${id}: counted ${copies} times`);
  }
  let aggDiff = 0;
  for (const [customer, totals] of ledger.totals()) {
    for (const [index, meter] of METERS.entries()) {
      const expected = meter.expected(totals);
      const answer = await api.post<{ value: number | string | null }>('/events/usage/meter', {
        meter_id: meterIds[index],
        external_customer_id: customer,
        start_time: period.start,
        end_time: period.end,
      });
      if (Number(answer.value) === Number(expected)) continue;
      aggDiff += 1;
      if (examples.length < 10)
        examples.push(`${meter.type} of ${customer}: ${answer.value}, expected ${expected}`);
    }
  }
  return { lost, double, aggDiff, examples };
}

/** How often each event id is counted, read from the rows. */
async function canonicalCopies(clickhouseUrl: string): Promise<Map<string, number>> {
  const rows = await clickhouseRows(
    clickhouseUrl,
    `select event_id, sum(is_canonical) from events_raw_v1 final where event_name = 'kill.sample' group by event_id`,
  );
  return new Map(rows.map(([id, copies]) => [id!, Number(copies)]));
}
