import { Decimal } from '../../domain/money.ts';
import type { TestApi } from './api.ts';

const SETTLED = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'];

/**
 * What does not add up in the money of a customer, read from the tables and not from the code that keeps them;
 * empty if everything does. Payments, refunds and sessions must have come to their ends.
 */
export async function brokenMoney({ pool, get }: TestApi, customerId: string): Promise<string[]> {
  const broken: string[] = [];
  const assert = (holds: boolean, what: string) => void (holds || broken.push(what));
  const [payments, refunds, invoices, atGateway, sessions, events] = await Promise.all([
    pool<any[]>`select * from payments where customer_id = ${customerId} order by id`,
    pool<any[]>`
      select r.*, p.destination_id, p.gateway_payment_id as paid_by from refunds r
        join payments p on p.id = r.payment_id where p.customer_id = ${customerId} order by r.id`,
    pool<any[]>`select * from invoices where customer_id = ${customerId} order by id`,
    pool<any[]>`
      select g.*, coalesce((select sum(r.amount) from test_gateway_refunds r
                             where r.gateway_payment_id = g.id and r.state = 'succeeded'), 0) as returned
        from test_gateway_payments g
       where g.reference in (select id from payments where customer_id = ${customerId}) order by g.id`,
    pool<any[]>`select * from checkout_sessions where customer_id = ${customerId} order by id`,
    pool<any[]>`
      select event_type, entity_id, count(*)::int as count from outbox
       where entity_id in (select id from payments where customer_id = ${customerId}
                           union all select id from checkout_sessions where customer_id = ${customerId}
                           union all select r.id from refunds r join payments p on p.id = r.payment_id
                                      where p.customer_id = ${customerId})
       group by 1, 2`,
  ]);
  const countOf = (id: string, ...types: string[]): number =>
    total(
      events.filter((row) => row.entity_id === id && types.includes(row.event_type)),
      'count',
    ).toNumber();
  const money = payments.filter(({ payment_status }) => SETTLED.includes(payment_status));
  const returned = refunds.filter(({ refund_status }) => refund_status === 'SUCCEEDED');

  for (const { id, state, amount, returned: back } of atGateway) {
    const booked = payments.filter(({ gateway_payment_id }) => gateway_payment_id === id);
    if (state === 'succeeded') {
      assert(booked.length === 1, `money ${id} at the gateway is booked ${booked.length} times`);
      const [row] = booked;
      if (row === undefined) continue;
      assert(
        SETTLED.includes(row.payment_status),
        `payment ${row.id} is ${row.payment_status}, but paid`,
      );
      assert(new Decimal(row.amount).eq(amount), `payment ${row.id} has another amount`);
      const own = returned.filter(
        (refund) =>
          refund.payment_id === row.id &&
          refund.refund_target === 'BACK_TO_SOURCE' &&
          // The bank takes disputed money; the gateway is not asked to return it.
          refund.metadata?.dispute === undefined,
      );
      assert(
        total(own, 'amount').eq(back),
        `refunds of ${row.id} differ from those at the gateway`,
      );
    } else {
      const settled = booked.filter(({ payment_status }) => SETTLED.includes(payment_status));
      assert(settled.length === 0, `payment ${settled[0]?.id} has no money: it is ${state}`);
    }
  }
  for (const { id, payment_status, status, gateway_payment_id } of payments) {
    const isSettled = SETTLED.includes(payment_status);
    const own = returned.filter(({ payment_id }) => payment_id === id);
    const paid = payments.find((row) => row.id === id)!;
    assert(
      total(own, 'amount').lte(isSettled ? paid.amount : '0'),
      `${id} returned more than it brought`,
    );
    assert(
      countOf(id, 'payment.success') === (isSettled && !paid.is_manual ? 1 : 0) || paid.is_manual,
      `payment ${id} (${payment_status}) has ${countOf(id, 'payment.success')} notices of success`,
    );
    assert(status === 'published' || !isSettled, `payment ${id} is ${status}, but brought money`);
    assert(
      payment_status !== 'PROCESSING',
      `payment ${id} of ${gateway_payment_id} is still in progress`,
    );
  }
  for (const { id, refund_status } of refunds) {
    const isSettled = refund_status === 'SUCCEEDED' ? 1 : 0;
    assert(countOf(id, 'refund.succeeded') === isSettled, `refund ${id} is not announced once`);
    assert(['SUCCEEDED', 'FAILED'].includes(refund_status), `refund ${id} is ${refund_status}`);
  }
  for (const { id, checkout_status } of sessions) {
    const ends = ['completed', 'failed', 'expired'];
    assert(ends.includes(checkout_status), `session ${id} is ${checkout_status}`);
    const told = countOf(id, ...ends.map((end) => `checkout.session.${end}`));
    assert(told === 1, `session ${id} has ${told} notices of its end`);
  }
  for (const invoice of invoices) {
    const own = money.filter(({ destination_id }) => destination_id === invoice.id);
    const back = returned.filter(({ destination_id }) => destination_id === invoice.id);
    const of = `invoice ${invoice.id} (${invoice.invoice_status}, ${invoice.status})`;
    const figure = (name: string) => new Decimal(invoice[name]);
    assert(
      total(own, 'amount').eq(figure('amount_paid')),
      `${of}: amount_paid is not the payments`,
    );
    assert(
      total(back, 'amount').eq(figure('refunded_amount')),
      `${of}: refunded_amount is not the refunds`,
    );
    if (invoice.invoice_status === 'VOIDED' || invoice.status !== 'published') {
      assert(total(own, 'amount').eq(total(back, 'amount')), `${of}: money is kept`);
      continue;
    }
    if (invoice.invoice_status !== 'FINALIZED') continue;
    const accounted = figure('amount_paid')
      .minus(figure('overpaid_amount'))
      .plus(figure('adjustment_amount'))
      .plus(figure('amount_remaining'));
    assert(accounted.eq(figure('total')), `${of}: the total is not accounted for`);
    const ledger = (await get(`/v1/invoices/${invoice.id}/ledger`)).body;
    const open = figure('amount_remaining').minus(figure('overpaid_amount'));
    assert(open.eq(ledger.entries.at(-1).open_amount), `${of}: the ledger ends elsewhere`);
    const isRefunded = figure('refunded_amount').gt(0);
    const isPaid = figure('amount_remaining').isZero();
    const paid = ['SUCCEEDED', 'OVERPAID'].includes(invoice.payment_status);
    assert(isRefunded || paid === isPaid, `${of}: it is ${invoice.payment_status}`);
  }
  return broken;
}

const total = (rows: readonly any[], field: string): Decimal =>
  rows.reduce((sum: Decimal, row) => sum.plus(row[field]), new Decimal(0));
