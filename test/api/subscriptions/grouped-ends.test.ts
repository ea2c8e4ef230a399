import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Grouped subscriptions of which one ends within a period of the other (billing 16). */
const world = billingWorldFrom('2026-01-01T00:00:00.000Z');

const rows = (invoice: any) =>
  invoice.line_items.map(
    ({ display_name, amount, period_start, period_end }: any) =>
      `${display_name} ${amount} ${period_start.slice(5, 10)}..${period_end.slice(5, 10)}`,
  );
async function invoicesOf({ id }: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  return body.items.sort((left: any, right: any) => left.billing_sequence - right.billing_sequence);
}

/** 10.00 in arrears from 1 January, to each of the customers, with what the requests say more. */
async function pair(ofParent: object, ofChild: object) {
  const { catalog } = world;
  const sold = await catalog.plan();
  await catalog.fixed(sold, '10', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await completeBackfills(world.api.pool);
  const subscribe = async (more: object) =>
    catalog.subscribe(await catalog.customer(), sold, {
      ...{ start_date: day('2026-01-01'), proration_behavior: 'create_prorations' },
      ...more,
    });
  const parent = await subscribe(ofParent);
  const child = await subscribe({ ...ofChild, parent_subscription_id: parent.id });
  return { parent, child, sold };
}

test('the preview of a parent that ends within the period has no rows of its children', async () => {
  const { parent, child } = await pair({ end_date: day('2026-02-15') }, {});
  world.api.clock.set(day('2026-02-01'));
  await world.close();
  world.api.clock.set('2026-02-14T23:59:59.999Z');
  const { body: preview } = await world.api.post('/v1/invoices/preview', {
    subscription_id: parent.id,
  });
  world.api.clock.set(day('2026-02-15'));
  await world.close();
  expect(rows((await invoicesOf(parent)).at(-1))).toEqual(['Support 5 02-01..02-15']);
  expect(rows(preview)).toEqual(['Support 5 02-01..02-15']);
  world.api.clock.set(day('2026-03-01'));
  await world.close();
  expect(rows((await invoicesOf(child)).at(-1))).toEqual(['Support 10 02-01..03-01']);
});

test('a child whose end cuts its period is billed and ended at its end', async () => {
  const { parent, child } = await pair({}, { end_date: day('2026-02-15') });
  world.api.clock.set(day('2026-02-01'));
  await world.close();
  expect(rows((await invoicesOf(parent)).at(-1))).toEqual([
    'Support 10 01-01..02-01',
    'Support 10 01-01..02-01',
  ]);
  world.api.clock.set(day('2026-02-15'));
  await world.close();
  expect((await invoicesOf(child)).map(rows)).toEqual([['Support 5 02-01..02-15']]);
  const { body } = await world.api.get(`/v1/subscriptions/${child.id}`);
  expect(body).toMatchObject({ subscription_status: 'cancelled', end_date: day('2026-02-15') });
  world.api.clock.set(day('2026-03-01'));
  await world.close();
  expect(rows((await invoicesOf(parent)).at(-1))).toEqual(['Support 10 02-01..03-01']);
});

test('a subscription joins a parent although both end within the period', async () => {
  const { parent, sold } = await pair({ end_date: day('2026-01-20') }, {});
  const { catalog } = world;
  const other = await catalog.subscribe(await catalog.customer(), sold, {
    ...{ start_date: day('2026-01-01'), end_date: day('2026-01-10') },
  });
  const { status } = await world.api.post(`/v1/subscriptions/${parent.id}/modify/execute`, {
    type: 'grouped_invoicing',
    grouped_invoicing_params: { action: 'add', child_subscription_ids: [other.id] },
  });
  expect(status).toBe(200);
  world.api.clock.set(day('2026-01-10'));
  await world.close();
  expect((await invoicesOf(other)).map(rows)).toEqual([['Support 10 01-01..01-10']]);
});
