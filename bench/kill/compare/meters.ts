import { thousandths, type Totals } from '../ledger.ts';
import type { Tree } from '../tree.ts';
import { ask, differs, ofEach, type Compared, type Comparison } from './comparison.ts';

/** The meters of a run, each with what it must count. */
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

export async function createMeters(tree: Tree): Promise<string[]> {
  const ids: string[] = [];
  for (const { type, field } of METERS) {
    const aggregation = field === null ? { type } : { type, field };
    const meter = await ask<{ id: string }>(tree, {
      method: 'POST',
      path: '/meters',
      body: {
        name: `Kill ${type}`,
        event_name: 'kill.sample',
        aggregation,
        filters: [],
        reset_usage: 'BILLING_PERIOD',
      },
    });
    ids.push(meter.id);
  }
  return ids;
}

/** Usage of one meter in the period of the run. */
export async function meterValue(
  { tree, period }: Compared,
  meter_id: string,
  external_customer_id: string,
): Promise<number | null> {
  const answer = await ask<{ value: number | null }>(tree, {
    method: 'POST',
    path: '/events/usage/meter',
    body: { meter_id, external_customer_id, start_time: period.start, end_time: period.end },
  });
  return answer.value;
}

/** Usage by meter, from buckets and rows. */
export const meters: Comparison = {
  name: 'meters',
  differences: (world) =>
    ofEach(world.totals, async ([customer, totals]) => {
      const found: string[] = [];
      for (const [index, { type, expected }] of METERS.entries()) {
        const value = await meterValue(world, world.meterIds[index]!, customer);
        found.push(...differs(`${type} of ${customer}`, value, expected(totals)));
      }
      return found;
    }),
};

/** Usage by the meter that was edited: its newest version counts everything, and nothing twice. */
export const editedMeter: Comparison = {
  name: 'edited meter',
  differences(world) {
    const { meterId, factor } = world.edits;
    return ofEach(world.totals, async ([customer, { sum }]) => {
      const value = await meterValue(world, meterId, customer);
      return differs(`version ${factor} of ${customer}`, value, thousandths(sum * BigInt(factor)));
    });
  },
};
