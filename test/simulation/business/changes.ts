import { cents } from './cents.ts';
import type { Settled } from './advances.ts';
import type { Desk } from './desk.ts';
import {
  periodEnd,
  periodStart,
  termsAt,
  type Subscription,
  type Terms,
} from './expected-charge.ts';
import { isExempt, type Invoice } from './records.ts';
import { gated } from './sessions.ts';
import { taxesOn } from './taxes.ts';

const CHECKOUT = { payment_provider: 'test' };

const taxesNow = ({ customer }: Desk) => (isExempt(customer) ? [] : customer.taxes);

const runningOf = ({ customer, now }: Desk): Subscription | undefined =>
  customer.subscriptions.find(({ end }) => end === null || end > now);

/** The fee of a period that begins now is on a draft that the ledger has not seen: coupons may discount it. */
const hasUnseenDiscount = ({ now }: Desk, running: Subscription): boolean =>
  running.coupons.length > 0 && periodStart(running, now) === now;

/** Changes the plan at once or at the period's end, with or without proration, some once a session is paid. */
export async function changePlan(desk: Desk): Promise<void> {
  const { random, ledger, customer } = desk;
  const running = runningOf(desk);
  if (running === undefined || hasUnseenDiscount(desk, running)) return;
  const plan = random.pick(desk.business.plans);
  const isAtOnce = random.chance(0.7);
  const isProrated = isAtOnce && random.chance(0.7);
  const isGated = isAtOnce && random.chance(0.4);
  const from = isAtOnce ? desk.now : periodEnd(running, desk.now);
  const next: Terms = { from, plan: plan.terms, quantity: 1, isOfPeriod: !isAtOnce };
  const settled =
    isAtOnce && isProrated ? ledger.settle(running, next, from, taxesNow(desk)) : null;
  const what = `plan change ${isAtOnce ? 'now' : 'later'}${isProrated ? ' prorated' : ''}`;
  const body = await desk.command(what, `/subscriptions/${running.id}/change/v2/execute`, {
    target_plan_id: plan.id,
    change_at: isAtOnce ? 'immediate' : 'end_of_period',
    proration_behavior: isProrated ? 'create_prorations' : 'none',
    ...(isGated ? { checkout: CHECKOUT } : {}),
  });
  if (body === null) return;
  await settle(desk, running, next, settled, body, () => {
    if (!isAtOnce || plan.terms.credits === 0) return;
    const start = periodStart(running, from);
    const [begin, now, end] = [start, from, periodEnd(running, from)].map((at) => Date.parse(at));
    const credits = plan.terms.credits * 100;
    ledger.grant(
      customer,
      plan.terms,
      from,
      isProrated ? (credits * (end! - now!)) / (end! - begin!) : credits,
    );
  });
}

/** Changes the number of units of the fee, some once a session is paid. */
export async function changeQuantity(desk: Desk): Promise<void> {
  const { random, ledger } = desk;
  const running = runningOf(desk);
  if (running === undefined || hasUnseenDiscount(desk, running)) return;
  const old = termsAt(running, desk.now);
  if (old.plan.fee === 0) return;
  const { body: shown } = await desk.business.world.api.get(`/v1/subscriptions/${running.id}`);
  const line = shown.line_items.find(
    (each: any) =>
      each.price_type === 'FIXED' &&
      each.display_name !== 'Setup' &&
      (each.end_date === null || each.end_date > desk.now),
  );
  const quantity = 1 + random.below(4);
  if (quantity === old.quantity) return;
  const next: Terms = { ...old, from: desk.now, quantity, isOfPeriod: false };
  const settled = ledger.settle(running, next, desk.now, taxesNow(desk));
  const isGated = random.chance(0.4);
  const body = await desk.command(
    'quantity change',
    `/subscriptions/${running.id}/modify/execute`,
    {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: line.id, quantity: String(quantity) }] },
      ...(isGated ? { checkout: CHECKOUT } : {}),
    },
  );
  if (body !== null) await settle(desk, running, next, settled, body);
}

/** One invoice of the net, or a credit to the wallet with its exclusive tax; by session once paid (billing 5.3). */
async function settle(
  desk: Desk,
  running: Subscription,
  next: Terms,
  settled: Settled | null,
  body: any,
  done: () => void = () => {},
): Promise<void> {
  const { ledger, customer } = desk;
  const net = settled === null ? 0 : settled.charge - settled.credit;
  const off = settled === null ? 0 : settled.gross - settled.charge;
  const apply = (invoice: Invoice | null) => {
    if (settled !== null) ledger.advances.change(running, next, settled, invoice);
    // A change of the plan may wait for the end of the period.
    const later = running.terms.findIndex((terms) => terms.from > next.from);
    running.terms.splice(later < 0 ? running.terms.length : later, 0, next);
    done();
  };
  const taxes = taxesNow(desk);
  if (body.checkout_session !== null) {
    const invoice = ledger.invoiceOf(body.checkout_session.checkout_invoice_id, customer);
    const session = gated(desk, body.checkout_session, invoice, { usage: 0, net, taxes, off }, () =>
      apply(invoice),
    );
    ledger.use(settled!.used, invoice);
    desk.sessions.push(session);
    return;
  }
  const [made] = body.changed_resources.invoices;
  const told = made === undefined ? 0 : cents(made.amount) * (made.action === 'created' ? 1 : -1);
  let meant = 0;
  if (made?.action === 'created') {
    const invoice = ledger.invoiceOf(made.id, customer);
    ledger.issue(invoice, { usage: 0, net, taxes, off }, desk.now);
    ledger.use(settled!.used, invoice);
    meant = invoice.total!;
    apply(invoice);
  } else {
    if (net < 0) {
      const tax = settled!.tax - taxesOn(settled!.charge, taxes).exclusive;
      meant = net - Math.max(tax, 0);
      customer.book.credit(-told);
    } else meant = net;
    apply(null);
  }
  // A credit has shares of taxes that were rounded once for their invoice: a cent each.
  if (Math.abs(told - meant) > (net < 0 ? 2 : 0))
    throw new Error(
      `the change of ${running.id} settles ${told}, not ${meant}: ${JSON.stringify([settled, running.terms])}`,
    );
}
