import { billingWorldFrom } from '../support/billing-world.ts';
import { day } from '../support/day.ts';

const world = billingWorldFrom(day('2026-04-01'));

/** A fee of 30.00 a month and one of 7.00 that is due once; an addon whose fee of 5.00 is due once. */
async function subscribed() {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '30', { display_name: 'Base' });
  await catalog.fixed(plan, '7', { display_name: 'Start', billing_period: 'ONETIME' });
  const addon = await api.postOk('/v1/addons', {
    name: 'Setup',
    lookup_key: plan.id.toLowerCase(),
  });
  await catalog.fixed(addon, '5', {
    ...{ entity_type: 'ADDON', display_name: 'Setup', billing_period: 'ONETIME' },
  });
  const subscription = await catalog.subscribe(await catalog.customer(), plan, {
    start_date: day('2026-04-01'),
  });
  const path = `/v1/subscriptions/${subscription.id}`;
  return { subscription, addon, path };
}
type Subscribed = Awaited<ReturnType<typeof subscribed>>;

async function addSetup({ subscription, addon }: Subscribed) {
  world.api.clock.set(day('2026-04-11'));
  return await world.api.postOk('/v1/subscriptions/addon', {
    ...{ subscription_id: subscription.id, addon_id: addon.id },
    proration_behavior: 'create_prorations',
  });
}
async function invoicesOf({ subscription }: Subscribed): Promise<any[]> {
  const body = { subscription_id: subscription.id, expand: 'line_items' };
  return (await world.api.postOk('/v1/invoices/search', body)).items.toReversed();
}
const rows = ({ line_items }: any): string[] =>
  line_items.map(
    (row: any) => `${row.display_name} ${row.amount} ${row.period_start.slice(5, 10)}`,
  );
const withRow = (invoices: any[], name: string) =>
  invoices.find(({ line_items }) => line_items.some((row: any) => row.display_name === name));
const voided = async (invoice: { id: string }) =>
  await world.api.postOk(`/v1/invoices/${invoice.id}/void`, {});
async function closeUntil(at: string): Promise<void> {
  world.api.clock.set(at);
  while ((await world.close())?.['advanced'] !== 0);
}

/** What each invoice that is not void asks for, oldest period first. */
const asked = async (one: Subscribed): Promise<string[][]> =>
  (await invoicesOf(one))
    .filter(({ invoice_status }) => invoice_status !== 'VOIDED')
    .sort((a, b) => (a.period_end < b.period_end ? -1 : 1))
    .map(rows);
const billAgain = async ({ subscription }: Subscribed, invoice: any) =>
  await world.api.postOk('/v1/invoices', {
    customer_id: subscription.customer_id, subscription_id: subscription.id, currency: 'usd',
    invoice_type: 'SUBSCRIPTION', billing_reason: invoice.billing_reason,
    period_start: invoice.period_start, period_end: invoice.period_end,
  }); // prettier-ignore

describe('a one-time fee of a voided invoice (billing 3.1)', () => {
  test('is on the invoice of the period of its date, once; an advance of the past period is not', async () => {
    const one = await subscribed();
    await addSetup(one);
    const invoices = await invoicesOf(one);
    await voided(withRow(invoices, 'Start'));
    await voided(withRow(invoices, 'Setup'));
    await closeUntil(day('2026-06-02'));
    expect(await asked(one)).toEqual([
      ['Base 30 05-01', 'Start 7 04-01', 'Setup 5 04-11'],
      ['Base 30 06-01'],
    ]);
  });

  test('a voided opening invoice that is billed again has it, and the invoice of the period has not', async () => {
    const one = await subscribed();
    const opening = withRow(await invoicesOf(one), 'Start');
    await voided(opening);
    expect(rows(await billAgain(one, opening))).toEqual(['Base 30 04-01', 'Start 7 04-01']);
    await closeUntil(day('2026-05-02'));
    expect(await asked(one)).toEqual([['Base 30 04-01', 'Start 7 04-01'], ['Base 30 05-01']]);
  });

  test('billed again after the invoice of the period: it is not billed twice', async () => {
    const one = await subscribed();
    const opening = withRow(await invoicesOf(one), 'Start');
    await voided(opening);
    await closeUntil(day('2026-05-02'));
    expect(rows(await billAgain(one, opening))).toEqual(['Base 30 04-01']);
  });

  test('voided after the invoice of its period: no later invoice has it', async () => {
    const one = await subscribed();
    await addSetup(one);
    await closeUntil(day('2026-05-02'));
    await voided(withRow(await invoicesOf(one), 'Setup'));
    await closeUntil(day('2026-06-02'));
    expect(await asked(one)).toEqual([
      ['Base 30 04-01', 'Start 7 04-01'],
      ['Base 30 05-01'],
      ['Base 30 06-01'],
    ]);
  });

  test('that a credit note credits instead is not asked for again', async () => {
    const one = await subscribed();
    await addSetup(one);
    const invoice = withRow(await invoicesOf(one), 'Setup');
    await world.api.postOk('/v1/creditnotes', {
      ...{ invoice_id: invoice.id, reason: 'SERVICE_ISSUE', process_credit_note: true },
      line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount: '5' }],
    });
    await closeUntil(day('2026-05-02'));
    expect((await asked(one)).at(-1)).toEqual(['Base 30 05-01']);
  });
});
