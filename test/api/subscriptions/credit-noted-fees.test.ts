import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

let counter = 0;

/** A fee of 50.00 for April with 20% exclusive tax and credit notes on it: what a cancellation on 11 April credits. */
async function cancelledAfter(
  notes: readonly (readonly (readonly [row: 'fee' | 'tax', amount: string])[])[],
) {
  const { catalog, api } = world;
  api.clock.set(day('2026-04-11'));
  const code = `vat_noted_${(counter += 1)}`;
  await api.postOk('/v1/taxes/rates', {
    ...{ name: 'VAT', code, tax_rate_type: 'percentage', percentage_value: '20' },
  });
  const plan = await catalog.plan();
  await catalog.fixed(plan, '50', { display_name: 'Base' });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-04-01'),
    tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd', auto_apply: true }],
  });
  const search = { subscription_id: subscription.id, expand: 'line_items' };
  const { items } = await api.postOk('/v1/invoices/search', search);
  const [opening] = items;
  expect(opening.total).toBe('60');
  for (const lines of notes)
    await api.postOk('/v1/creditnotes', {
      ...{ invoice_id: opening.id, reason: 'SERVICE_ISSUE', process_credit_note: true },
      line_items: lines.map(([row, amount]) => ({
        invoice_line_item_id: row === 'tax' ? 'tax' : opening.line_items[0].id,
        amount,
      })),
    });
  const cancelled = await api.postOk(`/v1/subscriptions/${subscription.id}/cancel`, {
    ...{ cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
  });
  return cancelled.total_credit_amount;
}

describe('the tax that a cancellation returns, after a note on its fee (billing 5.3)', () => {
  test.each([
    ['without a note, two thirds', [], '40'],
    // 10.00 of the fee are left, and 2.00 of the tax is on them.
    ['a note of the fee alone keeps the tax on what it credits', [[['fee', '40']]], '12'],
    ['a note of the fee with its tax', [[['fee', '40'], ['tax', '8']]], '12'], // prettier-ignore
    ['a later note of the tax alone', [[['fee', '40']], [['tax', '8']]], '12'],
    ['a note of a part of the tax', [[['fee', '20'], ['tax', '3']]], '36'], // prettier-ignore
    ['a note of the whole fee alone', [[['fee', '50']]], '0'],
  ] as const)('%s', async (_, notes, expected) => {
    expect(await cancelledAfter(notes)).toBe(expected);
  });
});
