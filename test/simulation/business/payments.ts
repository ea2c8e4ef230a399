import { createHmac } from 'node:crypto';
import { cents, money } from './cents.ts';
import type { Desk } from './desk.ts';

export const WEBHOOK_SECRET = 'whsec_of_a_business';
const METHODS = ['success', 'success', 'success', 'decline', '3ds', 'late'] as const;
const OUTCOMES = ['success', 'duplicate', 'reordered', 'late', 'decline'] as const;

/** Pays an open invoice offline, with credits, by card or by link. */
export async function pay(desk: Desk, row: any): Promise<void> {
  const { customer, ledger, random } = desk;
  const invoice = ledger.invoices.get(row.id)!;
  const due = cents(row.amount_remaining);
  const isWhole = random.chance(0.6) || invoice.purchase !== null;
  const amount = isWhole ? due : 1 + random.below(due);
  const { currency } = invoice;
  const sent = { destination_type: 'INVOICE', destination_id: row.id, currency };
  const choice = random.below(10);
  if (choice < 3) {
    const over = random.chance(0.1) ? 500 : 0;
    const body = await desk.command('pay offline', '/payments', {
      ...sent, payment_method_type: 'OFFLINE', amount: money(amount + over),
    }); // prettier-ignore
    if (body?.payment_status === 'SUCCEEDED')
      ledger.pay(invoice, body.id, amount + over, 'offline', desk.now);
  } else if (choice < 5 && customer.postpaid !== null) {
    const body = await desk.command('pay with credits', '/payments', {
      ...sent, payment_method_type: 'CREDITS', payment_method_id: customer.postpaid.id, amount: money(amount),
    }); // prettier-ignore
    if (body !== null && currency !== 'usd')
      throw new Error(`dollars paid ${row.id} in ${currency}`);
    if (body?.payment_status === 'SUCCEEDED') {
      customer.postpaid.book.debit(amount, desk.now);
      ledger.pay(invoice, body.id, amount, 'credits', desk.now);
    }
  } else {
    const isLink = choice === 9 && invoice.purchase === null;
    const how = invoice.purchase === null ? random.pick(METHODS) : 'success';
    const body = await desk.command(isLink ? 'pay by link' : `pay by card ${how}`, '/payments', {
      ...sent, payment_gateway: 'test', amount: money(amount),
      ...(isLink
        ? { payment_method_type: 'PAYMENT_LINK' }
        : { payment_method_type: 'CARD', payment_method_id: `pm_test_${how}` }),
    }); // prettier-ignore
    if (body?.payment_status !== 'PENDING') return;
    if (random.chance(0.6)) await outcome(desk, body);
    else desk.pending.push(body.id);
  }
}

/** The gateway reports: once, twice, late or out of order, and some of it by signed webhooks. */
async function outcome(desk: Desk, payment: any): Promise<void> {
  const { business, random } = desk;
  const { api } = business.world;
  const reported = random.pick(OUTCOMES);
  await desk.post(`/test-gateway/payments/${payment.id}/outcome`, { outcome: reported });
  business.count(`gateway reports ${reported}`);
  for (let again = random.below(3); again > 0; again -= 1) {
    const raw = JSON.stringify({
      id: `webhook-${payment.id}-${random.below(2)}`,
      type: 'payment',
      gateway_payment_id: payment.gateway_payment_id,
      reference: payment.id,
    });
    const seconds = Math.floor(api.clock.now() / 1000);
    const mac = createHmac('sha256', WEBHOOK_SECRET).update(`${seconds}.${raw}`).digest('hex');
    const { tenant_id, environment_id } = api.scope;
    const answer = await api.app.inject({
      method: 'POST',
      url: `/v1/webhooks/test/${tenant_id}/${environment_id}/${business.connection}`,
      headers: {
        'content-type': 'application/json',
        'x-test-signature': `t=${seconds},v1=${mac}`,
      },
      payload: raw,
    });
    business.count(`webhook ${answer.statusCode}`);
  }
  await business.readBank(desk.customer);
}

/** The gateway reports charges of the saved card that it took a while for: late, twice, or that they failed. */
export async function reportCharges(desk: Desk): Promise<void> {
  const { business, customer, random } = desk;
  const rows = await business.world.api.pool<{ id: string }[]>`
    select id from payments
     where customer_id = ${customer.id} and payment_status = 'PENDING' and payment_method_type = 'CARD'
       and gateway_payment_id is not null order by id`;
  for (const { id } of rows) {
    if (desk.pending.includes(id)) continue;
    const path = `/test-gateway/payments/${id}/outcome`;
    const reported = random.pick(OUTCOMES);
    const { status } = await desk.post(path, { outcome: reported });
    business.count(`charge of a saved card: ${reported} ${status}`);
    if (random.chance(0.3)) await desk.post(path, { outcome: 'success' });
  }
  await business.readBank(customer);
}

/** The gateway reports the success of a payment that has waited, even of an invoice voided since. */
export async function late(desk: Desk): Promise<void> {
  const waiting = desk.pending.shift();
  if (waiting === undefined) return;
  const path = `/test-gateway/payments/${waiting}/outcome`;
  const { status } = await desk.post(path, { outcome: 'late' });
  desk.business.count(`late success ${status}`);
  await desk.business.readBank(desk.customer);
}

/** Gives up a payment that waits; its page may still be paid (money 8.3.7, 8.4.7). */
export async function deletePayment(desk: Desk): Promise<void> {
  const { business, random } = desk;
  const waiting = random.pick(desk.pending);
  if (waiting === undefined) return;
  const { status } = await business.world.api.delete(`/v1/payments/${waiting}`);
  business.count(`delete payment ${status}`);
  await business.readBank(desk.customer);
}

export async function refund(desk: Desk, row: any): Promise<void> {
  const { customer, ledger, random } = desk;
  const invoice = ledger.invoices.get(row.id)!;
  const payments = ledger.paymentsOf(invoice);
  const payment = random.pick(payments);
  if (payment === undefined) return;
  const capacity = payment.amount - payment.refunded;
  const amount = random.chance(0.5) ? capacity : 1 + random.below(payment.amount);
  const isToSource = payment.kind === 'bank' && random.chance(0.5);
  // The books count whole cents of credits, and one payment of a purchase.
  if (invoice.purchase !== null && payments.length > 1) return;
  if (!Number.isInteger(ledger.soldFor(invoice, Math.min(amount, capacity)))) return;
  const body = await desk.command('refund', '/refunds', {
    payment_id: payment.id,
    amount: money(amount),
    target: isToSource ? 'BACK_TO_SOURCE' : 'PREPAID_WALLET',
  });
  if (body === null) return;
  if (amount > capacity) throw new Error(`refunded ${amount} of the ${capacity} of ${payment.id}`);
  if (!ledger.recallSold(invoice, amount))
    throw new Error(`refunded ${amount} of ${payment.id}, whose credits are spent`);
  if (invoice.purchase !== null) desk.business.count('refund of bought credits');
  if (!isToSource) ledger.backToWallet(payment, amount, customer);
  else ledger.backToSource(payment, amount);
}

/** Retries a refund that the gateway refused: once, into the wallet (money 9.6). */
export async function retryRefund(desk: Desk): Promise<void> {
  const { customer, ledger, random } = desk;
  const { body } = await desk.post('/refunds/search', {
    customer_id: customer.id, refund_status: 'FAILED', limit: 500,
    sort: [{ field: 'created_at', direction: 'asc' }],
  }); // prettier-ignore
  const failed: any = random.pick(body.items);
  if (failed === undefined) return;
  const payment = ledger.payments.get(failed.payment_id)!;
  const amount = cents(failed.amount);
  const isAllowed = !ledger.retried.has(failed.id) && amount <= payment.amount - payment.refunded;
  const retried = await desk.command('retry refund', `/refunds/${failed.id}/retry`, {});
  if ((retried !== null) !== isAllowed)
    throw new Error(`the refund ${failed.id} was ${isAllowed ? 'not ' : ''}retried`);
  if (retried === null) return;
  ledger.retried.add(failed.id);
  ledger.backToWallet(payment, amount, customer);
}

export async function dispute(desk: Desk, row: any): Promise<void> {
  const { ledger } = desk;
  const invoice = ledger.invoices.get(row.id)!;
  const payments = ledger.paymentsOf(invoice);
  const payment = desk.random.pick(payments.filter(({ kind }) => kind === 'bank'));
  if (payment === undefined) return;
  // The books count one payment of a purchase.
  if (invoice.purchase !== null && payments.length > 1) return;
  const path = `/test-gateway/payments/${payment.id}/outcome`;
  const body = await desk.command('dispute', path, { outcome: 'dispute' });
  if (body === null || payment.refunded === payment.amount) return;
  if (invoice.purchase?.state === 'done') desk.business.count('dispute of bought credits');
  ledger.dispute(invoice, payment);
}
