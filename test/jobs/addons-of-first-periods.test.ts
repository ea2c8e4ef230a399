import { billingWorldFrom } from '../support/billing-world.ts';
import { day } from '../support/day.ts';

const world = billingWorldFrom(day('2026-01-01'));

/** A subscription from 1 January of a fee of 30, with an addon that ends with the period in which it starts. */
async function subscribed(more: object) {
  const { catalog } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '30', { display_name: 'Base' });
  const addon = await world.api.postOk('/v1/addons', {
    name: 'Pack',
    lookup_key: plan.id.toLowerCase(),
  });
  const price = { entity_type: 'ADDON' };
  await catalog.fixed(addon, '31', { ...price, display_name: 'Pack' });
  await catalog.fixed(addon, '5', { ...price, display_name: 'Once', billing_period: 'ONETIME' });
  await world.api.postOk('/v1/creditgrants', {
    name: 'Credits', scope: 'PLAN', plan_id: plan.id, credits: '1', cadence: 'ONETIME',
    expiration_type: 'NEVER',
  }); // prettier-ignore
  return await catalog.subscribe(await catalog.customer(), plan, {
    start_date: day('2026-01-01'),
    addons: [{ addon_id: addon.id, cadence: 'onetime' }],
    ...more,
  });
}
async function closeUntil(at: string): Promise<void> {
  world.api.clock.set(at);
  while ((await world.close())?.['advanced'] !== 0);
}
const rows = (invoice: any): string[] =>
  invoice.line_items.map(
    (line: any) =>
      `${line.display_name} ${line.amount} ${line.period_start.slice(5, 10)}..${line.period_end.slice(5, 10)}`,
  );
async function billed({ id }: { id: string }): Promise<string[][]> {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  const paid = body.items.filter(
    ({ billing_reason }: any) => billing_reason !== 'SUBSCRIPTION_TRIAL_START',
  );
  return paid.toReversed().map(rows);
}
const timesOf = async ({ id }: { id: string }) =>
  (
    await world.api.pool`
      select start_date, end_date from addon_associations where subscription_id = ${id}`
  )[0];

describe('an addon that ends with the period in which it starts (billing 10.5, 15)', () => {
  test('a draft that begins later: it is in the first period', async () => {
    const draft = await subscribed({ subscription_status: 'draft' });
    await closeUntil(day('2026-05-11'));
    await world.api.postOk(`/v1/subscriptions/${draft.id}/activate`, {
      start_date: day('2026-05-11'),
    });
    await closeUntil(day('2026-06-12'));
    expect(await billed(draft)).toEqual([
      ['Base 30 05-11..06-11', 'Pack 31 05-11..06-11', 'Once 5 05-11..05-11'],
      ['Base 30 06-11..07-11'],
    ]);
    expect(await timesOf(draft)).toEqual({
      start_date: day('2026-05-11'),
      end_date: day('2026-06-11'),
    });
  });

  test('a draft that begins earlier: it does not reach into the second period', async () => {
    world.api.clock.set(day('2026-03-01'));
    const draft = await subscribed({
      subscription_status: 'draft',
      start_date: day('2026-03-01'),
    });
    await world.api.postOk(`/v1/subscriptions/${draft.id}/activate`, {
      start_date: day('2026-02-15'),
    });
    await closeUntil(day('2026-03-16'));
    expect(await billed(draft)).toEqual([
      ['Base 30 02-15..03-15', 'Pack 31 02-15..03-15', 'Once 5 02-15..02-15'],
      ['Base 30 03-15..04-15'],
    ]);
  });

  test.each([
    ['ended now', { action: 'immediate' }, '2026-01-04'],
    ['shorter', { action: 'scheduled_date', new_trial_end: day('2026-01-08') }, '2026-01-08'],
    ['longer', { action: 'scheduled_date', new_trial_end: day('2026-01-25') }, '2026-01-25'],
  ])('a trial that is %s: it ends with the trial and is not charged', async (_, change, end) => {
    const subscription = await subscribed({
      trial_period_days: 14,
      proration_behavior: 'create_prorations',
    });
    await closeUntil(day('2026-01-04'));
    const body = { type: 'trial_end', trial_end_params: change };
    const shown = await world.api.postOk(
      `/v1/subscriptions/${subscription.id}/modify/preview`,
      body,
    );
    await world.api.postOk(`/v1/subscriptions/${subscription.id}/modify/execute`, body);
    await closeUntil(day(end));
    const [first] = await billed(subscription);
    expect(first).toHaveLength(1);
    expect(first![0]).toMatch(/^Base 30 /);
    for (const { invoice } of shown.changed_resources.invoices)
      expect(rows(invoice)).toEqual(first);
    expect((await timesOf(subscription))!['end_date']).toBe(day(end));
  });
});
