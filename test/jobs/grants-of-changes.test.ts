import { applyCreditGrants } from '../../jobs/apply-credit-grants.ts';
import { runJob } from '../../jobs/run-job.ts';
import { createLogger } from '../../platform/log.ts';
import { billingWorldFrom } from '../support/billing-world.ts';
import { day } from '../support/day.ts';

/** Credits of addons and of plans that a subscription changes to (money 5.2.5, 5.2.6, 5.6.1). */
const world = billingWorldFrom(day('2026-04-01'));

const granted = (scope: 'PLAN' | 'ADDON', id: string, credits: string, more: object = {}) =>
  world.api.postOk('/v1/creditgrants', {
    name: 'Credits',
    scope,
    [scope === 'PLAN' ? 'plan_id' : 'addon_id']: id,
    credits,
    cadence: 'RECURRING',
    period: 'MONTHLY',
    period_count: 1,
    expiration_type: 'NEVER',
    ...more,
  });
async function planWith(credits: string | null) {
  const plan = await world.catalog.plan();
  await world.catalog.fixed(plan, '30');
  if (credits !== null) await granted('PLAN', plan.id, credits);
  return plan;
}
let packs = 0;
async function addonWith(credits: string, more: object = {}) {
  const addon = await world.api.postOk('/v1/addons', {
    name: 'Pack',
    lookup_key: `pack${(packs += 1)}`,
  });
  await granted('ADDON', addon.id, credits, more);
  return addon;
}
async function subscribed(credits: string | null, more: object = {}) {
  const customer = await world.catalog.customer();
  const plan = await planWith(credits);
  const start = { start_date: day('2026-04-01'), proration_behavior: 'create_prorations' };
  const subscription = await world.catalog.subscribe(customer, plan, { ...start, ...more });
  return { customer, subscription };
}
type Subscribed = Awaited<ReturnType<typeof subscribed>>;

const modify = ({ subscription }: Subscribed, body: object, how = 'execute') =>
  world.api.postOk(`/v1/subscriptions/${subscription.id}/modify/${how}`, body);
const attach = (to: Subscribed, addon: { id: string }, more: object = {}, how = 'execute') =>
  modify(
    to,
    { type: 'addon', addon_params: { action: 'add', add: { addon_id: addon.id, ...more } } },
    how,
  );
const associations = async ({ subscription }: Subscribed): Promise<{ id: string }[]> =>
  (await world.api.get(`/v1/subscriptions/${subscription.id}/addons/associations`)).body.items;
const changePlan = ({ subscription }: Subscribed, plan: { id: string }, more: object = {}) =>
  world.api.postOk(`/v1/subscriptions/${subscription.id}/change/v2/execute`, {
    target_plan_id: plan.id,
    ...more,
  });

let tick = Date.parse('2000-01-01T00:00:00Z');
const grantsAt = async (at: string) => {
  const { api } = world;
  api.clock.set(at);
  tick += 60_000;
  const now = async () => new Date(api.clock.now()).toISOString();
  const runner = { pool: api.pool, log: createLogger('silent', 'test'), holder: 'test', now };
  await runJob(runner, applyCreditGrants, api.deps, new Date(tick).toISOString());
};
async function closeAt(at: string) {
  world.api.clock.set(at);
  for (;;) if ((await world.close())?.['advanced'] === 0) return;
}
/** Both jobs, at midnight of each day of the list; the credits first, which is the harder order. */
async function until(...days: string[]) {
  for (const date of days) {
    await grantsAt(day(date));
    await closeAt(day(date));
    await grantsAt(day(date));
  }
}
/** What the customer was given, oldest first. */
async function given({ customer }: Subscribed): Promise<string[]> {
  const { body } = await world.api.post('/v1/wallets/transactions/search', {
    customer_id: customer.id,
    transaction_reason: 'SUBSCRIPTION_CREDIT_GRANT',
    limit: 100,
  });
  return body.items.map((row: any) => row.credit_amount).reverse();
}

describe('grants of an addon', () => {
  test('attached with 10 of 30 days left: a third now, all of it each month from then on', async () => {
    const one = await subscribed(null);
    const addon = await addonWith('300');
    world.api.clock.set(day('2026-04-21'));
    await attach(one, addon, {}, 'preview');
    expect(await given(one)).toEqual([]);
    await attach(one, addon);
    expect(await given(one)).toEqual(['100']);
    await until('2026-04-30', '2026-05-01', '2026-05-21', '2026-06-01');
    expect(await given(one)).toEqual(['100', '300', '300']);
  });

  test('without prorations: all of it from the attachment on, each month of its own', async () => {
    const one = await subscribed(null);
    world.api.clock.set(day('2026-04-21'));
    await attach(one, await addonWith('300'), { proration_behavior: 'none' });
    expect(await given(one)).toEqual(['300']);
    await until('2026-05-01', '2026-05-20');
    expect(await given(one)).toEqual(['300']);
    await until('2026-05-21');
    expect(await given(one)).toEqual(['300', '300']);
  });

  test('weekly and one-time grants are never prorated', async () => {
    const one = await subscribed(null);
    world.api.clock.set(day('2026-04-21'));
    await attach(one, await addonWith('70', { period: 'WEEKLY' }));
    world.api.clock.set('2026-04-21T00:01:00.000Z');
    await attach(one, await addonWith('5', { cadence: 'ONETIME', period: undefined, period_count: undefined })); // prettier-ignore
    expect(await given(one)).toEqual(['70', '5']);
    await until('2026-04-28', '2026-05-01');
    expect(await given(one)).toEqual(['70', '5', '70']);
  });

  test('its credits are for each unit, and those of a new subscription begin with it', async () => {
    const addon = await addonWith('300');
    const one = await subscribed(null, { addons: [{ addon_id: addon.id, quantity: 3 }] });
    expect(await given(one)).toEqual(['900']);
    await until('2026-05-01');
    expect(await given(one)).toEqual(['900', '900']);
  });

  test('in a trial they begin at its end', async () => {
    const one = await subscribed(null, {
      start_date: day('2026-03-28'),
      proration_behavior: 'none',
      trial_start: day('2026-03-28'),
      trial_end: day('2026-04-11'),
    });
    world.api.clock.set(day('2026-04-03'));
    await attach(one, await addonWith('300'));
    await until('2026-04-10');
    expect(await given(one)).toEqual([]);
    await until('2026-04-11', '2026-05-10');
    expect(await given(one)).toEqual(['300']);
    await until('2026-05-11');
    expect(await given(one)).toEqual(['300', '300']);
  });

  test('the end of one instance ends its grants, and not those of another', async () => {
    const one = await subscribed(null);
    const addon = await addonWith('300');
    await attach(one, addon);
    await attach(one, addon);
    const [first] = await associations(one);
    await modify(one, {
      type: 'addon',
      addon_params: { action: 'remove', remove: { addon_association_id: first!.id } },
    });
    expect(await given(one)).toEqual(['300', '300']);
    await until('2026-05-01');
    expect(await given(one)).toEqual(['300', '300', '300']);
  });

  test('an addon for one period gives nothing after it', async () => {
    const one = await subscribed(null);
    world.api.clock.set(day('2026-04-21'));
    await attach(one, await addonWith('300'), { cadence: 'onetime' });
    await until('2026-05-01', '2026-06-01');
    expect(await given(one)).toEqual(['100']);
  });

  test('periods that begin on the 31st keep their day', async () => {
    world.api.clock.set(day('2026-01-31'));
    const one = await subscribed(null, { start_date: day('2026-01-31') });
    world.api.clock.set(day('2026-02-14'));
    await attach(one, await addonWith('280'));
    expect(await given(one)).toEqual(['140']);
    await until('2026-02-28', '2026-03-28');
    expect(await given(one)).toEqual(['140', '280']);
    await until('2026-03-31', '2026-04-29');
    expect(await given(one)).toEqual(['140', '280', '280']);
    await until('2026-04-30');
    expect(await given(one)).toEqual(['140', '280', '280', '280']);
  });
});

describe('grants of a plan that is changed', () => {
  test('now: given credits stay, the new plan gives its share now and all of it each month', async () => {
    const one = await subscribed('60');
    world.api.clock.set(day('2026-04-21'));
    await changePlan(one, await planWith('300'));
    expect(await given(one)).toEqual(['60', '100']);
    await until('2026-05-01', '2026-06-01');
    expect(await given(one)).toEqual(['60', '100', '300', '300']);
  });

  test('without prorations the new plan gives all of it at once, then each month', async () => {
    const one = await subscribed('60');
    world.api.clock.set(day('2026-04-21'));
    await changePlan(one, await planWith('300'), { proration_behavior: 'none' });
    await until('2026-05-01', '2026-05-21');
    expect(await given(one)).toEqual(['60', '300', '300']);
  });

  test('at the end of the period: the boundary belongs to the new plan, whichever job is first', async () => {
    const one = await subscribed('60');
    await changePlan(one, await planWith('300'), { change_at: 'end_of_period' });
    await until('2026-05-01', '2026-06-01');
    expect(await given(one)).toEqual(['60', '300', '300']);
  });

  test('the grants of the subscription itself and of kept addons continue, those of dropped addons end', async () => {
    const one = await subscribed('60');
    await world.api.postOk('/v1/creditgrants', {
      name: 'Own', scope: 'SUBSCRIPTION', subscription_id: one.subscription.id, credits: '7', cadence: 'RECURRING',
      period: 'MONTHLY', period_count: 1, expiration_type: 'NEVER', start_date: day('2026-04-01'),
    }); // prettier-ignore
    await attach(one, await addonWith('11'));
    await attach(one, await addonWith('13'));
    const [, dropped] = await associations(one);
    await changePlan(one, await planWith(null), {
      entity_policies: {
        addons: { default_behaviour: 'carry', overrides: { [dropped!.id]: 'drop' } },
      },
    });
    const before = (await given(one)).length;
    await until('2026-05-01');
    const kept = (await given(one)).slice(before).sort();
    expect([['11', '7'], ['13', '7']]).toContainEqual(kept); // prettier-ignore
    expect(before).toBe(4);
  });
});

describe('grants of a trial whose end moves', () => {
  const trial = {
    start_date: day('2026-04-01'),
    proration_behavior: 'none',
    trial_start: day('2026-04-01'),
    trial_end: day('2026-04-15'),
  };

  test('they begin at the new end', async () => {
    const one = await subscribed('60', trial);
    await modify(one, {
      type: 'trial_end',
      trial_end_params: { action: 'scheduled_date', new_trial_end: day('2026-04-20') },
    });
    await until('2026-04-15', '2026-04-19');
    expect(await given(one)).toEqual([]);
    await until('2026-04-20', '2026-05-15');
    expect(await given(one)).toEqual(['60']);
    await until('2026-05-20');
    expect(await given(one)).toEqual(['60', '60']);
  });

  test('the trial ends now: the credits are there with the answer', async () => {
    const one = await subscribed('60', trial);
    world.api.clock.set(day('2026-04-05'));
    await modify(one, { type: 'trial_end', trial_end_params: { action: 'immediate' } });
    expect(await given(one)).toEqual(['60']);
    await until('2026-04-15', '2026-05-05');
    expect(await given(one)).toEqual(['60', '60']);
  });
});
