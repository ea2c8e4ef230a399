import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

const world = billingWorldFrom('2026-03-21T00:00:00.000Z');

async function subscribed() {
  const { catalog } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '31', { display_name: 'Base' });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, { start_date: day('2026-03-01') });
  return { customer, subscription };
}
const cancel = (subscription: { id: string }, body: object) =>
  world.api.post(`/v1/subscriptions/${subscription.id}/cancel`, body);
const read = async (subscription: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body;
const schedulesOf = async (subscription: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${subscription.id}/schedules`)).body;

describe('a cancellation with a date', () => {
  test('is a pending schedule; the job executes it and returns the advance', async () => {
    const { subscription, customer } = await subscribed();
    await cancel(subscription, {
      cancellation_type: 'scheduled_date',
      cancel_at: day('2026-03-27'),
      proration_behavior: 'create_prorations',
    });
    const { schedules, count } = await schedulesOf(subscription);
    expect(count).toBe(1);
    expect(schedules).toMatchObject([
      {
        schedule_type: 'cancellation',
        scheduled_at: day('2026-03-27'),
        status: 'pending',
        can_be_cancelled: true,
        days_until_execution: 6,
      },
    ]);
    world.api.clock.set(day('2026-03-28'));
    await world.close();
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'cancelled',
      end_date: day('2026-03-27'),
      current_period_end: day('2026-04-01'),
    });
    const { body: wallets } = await world.api.get(`/v1/customers/${customer.id}/wallets`);
    expect(wallets).toMatchObject([{ balance: '5' }]);
    const { body } = await world.api.get(`/v1/subscriptions/schedules/${schedules[0].id}`);
    expect(body).toMatchObject({ status: 'executed', can_be_cancelled: false });
    await world.close();
    expect((await world.api.get(`/v1/customers/${customer.id}/wallets`)).body[0].balance).toBe('5');
  });

  test('can be withdrawn by its id, by subscription and type, and by the paths of existing clients', async () => {
    const { subscription } = await subscribed();
    const paths = [
      (id: string) =>
        world.api.post(`/v1/subscriptions/schedules/${id}/cancel`, { schedule_id: id }),
      (id: string) =>
        world.api.post(`/v1/v1/subscriptions/schedules/${id}/cancel`, { schedule_id: id }),
      () =>
        world.api.post('/v1/subscriptions/schedules/cancel', {
          subscription_id: subscription.id,
          schedule_type: 'cancellation',
        }),
    ];
    for (const withdraw of paths) {
      await cancel(subscription, { cancellation_type: 'end_of_period' });
      expect(await read(subscription)).toMatchObject({ cancel_at_period_end: true });
      const [{ id }] = (await schedulesOf(subscription)).schedules;
      const { status, body } = await withdraw(id);
      expect({ status, body }).toMatchObject({ status: 200, body: { status: 'cancelled' } });
      expect(await read(subscription)).toMatchObject({
        cancel_at: null,
        cancel_at_period_end: false,
        subscription_status: 'active',
      });
      expect((await paths[0]!(id)).status).toBe(400);
      const byType = { subscription_id: subscription.id, schedule_type: 'cancellation' };
      const again = await world.api.post('/v1/subscriptions/schedules/cancel', byType);
      expect(again).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    }
    const other = { subscription_id: subscription.id, schedule_type: 'plan_change' };
    expect((await world.api.post('/v1/subscriptions/schedules/cancel', other)).status).toBe(404);
    world.api.clock.set(day('2026-04-02'));
    await world.close();
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      current_period_start: day('2026-04-01'),
    });
  });

  test('lists: by subscription, type and status; the aliases answer the same', async () => {
    const { subscription } = await subscribed();
    await cancel(subscription, { cancellation_type: 'end_of_period' });
    const query = `subscription_ids=${subscription.id}&schedule_type=cancellation`;
    const { body } = await world.api.get(`/v1/subscriptions/schedules?${query}`);
    expect(body).toMatchObject({ count: 1 });
    const alias = await world.api.get(`/v1/v1/subscription-schedules?${query}`);
    expect(alias.body).toEqual(body);
    const own = await world.api.get(`/v1/v1/subscriptions/${subscription.id}/schedules`);
    expect(own.body).toEqual(body);
    const one = await world.api.get(`/v1/v1/subscription-schedules/${body.schedules[0].id}`);
    expect(one.body).toEqual(body.schedules[0]);
    const none = await world.api.get(`/v1/subscriptions/schedules?${query}&schedule_status=failed`);
    expect(none.body).toEqual({ schedules: [], count: 0 });
    const list = (more: string) => world.api.get(`/v1/subscriptions/schedules?${query}${more}`);
    expect((await list('&status=pending')).body).toMatchObject({ count: 1 });
    expect((await list('&status=failed')).body).toMatchObject({ count: 0 });
    expect((await list('&status=archived')).status).toBe(400);
    expect((await list('&status=failed&schedule_status=pending')).status).toBe(400);
    const { id } = body.schedules[0];
    const withdraw = `/v1/subscriptions/schedules/${id}/cancel`;
    const unnamed = await world.api.post(withdraw, {});
    expect([unnamed.status, unnamed.body.details[0].path]).toEqual([400, 'schedule_id']);
    // A call without a body is not one with an empty object.
    expect((await world.api.call('POST', withdraw)).status).toBe(200);
    for (const [pending, count] of [
      ['', 0],
      ['&pending_only=true', 0],
      ['&pending_only=false', 1],
    ] as const)
      expect(
        (await world.api.get(`/v1/subscriptions/schedules?${query}${pending}`)).body.count,
      ).toBe(count);
    expect((await world.api.get('/v1/subscriptions/schedules/sched_x')).status).toBe(404);
  });

  test('an immediate cancellation supersedes it', async () => {
    const { subscription } = await subscribed();
    await cancel(subscription, { cancellation_type: 'end_of_period' });
    const [{ id }] = (await schedulesOf(subscription)).schedules;
    await cancel(subscription, { cancellation_type: 'immediate' });
    const { body } = await world.api.get(`/v1/subscriptions/schedules/${id}`);
    expect(body.status).toBe('cancelled');
  });
});

describe('PUT /subscriptions/{id}', () => {
  const put = (subscription: { id: string }, body: object) =>
    world.api.put(`/v1/subscriptions/${subscription.id}`, body);

  test('sets and withdraws the end', async () => {
    const { subscription } = await subscribed();
    const ended = await put(subscription, { cancel_at_period_end: true });
    expect(ended.body).toMatchObject({
      cancel_at: day('2026-04-01'),
      cancel_at_period_end: true,
      subscription_status: 'active',
    });
    const moved = await put(subscription, { cancel_at: day('2026-03-25') });
    expect(moved.body).toMatchObject({
      cancel_at: day('2026-03-25'),
      cancel_at_period_end: false,
    });
    expect((await put(subscription, { cancel_at: null })).body.cancel_at).toBeNull();
    expect((await put(subscription, { status: 'active' })).status).toBe(200);
    expect((await put(subscription, { status: 'cancelled' })).body.subscription_status).toBe(
      'cancelled',
    );
  });

  test('refuses unsupported changes', async () => {
    const { subscription } = await subscribed();
    expect((await put(subscription, { status: 'paused' })).status).toBe(400);
    const both = { cancel_at: day('2026-03-25'), cancel_at_period_end: true };
    expect((await put(subscription, both)).status).toBe(400);
    expect((await put({ id: 'subs_00000000000000000000000000' }, {})).status).toBe(404);
  });
});
