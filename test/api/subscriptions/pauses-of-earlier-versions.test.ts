import { readFile } from 'node:fs/promises';
import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Subscriptions that were paused before their earlier anchors were remembered (migration 0360). */
let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

const day = (text: string) => (text.length === 10 ? `${text}T00:00:00.000Z` : text);
async function at(date: string) {
  world.api.clock.set(day(date));
  for (let turn = 0; turn < 3; turn += 1) await world.close();
}
const post = ({ id }: { id: string }, path: string, body: object = {}) =>
  world.api.postOk(`/v1/subscriptions/${id}/${path}`, body);
async function pause(subscription: { id: string }, from: string, until: string) {
  await at(from);
  await post(subscription, 'pause', { pause_end: day(until) });
  await at(until);
}

const anchorsOf = async (ids: readonly string[]) =>
  new Map(
    (
      await world.api.pool<{ id: string; earlier_anchors: object[] }[]>`
        select id, earlier_anchors from subscriptions where id = any(${ids as string[]})`
    ).map(({ id, earlier_anchors }) => [id, earlier_anchors]),
  );
async function migrate() {
  const file = 'postgres/migrations/0360_anchors_before_earlier_pauses.sql';
  await world.api.pool.unsafe(await readFile(file, 'utf8'));
}

test('the migration finds the anchors that the pauses moved', async () => {
  const { catalog, api } = world;
  api.clock.set(day('2026-01-01'));
  const plan = await catalog.plan('Small');
  await catalog.fixed(plan, '50');
  const larger = await catalog.plan('Large');
  await catalog.fixed(larger, '90');
  const subscribe = async (more: object = {}) =>
    await catalog.subscribe(await catalog.customer(), plan, {
      start_date: day('2026-01-01'),
      ...more,
    });
  const several = await subscribe();
  const atEnd = await subscribe();
  const changed = await subscribe();
  const anchored = await subscribe({ billing_anchor: day('2026-01-15T09:30:00.000Z') });
  const tried = await subscribe({ trial_period_days: 5 });
  const short = await subscribe({
    start_date: day('2026-01-31'),
    customer_timezone: 'America/New_York',
  });
  const weekly = await catalog.plan('Weekly');
  await catalog.fixed(weekly, '7', { billing_period: 'WEEKLY' });
  const weeks = await catalog.subscribe(await catalog.customer(), weekly, {
    ...{ start_date: day('2026-01-01'), billing_period: 'WEEKLY' },
  });
  const all = [several, atEnd, changed, anchored, tried, short, weeks];
  for (const subscription of [several, changed, anchored, tried, weeks])
    await pause(subscription, '2026-01-20', '2026-01-23');
  await post(atEnd, 'pause', { pause_mode: 'period_end' });
  await pause(several, '2026-01-25', '2026-01-27');
  await at('2026-02-01');
  await pause(short, '2026-02-10', '2026-02-12');
  await post(atEnd, 'resume');
  await post(changed, 'change/v2/execute', {
    ...{ target_plan_id: larger.id, billing_period_behaviour: 'anchor_at_effect' },
  });
  await pause(atEnd, '2026-02-20', '2026-02-24');
  await pause(changed, '2026-03-20', '2026-03-30');
  await pause(several, '2026-04-10', '2026-06-20');
  const ids = all.map(({ id }) => id);
  const known = await anchorsOf(ids);
  expect([...known.values()].map((anchors) => anchors.length).sort()).toEqual([
    1, 1, 1, 1, 1, 2, 2,
  ]);
  await api.pool`update subscriptions set earlier_anchors = '[]' where id = any(${ids})`;
  await migrate();
  expect(await anchorsOf(ids)).toEqual(known);
  await migrate();
  expect(await anchorsOf(ids)).toEqual(known);
});

test('the term of a commitment goes on as the pause left it, by the job', async () => {
  const { catalog, api, usage } = world;
  api.clock.set(day('2026-01-01'));
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.usage(plan, meter, { amount: '1' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    ...{ start_date: day('2026-01-01'), commitment_amount: '90' },
    ...{ commitment_duration: 'QUARTERLY', enable_true_up: true },
  });
  await usage.use(meter, customer, day('2026-01-05'), '10');
  await pause(subscription, '2026-01-11', '2026-03-21');
  await api.pool`update subscriptions set earlier_anchors = '[]' where id = ${subscription.id}`;
  await migrate();
  await at('2026-06-11');
  const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  const amounts = body.items.map(({ period_end, subtotal }: any) => [period_end, subtotal]);
  expect(amounts.sort()).toEqual([
    [day('2026-04-11'), '10'],
    [day('2026-05-11'), '0'],
    [day('2026-06-11'), '80'],
  ]);
});
