import { thousandths } from '../ledger.ts';
import { ask, differs, ofEach, type Compared, type Comparison } from './comparison.ts';

interface Window {
  readonly window_size: string;
  readonly value: number;
}

/** Usage by meter in windows: the sum of each day, and the count of each hour. */
export const windows: Comparison = {
  name: 'windows',
  differences: (world) =>
    ofEach(world.totals, async ([customer, { days, hours }]) => {
      const found: string[] = [];
      const sums = await windowsOf(world, customer, world.meterIds[1]!, 'DAY');
      const counts = await windowsOf(world, customer, world.meterIds[0]!, 'HOUR');
      for (const [start, sum] of days)
        found.push(
          ...differs(`day ${nameOf(start)} of ${customer}`, take(sums, start), thousandths(sum)),
        );
      for (const [start, count] of hours)
        found.push(...differs(`hour ${nameOf(start)} of ${customer}`, take(counts, start), count));
      for (const [start, value] of [...sums, ...counts])
        found.push(...differs(`${nameOf(start)} of ${customer}, where nothing was sent`, value, 0));
      return found;
    }),
};

const nameOf = (start: number): string => new Date(start).toISOString();

function take(of: Map<number, number>, start: number): number {
  const value = of.get(start) ?? 0;
  of.delete(start);
  return value;
}

async function windowsOf(
  { tree, period }: Compared,
  external_customer_id: string,
  meter_id: string,
  window_size: 'DAY' | 'HOUR',
): Promise<Map<number, number>> {
  const { results } = await ask<{ results: Window[] | null }>(tree, {
    method: 'POST',
    path: '/events/usage/meter',
    body: {
      meter_id,
      external_customer_id,
      start_time: period.start,
      end_time: period.end,
      window_size,
      timezone: 'UTC',
    },
  });
  return new Map((results ?? []).map((each) => [Date.parse(each.window_size), each.value]));
}
