import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { eventually } from '../../support/metering-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** A balance is that of one moment, also while its usage becomes an invoice (money 2.8). */
const world = billingWorldFrom(day('2026-11-20'));

/** A wallet of 100 whose customer used 18.40 in November, and the state in which the period is closed. */
async function closing() {
  const { api, catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.usage(plan, meter, { amount: '1' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, { start_date: day('2026-11-01') });
  await world.usage.use(meter, customer, day('2026-11-10'), '18.4');
  const wallet = await api.postOk('/v1/wallets', {
    ...{ customer_id: customer.id, currency: 'usd', initial_credits_to_load: '100' },
  });
  const balance = async () =>
    (await api.get(`/v1/wallets/${wallet.id}/balance/real-time`)).body.real_time_balance;
  return { subscription, wallet, balance };
}

test.each([['invoices'], ['subscriptions'], ['wallets']])(
  'a period that is closed while the balance waits for %s counts once',
  async (table) => {
    const { pool, clock } = world.api;
    const { subscription, balance } = await closing();
    clock.set(day('2026-12-02'));
    expect(await balance()).toBe('81.6');
    await world.close();
    expect(await balance()).toBe('81.6');

    // Back to the moment before the period was closed.
    const period = (start: string, end: string) => ({
      ...{ current_period_start: day(start), current_period_end: day(end) },
    });
    const before = period('2026-11-01', '2026-12-01');
    const after = period('2026-12-01', '2027-01-01');
    const is = pool`id = ${subscription.id}`;
    const isOf = pool`subscription_id = ${subscription.id}`;
    await pool`update subscriptions set ${pool({ ...before })} where ${is}`;
    await pool`update invoices set status = 'archived' where ${isOf}`;
    expect(await balance()).toBe('81.6');

    const read = await pool.begin(async (tx) => {
      await tx`lock table ${tx(table)} in access exclusive mode`;
      const started = balance();
      await eventually(async () => {
        const waiting = await pool`
          select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`;
        expect(waiting.length).toBeGreaterThan(0);
      });
      await tx`update subscriptions set ${tx({ ...after })} where ${is}`;
      await tx`update invoices set status = 'published' where ${isOf}`;
      return { started };
    });
    expect(await read.started).toBe('81.6');
    expect(await balance()).toBe('81.6');
  },
);
