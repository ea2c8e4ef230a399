import type { BillingWorld } from '../../support/billing-world.ts';
import type { Contract } from './contract.ts';
import { changeAsPreviewed, isRunning, type Note } from './contract-steps.ts';
import { invoiceOf } from './found-invoices.ts';
import { exact } from './invoice-facts.ts';
import { iso } from './naive-calendar.ts';
import { GRACE_MS, type Account } from './naive-contract.ts';
import { ok, priceOf } from './sell-offer.ts';

/** Quantities and the plan change in the period after the last one that is lived, each as its preview said. */
export async function changeAtLast(
  world: BillingWorld,
  contract: Contract,
  account: Account,
  subscription: { id: string },
  note: Note,
): Promise<void> {
  const running = account.periods[contract.periods];
  const isQuiet = contract.pauses.every(({ end }) => running !== undefined && end <= running.start);
  const runs = contract.cancelled === null && contract.phase === null;
  if (running === undefined || !runs || !isQuiet) return;
  // Usage of the period before is final; a change of the running one is billed at once.
  const at = Math.floor((running.start + running.end) / 2) + GRACE_MS / 2;
  if (at >= running.end) return;
  world.api.clock.set(iso(at));
  for (const [what, path, body] of await changesOf(world, contract, subscription)) {
    await changeAsPreviewed(world, path, body, what, note);
  }
  world.api.clock.set(iso(running.end - 1));
  const previewed = await ok(world, '/invoices/preview', { subscription_id: subscription.id });
  world.api.clock.set(iso(running.end));
  await world.close();
  const drafted = await invoiceOf(world, subscription, 'SUBSCRIPTION_CYCLE', running.start);
  note('preview after changes', drafted === null ? null : exact(drafted), exact(previewed));
}

/** A change of the quantity of each advance fee, then one of the plan: what, where and how. */
async function changesOf(
  world: BillingWorld,
  { currency, unit, count, fees, members, isDelegated }: Contract,
  { id }: { id: string },
): Promise<[what: string, path: string, body: object][]> {
  const plan = await world.catalog.plan();
  await ok(world, '/prices', {
    ...priceOf(plan, currency, 'FIXED'),
    ...{ billing_period: unit, billing_period_count: count, invoice_cadence: 'ADVANCE' },
    ...{ display_name: 'other fee', billing_model: 'FLAT_FEE', amount: '33.335' },
  });
  const { body } = await world.api.get(`/v1/subscriptions/${id}`);
  const advances = (body.line_items as any[]).filter(
    ({ display_name, start_date, end_date }) =>
      Date.parse(start_date) <= world.api.clock.now() &&
      isRunning(world, end_date) &&
      fees.some(({ name, advance }) => advance && name === display_name),
  );
  const line_items = advances.map((line) => ({
    id: line.id,
    quantity: String(Number(line.quantity) + (line.quantity === '2' ? -1 : 3)),
  }));
  const modify = { type: 'quantity_change', quantity_change_params: { line_items } };
  const path = `/subscriptions/${id}`;
  return [
    ...(line_items.length === 0
      ? []
      : [['change of quantities', `${path}/modify`, modify] as [string, string, object]]),
    // Only a subscription that stands alone changes its plan.
    ...(isDelegated || members.length > 0
      ? []
      : [
          ['change of plan', `${path}/change/v2`, { target_plan_id: plan.id }] as [
            string,
            string,
            object,
          ],
        ]),
  ];
}
