import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { planOfMany } from '../../support/plan-of-many.ts';

const LINES = Number(process.env['LINES'] ?? 1_000);

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** A subscription of many fees of 0.01, of which half of the period is over. */
async function subscribed(): Promise<{ id: string }> {
  api.clock.set('2026-04-01T00:00:00.000Z');
  const catalog = catalogOf(api);
  const plan = await planOfMany(api, LINES);
  const subscription = await catalog.subscribe(await catalog.customer(), plan, {
    billing_cycle: 'anniversary',
    proration_behavior: 'create_prorations',
  });
  api.clock.set('2026-04-16T00:00:00.000Z');
  return subscription;
}

/** Each fee returns 0.005, rounded to a cent. */
const RETURNED = LINES / 100;

describe('a change of a subscription of many lines', () => {
  test('a cancellation credits all of them', async () => {
    const { id } = await subscribed();
    await api.postOk(`/v1/subscriptions/${id}/cancel`, { cancellation_type: 'immediate' });
    const { customer_id } = (await api.get(`/v1/subscriptions/${id}`)).body;
    const [wallet] = (await api.get(`/v1/customers/${customer_id}/wallets`)).body;
    expect(Number(wallet.balance)).toBe(RETURNED);
  });

  test('a plan change credits and charges all of them', async () => {
    const { id } = await subscribed();
    const target = await planOfMany(api, LINES);
    const change = {
      target_plan_id: target.id,
      proration_behavior: 'create_prorations',
      billing_cadence: 'RECURRING',
      billing_period: 'MONTHLY',
      billing_cycle: 'anniversary',
    };
    const shown = await api.postOk(`/v1/subscriptions/${id}/change/preview`, change);
    expect(Number(shown.proration_details.credit_amount)).toBe(RETURNED);
    expect(Number(shown.proration_details.charge_amount)).toBe(RETURNED);
    await api.postOk(`/v1/subscriptions/${id}/change/execute`, change);
    const { line_items } = (await api.get(`/v1/subscriptions/${id}`)).body;
    const running = line_items.filter((line: any) => line.end_date === null);
    expect(running).toHaveLength(LINES);
    expect(new Set(running.map((line: any) => line.entity_id))).toEqual(new Set([target.id]));
  });
});
