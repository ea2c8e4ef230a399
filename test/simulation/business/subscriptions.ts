import { couponsOfNew } from './coupons.ts';
import type { Desk } from './desk.ts';
import { periodEnd, subscriptionOf } from './expected-charge.ts';

export async function subscribe(desk: Desk): Promise<void> {
  const { customer, ledger } = desk;
  const plan = desk.random.pick(desk.business.plans);
  const coupons = await couponsOfNew(desk, plan.id);
  const body = await desk.command('subscribe', '/subscriptions', {
    customer_id: customer.id, plan_id: plan.id, currency: 'usd',
    billing_period: 'MONTHLY', billing_period_count: 1, ...coupons.body,
  }); // prettier-ignore
  if (body === null) throw new Error(`no subscription of ${customer.external_id}`);
  const subscription = subscriptionOf(body.id, plan.terms, desk.now);
  customer.subscriptions.push(subscription);
  coupons.attach(subscription);
  // Credits that the creation gives come after the opening invoice and do not pay it (money 5.2.1).
  await desk.bookIssued();
  if (plan.terms.credits > 0) ledger.grant(customer, plan.terms, desk.now);
}

/** Cancels the running subscription; without one, the customer subscribes again. */
export async function cancel(desk: Desk): Promise<void> {
  const running = desk.customer.subscriptions.find(({ end }) => end === null);
  if (running === undefined) return await subscribe(desk);
  const isNow = desk.random.chance(0.4);
  const body = await desk.command(isNow ? 'cancel now' : 'cancel', `/subscriptions/${running.id}/cancel`, {
    cancellation_type: isNow ? 'immediate' : 'end_of_period',
    proration_behavior: 'none',
    ...(isNow ? { cancel_immediately_inovice_policy: 'generate_invoice' } : {}),
  }); // prettier-ignore
  if (body === null) return;
  running.end = isNow ? desk.now : periodEnd(running, desk.now);
  running.isCancelledAtOnce = isNow;
  // Without proration the fee of a period that begins at this instant stays on its draft, with its discount.
  await desk.bookIssued();
}

/** Taxes the customer otherwise from now on, or not at all. */
export async function changeTaxes(desk: Desk): Promise<void> {
  const { customer, random } = desk;
  if (customer.taxes.length === 0) return;
  const isExempt = random.chance(0.5);
  const { status } = await desk.business.world.api.put(`/v1/customers/${customer.id}`, {
    tax_treatment: isExempt ? 'exempt' : 'taxable',
  });
  customer.exemptions.push({ from: desk.now, isExempt });
  desk.business.count(`tax treatment ${status}`);
}
