import { thousandths } from '../ledger.ts';
import { ask, differs, ofEach, type Compared, type Comparison } from './comparison.ts';
import { METERS } from './meters.ts';

export interface Sold {
  readonly customer: string;
  readonly subscriptionId: string;
}
interface Line {
  readonly meter_id: string | null;
  readonly quantity: string;
}
interface Item {
  readonly meter_id: string;
  readonly total_usage: string;
}
/** Of the prices: COUNT and SUM, whose quantities need no bucket. */
const SOLD_METERS = 2;
const PERIOD_END = '2026-07-01T00:00:00.000Z';

/** Lines of an invoice: the preview of the period, whose usage is read as a real invoice reads it. */
export const invoices: Comparison = {
  name: 'invoice lines',
  async differences(world) {
    return ofEach(await world.sold(), async ({ customer, subscriptionId }) => {
      const { line_items } = await ask<{ line_items: Line[] | null }>(world.tree, {
        method: 'POST',
        path: '/invoices/preview',
        body: {
          subscription_id: subscriptionId,
          period_start: world.period.start,
          period_end: PERIOD_END,
        },
      });
      return expectedOf(world, customer).flatMap(([index, expected]) =>
        differs(
          `invoiced ${METERS[index]!.type} of ${customer}`,
          line_items?.find(({ meter_id }) => meter_id === world.meterIds[index])?.quantity ?? null,
          expected,
        ),
      );
    });
  },
};

/** Usage of subscribed meters as customers and dashboards see it. */
export const analytics: Comparison = {
  name: 'analytics',
  async differences(world) {
    return ofEach(await world.sold(), async ({ customer }) => {
      const { items } = await ask<{ items: Item[] }>(world.tree, {
        method: 'POST',
        path: '/events/analytics',
        body: {
          external_customer_id: customer,
          start_time: world.period.start,
          end_time: PERIOD_END,
        },
      });
      return expectedOf(world, customer).flatMap(([index, expected]) =>
        differs(
          `analytics, ${METERS[index]!.type} of ${customer}`,
          items.find(({ meter_id }) => meter_id === world.meterIds[index])?.total_usage ?? null,
          expected,
        ),
      );
    });
  },
};

function expectedOf({ totals }: Compared, customer: string): [index: number, expected: string][] {
  const { count, sum } = totals.get(customer)!;
  return [
    [0, String(count)],
    [1, thousandths(sum)],
  ];
}

/** Sells the meters to every customer, from the beginning of the period. Faults are over by now. */
export async function sell({
  tree,
  totals,
  meterIds,
  period,
}: Omit<Compared, 'sold'>): Promise<Sold[]> {
  const create = (path: string, body: object) =>
    ask<{ id: string }>(tree, { method: 'POST', path, body });
  const monthly = { billing_period: 'MONTHLY', billing_period_count: 1, currency: 'usd' };
  const plan = await create('/plans', { name: 'Kill' });
  for (const meter_id of meterIds.slice(0, SOLD_METERS))
    await create('/prices', {
      ...monthly,
      entity_type: 'PLAN',
      entity_id: plan.id,
      type: 'USAGE',
      invoice_cadence: 'ARREAR',
      price_unit_type: 'FIAT',
      billing_model: 'FLAT_FEE',
      amount: '0.001',
      meter_id,
      start_date: period.start,
    });
  const made: Sold[] = [];
  for (const customer of totals.keys()) {
    const { id } = await create('/customers', { external_id: customer, name: customer });
    const subscription = await create('/subscriptions', {
      ...monthly,
      customer_id: id,
      plan_id: plan.id,
      start_date: period.start,
    });
    made.push({ customer, subscriptionId: subscription.id });
  }
  return made;
}
