import { cents, money } from './cents.ts';
import { couponOfOneOff, couponsOfNew } from './coupons.ts';
import type { Desk } from './desk.ts';
import { subscriptionOf } from './expected-charge.ts';
import { assertRedeemed, CURRENCIES, oneOffOf, taxOverride } from './invoices.ts';
import { isExempt, type Asked, type Invoice } from './records.ts';
import { TAXES } from './taxes.ts';

const OUTCOMES = ['success', 'duplicate', 'late', 'decline'] as const;
const CHECKOUT = { payment_provider: 'test' };

/** A checkout session whose payment issues an invoice (money 11.6). */
export interface Session {
  readonly id: string;
  readonly payment_id: string;
  readonly invoice: Invoice;
}

/** Opens a session; the customer pays at once, cancels, or leaves the page. */
export async function checkout(desk: Desk): Promise<void> {
  const { customer, random } = desk;
  const kind = random.below(3);
  const isFree = !customer.subscriptions.some(({ end }) => end === null);
  const opened =
    kind === 0
      ? await gatedOneOff(desk)
      : kind === 1 && isFree
        ? await gatedSubscription(desk)
        : await gatedTopUp(desk);
  if (opened === null) return;
  desk.sessions.push(opened);
  if (random.chance(0.7)) await followSession(desk);
}

/** The customer pays the newest session or cancels it, also one that is over. */
export async function followSession(desk: Desk): Promise<void> {
  const { business, ledger, random, sessions } = desk;
  const session = sessions.pop();
  if (session === undefined) return;
  // A lost event is looked for during a day (money 8.4.8).
  const isOver = session.invoice.isVoid;
  if (random.chance(0.3)) {
    const body = await desk.command(
      'cancel session',
      `/checkout/sessions/${session.id}/cancel`,
      {},
    );
    if (body === null) throw new Error(`the session ${session.id} cannot be cancelled`);
    ledger.endGate(session.invoice);
    // The page may still be open.
    if (random.chance(0.5)) return;
  }
  const outcome = random.pick(isOver ? OUTCOMES : ([...OUTCOMES, 'timeout'] as const));
  const path = `/test-gateway/payments/${session.payment_id}/outcome`;
  const { status } = await desk.post(path, { outcome });
  business.count(`session ${session.invoice.isVoid ? 'over, ' : ''}${outcome} ${status}`);
  if (outcome === 'timeout') {
    const { body } = await business.world.api.get(`/v1/checkout/sessions/${session.id}`);
    // The gateway was asked less than two seconds ago (money 11.21): it tells once more.
    if (!body.terminal) await desk.post(path, { outcome: 'success' });
  }
  await business.readBank(desk.customer);
  if (outcome === 'decline') sessions.push(session);
}

async function gatedOneOff(desk: Desk): Promise<Session | null> {
  const { customer, ledger, random } = desk;
  const amount = 1 + random.below(20_000);
  const taxes = random.pick(TAXES);
  const currency = random.pick(CURRENCIES);
  const coupon = await couponOfOneOff(desk, currency, [amount]);
  const body = await desk.command('gated one-off', '/invoices', {
    ...oneOffOf(customer.id, currency, [amount]),
    ...coupon.body,
    tax_rate_overrides: taxes.map((tax) => taxOverride(tax, currency)),
    checkout: CHECKOUT,
  });
  assertRedeemed(desk, coupon.isAllowed, body);
  if (body === null) return null;
  coupon.redeem();
  const invoice = ledger.invoiceOf(body.id, customer, currency);
  const { net, off } = coupon;
  const asked = { usage: 0, net, off, taxes: isExempt(customer) ? [] : taxes };
  return gated(desk, body.checkout_session, invoice, asked, () => {}, coupon.giveBack);
}

/** Opens a session for what an issued invoice still asks for; its end leaves the invoice as it is. */
export async function payBySession(desk: Desk, row: any): Promise<void> {
  const { customer, ledger, random } = desk;
  const body = await desk.command('session of an invoice', '/checkout/sessions', {
    customer_external_id: customer.external_id,
    action: 'pay_invoice',
    ...CHECKOUT,
    configuration: { pay_invoice_params: { invoice_id: row.id } },
  });
  if (body === null) return;
  const invoice = ledger.invoices.get(row.id)!;
  if (body.payment.amount !== row.amount_remaining)
    throw new Error(`session ${body.id} asks for ${body.payment.amount}`);
  desk.sessions.push({ id: body.id, payment_id: body.checkout_payment_id, invoice });
  if (random.chance(0.4)) await followSession(desk);
}

async function gatedTopUp(desk: Desk): Promise<Session | null> {
  const { customer, ledger, random } = desk;
  if (customer.wallet_id === null) return null;
  const credits = 10 * (10 + random.below(990));
  const body = await desk.command('gated top-up', `/wallets/${customer.wallet_id}/top-up`, {
    credits_to_add: money(credits),
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    checkout: CHECKOUT,
  });
  if (body === null) return null;
  const invoice = ledger.invoiceOf(body.invoice_id, customer);
  const { book } = customer;
  invoice.purchase = { credits: credits * book.rate, book, recalled: 0, state: 'unpaid' };
  const asked = { usage: 0, net: Math.round(credits * book.price), taxes: [] };
  return gated(desk, body.checkout_session, invoice, asked);
}

async function gatedSubscription(desk: Desk): Promise<Session | null> {
  const { customer, ledger, random } = desk;
  const plan = random.pick(desk.business.plans);
  if (plan.terms.fee === 0) return null;
  const coupons = await couponsOfNew(desk, plan.id);
  const body = await desk.command('gated subscription', '/subscriptions', {
    customer_id: customer.id, plan_id: plan.id, currency: 'usd',
    billing_period: 'MONTHLY', billing_period_count: 1, checkout: CHECKOUT,
    ...coupons.body,
  }); // prettier-ignore
  if (body === null) return null;
  const start = desk.now;
  const subscription = subscriptionOf(body.id, plan.terms, start);
  const redeemed = coupons.attach(subscription);
  const session = body.checkout_session;
  if (session === null) {
    // Nothing is due: the subscription begins as usual.
    customer.subscriptions.push(subscription);
    await desk.bookIssued();
    if (plan.terms.credits > 0) ledger.grant(customer, plan.terms, start);
    return null;
  }
  const invoice = ledger.invoiceOf(session.checkout_invoice_id, customer);
  const taxes = isExempt(customer) ? [] : customer.taxes;
  const { asked, fee, used } = ledger.opening(subscription);
  ledger.use(used, invoice);
  const paid = () => {
    ledger.advances.bill(invoice, subscription, start, fee);
    customer.subscriptions.push(subscription);
    if (plan.terms.credits > 0) ledger.grant(customer, plan.terms, start);
  };
  return gated(desk, session, invoice, { ...asked, taxes }, paid, () => {
    for (const coupon of redeemed) coupon.redeemed -= 1;
  });
}

export function gated(
  { ledger }: Desk,
  session: any,
  invoice: Invoice,
  asked: Asked,
  paid: () => void = () => {},
  ended: () => void = () => {},
): Session {
  const due = ledger.gate(invoice, asked, paid, ended);
  if (cents(session.payment.amount) !== due)
    throw new Error(
      `session ${session.id} asks for ${session.payment.amount}, not ${money(due)}: ${JSON.stringify(asked)}`,
    );
  return { id: session.id, payment_id: session.checkout_payment_id, invoice };
}
