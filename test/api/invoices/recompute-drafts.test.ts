import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

const enable = (enabled: boolean) =>
  world.api.put('/v1/settings/draft_invoice_recompute_config', { value: { enabled } });
const read = async ({ id }: { id: string }) => (await world.api.get(`/v1/invoices/${id}`)).body;
const told = async ({ id }: { id: string }) =>
  (
    await world.api.pool`
      select event_type from outbox where entity_id = ${id} and event_type = 'invoice.update'`
  ).length;

/** Drafts of April, computed on 1 May: 3 calls at 2.00. */
async function drafted() {
  const { api, catalog, usage } = world;
  api.clock.set(day('2026-04-01'));
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.usage(plan, meter, { amount: '2', display_name: 'Calls' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, { start_date: day('2026-04-01') });
  await usage.use(meter, customer, day('2026-04-05'), '3');
  api.clock.set(day('2026-05-01'));
  await api.pool`update subscriptions set due_at = null where id <> ${subscription.id}`;
  await world.close();
  const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  const draft = body.items[0];
  expect(draft).toMatchObject({ invoice_status: 'DRAFT', total: '6' });
  await usage.use(meter, customer, day('2026-04-06'), '2');
  return { draft };
}

/** The setting draft_invoice_recompute_config (billing 17.8). */
describe('the daily computation of drafts', () => {
  test('takes late usage in where the setting is enabled, and nowhere else', async () => {
    await enable(false);
    const { draft } = await drafted();
    world.api.clock.set(day('2026-05-02'));
    expect(await world.recomputeDrafts()).toEqual({ recomputed: 0, failed: 0 });
    expect((await read(draft)).total).toBe('6');

    await enable(true);
    const before = await told(draft);
    expect(await world.recomputeDrafts()).toMatchObject({ failed: 0 });
    expect(await read(draft)).toMatchObject({
      invoice_status: 'DRAFT',
      total: '10',
      last_computed_at: day('2026-05-02'),
    });
    expect(await told(draft)).toBe(before + 1);
    // Not due again on the same day.
    expect(await world.recomputeDrafts()).toEqual({ recomputed: 0, failed: 0 });
  });

  test('leaves drafts that were computed today, edited drafts and final invoices', async () => {
    await enable(true);
    const { draft: fresh } = await drafted();
    expect(await world.recomputeDrafts()).toEqual({ recomputed: 0, failed: 0 });
    expect((await read(fresh)).total).toBe('6');

    const { draft: edited } = await drafted();
    const { status } = await world.api.post(`/v1/invoices/${edited.id}/modify/execute`, {
      line_items: [{ action: 'add', display_name: 'Fee', quantity: '1', amount: '5' }],
    });
    const { draft: final } = await drafted();
    await world.api.pool`
      update invoices set invoice_status = 'FINALIZED', finalize_after = null where id = ${final.id}`;
    world.api.clock.set(day('2026-05-02'));
    await world.recomputeDrafts();
    expect((await read(final)).total).toBe('6');
    expect([status, (await read(edited)).total]).toEqual([200, '11']);
    expect((await read(fresh)).total).toBe('10');
    await world.api.pool`update invoices set invoice_status = 'DRAFT' where id = ${final.id}`;
  });

  test('refuses a value that is no switch', async () => {
    const { status } = await world.api.put('/v1/settings/draft_invoice_recompute_config', {
      value: { enabled: 'daily' },
    });
    expect(status).toBe(400);
  });
});
