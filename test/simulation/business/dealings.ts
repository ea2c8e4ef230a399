import { createHmac } from 'node:crypto';
import { API_ROLE } from '../../../postgres/scoped-pool.ts';
import type { TestAnswer } from '../../support/api.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import type { Random } from '../../support/random.ts';
import { cents, money } from './cents.ts';
import { monthsLater, periodEnd } from './expected-charge.ts';
import type { Customer, Ledger } from './ledger.ts';
import type { PlanTerms } from './plans.ts';

export const WEBHOOK_SECRET = 'whsec_of_a_business';
const METHODS = ['success', 'success', 'success', 'decline', '3ds', 'late'] as const;
/** Share of the commands that are sent twice. */
const TWICE = 0.05;
/** Milliseconds in which a command is in the middle. */
const COMMAND_MS = 40;

/** What the dealings with all customers share. */
export interface Business {
  readonly world: BillingWorld;
  readonly ledger: Ledger;
  readonly plans: readonly { readonly id: string; readonly terms: PlanTerms }[];
  /** The connection to the gateway. */
  readonly connection: string;
  readonly now: string;
  count(what: string): void;
  readBank(customer: Customer): Promise<void>;
}

/**
 * Commands about one customer, one after another. They are drawn from a stream of their own, so that they are the same
 * whatever happens to other customers meanwhile.
 */
export class Dealings {
  readonly customer: Customer;
  readonly random: Random;
  readonly #business: Business;
  readonly #ledger: Ledger;
  readonly #name: string;
  #isCutOff = false;
  #commands = 0;
  /** Payments whose outcome the gateway has not reported. */
  readonly #pending: string[] = [];

  /** `name` tells its commands from those about other customers. */
  constructor(business: Business, customer: Customer, random: Random, name: string) {
    this.#business = business;
    this.#ledger = business.ledger;
    this.customer = customer;
    this.random = random;
    this.#name = name;
  }

  /** Whether its commands lose their connections to Postgres in the middle. */
  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  /** Draws whether the commands until the next draw are cut off. */
  drawCut(share: number): void {
    this.#isCutOff = this.random.chance(share);
  }

  get #now(): string {
    return this.#business.now;
  }

  async subscribe(): Promise<void> {
    const plan = this.random.pick(this.#business.plans);
    const body = await this.#command('subscribe', '/subscriptions', {
      customer_id: this.customer.id, plan_id: plan.id, currency: 'usd',
      billing_period: 'MONTHLY', billing_period_count: 1,
    }); // prettier-ignore
    if (body === null) throw new Error(`no subscription of ${this.customer.external_id}`);
    this.customer.subscriptions.push({
      id: body.id,
      plan: plan.terms,
      start: this.#now,
      end: null,
      isCancelledAtOnce: false,
    });
    if (plan.terms.credits > 0) this.#ledger.grant(this.customer, plan.terms, this.#now);
    await this.#bookNow();
  }

  /** One random command of a customer or of a person of the company. */
  async act(): Promise<void> {
    this.#ledger.expire(this.customer, this.#now);
    const { body } = await this.#post('/v1/invoices/search', {
      customer_id: this.customer.id, invoice_status: ['FINALIZED'], limit: 200,
    }); // prettier-ignore
    const invoices: any[] = body.items.filter(
      ({ id }: any) => this.#ledger.invoices.get(id)?.total != null,
    );
    const open = invoices.filter(({ amount_remaining }) => amount_remaining !== '0');
    const settled = this.random.pick(invoices.filter(({ amount_paid }) => amount_paid !== '0'));
    const dice = this.random.below(100);
    if (dice < 34 && open.length > 0) return await this.#pay(this.random.pick(open));
    if (dice < 46) return await this.#topUp();
    if (dice < 52) return await this.#debit();
    if (dice < 58 && settled !== undefined) return await this.#refund(settled);
    if (dice < 70 && invoices.length > 0) return await this.#note(this.random.pick(invoices));
    if (dice < 76 && invoices.length > 0) return await this.#void(this.random.pick(invoices));
    if (dice < 80) return await this.#oneOff();
    if (dice < 84 && settled !== undefined) return await this.#dispute(settled);
    if (dice < 90) return await this.#cancel();
    if (dice < 95) return await this.#late();
    this.#business.count('nothing');
  }

  async #pay(row: any): Promise<void> {
    const invoice = this.#ledger.invoices.get(row.id)!;
    const due = cents(row.amount_remaining);
    const isWhole = this.random.chance(0.6) || invoice.purchase !== null;
    const amount = isWhole ? due : 1 + this.random.below(due);
    const sent = { destination_type: 'INVOICE', destination_id: row.id, currency: 'usd' };
    const choice = this.random.below(10);
    if (choice < 3) {
      const over = this.random.chance(0.1) ? 500 : 0;
      const body = await this.#command('pay offline', '/payments', {
        ...sent, payment_method_type: 'OFFLINE', amount: money(amount + over),
      }); // prettier-ignore
      if (body?.payment_status === 'SUCCEEDED')
        this.#ledger.pay(invoice, body.id, amount + over, 'offline', this.#now);
    } else if (choice < 5 && this.customer.postpaid !== null) {
      const body = await this.#command('pay with credits', '/payments', {
        ...sent, payment_method_type: 'CREDITS', payment_method_id: this.customer.postpaid.id, amount: money(amount),
      }); // prettier-ignore
      if (body?.payment_status === 'SUCCEEDED') {
        this.customer.postpaid.book.debit(amount, this.#now);
        this.#ledger.pay(invoice, body.id, amount, 'credits', this.#now);
      }
    } else {
      const isLink = choice === 9 && invoice.purchase === null;
      const how = invoice.purchase === null ? this.random.pick(METHODS) : 'success';
      const body = await this.#command(isLink ? 'pay by link' : `pay by card ${how}`, '/payments', {
        ...sent, payment_gateway: 'test', amount: money(amount),
        ...(isLink
          ? { payment_method_type: 'PAYMENT_LINK' }
          : { payment_method_type: 'CARD', payment_method_id: `pm_test_${how}` }),
      }); // prettier-ignore
      if (body?.payment_status !== 'PENDING') return;
      if (this.random.chance(0.6)) await this.#outcome(body);
      else this.#pending.push(body.id);
    }
  }

  /** The gateway reports: once, twice, late or out of order, and some of it by signed webhooks. */
  async #outcome(payment: any): Promise<void> {
    const outcome = this.random.pick([
      'success',
      'duplicate',
      'reordered',
      'late',
      'decline',
    ] as const);
    const { api } = this.#business.world;
    await this.#post(`/v1/test-gateway/payments/${payment.id}/outcome`, { outcome });
    this.#business.count(`gateway reports ${outcome}`);
    for (let again = this.random.below(3); again > 0; again -= 1) {
      const raw = JSON.stringify({
        id: `webhook-${payment.id}-${this.random.below(2)}`,
        type: 'payment',
        gateway_payment_id: payment.gateway_payment_id,
        reference: payment.id,
      });
      const seconds = Math.floor(api.clock.now() / 1000);
      const mac = createHmac('sha256', WEBHOOK_SECRET).update(`${seconds}.${raw}`).digest('hex');
      const { tenant_id, environment_id } = api.scope;
      const answer = await api.app.inject({
        method: 'POST',
        url: `/v1/webhooks/test/${tenant_id}/${environment_id}/${this.#business.connection}`,
        headers: {
          'content-type': 'application/json',
          'x-test-signature': `t=${seconds},v1=${mac}`,
        },
        payload: raw,
      });
      this.#business.count(`webhook ${answer.statusCode}`);
    }
    await this.#business.readBank(this.customer);
  }

  async #topUp(): Promise<void> {
    if (this.customer.wallet_id === null) return;
    const credits = 100 + this.random.below(9_900);
    const reason = this.random.pick([
      'FREE_CREDIT_GRANT', 'PURCHASED_CREDIT_DIRECT', 'PURCHASED_CREDIT_INVOICED',
    ] as const); // prettier-ignore
    const isInvoiced = reason === 'PURCHASED_CREDIT_INVOICED';
    const month = `${monthsLater(this.#now, 1 + this.random.below(3)).slice(0, 8)}15T12:00:00.000Z`;
    const expiry = !isInvoiced && this.random.chance(0.5) ? month : null;
    const priority = this.random.chance(0.4) ? this.random.below(3) : null;
    const body = await this.#command(`top up ${reason}`, `/wallets/${this.customer.wallet_id}/top-up`, {
      credits_to_add: money(credits),
      transaction_reason: reason,
      ...(expiry === null ? {} : { expiry_date_utc: expiry }),
      ...(priority === null || isInvoiced ? {} : { priority }),
    }); // prettier-ignore
    if (body === null) return;
    if (!isInvoiced) this.customer.book.credit(credits, { expiry, priority });
    else {
      const invoice = this.#ledger.invoiceOf(body.invoice_id, this.customer);
      this.#ledger.sell(invoice, credits, this.#now);
    }
  }

  async #debit(): Promise<void> {
    if (this.customer.wallet_id === null) return;
    const credits = 1 + this.random.below(4_000);
    const body = await this.#command('debit', `/wallets/${this.customer.wallet_id}/debit`, {
      credits: money(credits),
      transaction_reason: 'MANUAL_BALANCE_DEBIT',
      idempotency_key: `debit-${this.#name}-${this.#commands}`,
    }); // prettier-ignore
    if (body !== null) this.customer.book.debit(credits, this.#now);
  }

  async #refund(row: any): Promise<void> {
    const payment = this.random.pick(this.#ledger.paymentsOf(this.#ledger.invoices.get(row.id)!));
    if (payment === undefined) return;
    const capacity = payment.amount - payment.refunded;
    const amount = this.random.chance(0.5) ? capacity : 1 + this.random.below(payment.amount);
    const isToSource = payment.kind === 'bank' && this.random.chance(0.5);
    const body = await this.#command('refund', '/refunds', {
      payment_id: payment.id,
      amount: money(amount),
      target: isToSource ? 'BACK_TO_SOURCE' : 'PREPAID_WALLET',
    }); // prettier-ignore
    if (body === null) return;
    if (isToSource) {
      if (this.#ledger.backToSource(payment, amount)) return;
      const retried = await this.#command('retry refund', `/refunds/${body.id}/retry`, {});
      if (retried === null) return;
    }
    this.#ledger.backToWallet(payment, amount, this.customer);
  }

  async #note(row: any): Promise<void> {
    const invoice = this.#ledger.invoices.get(row.id)!;
    const line = this.random.pick(row.line_items.filter((each: any) => each.amount !== '0')) as any;
    if (line === undefined || invoice.purchase !== null) return;
    const amount = 1 + this.random.below(cents(line.amount));
    const isToSource = this.random.chance(0.3);
    const isPaid = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED'].includes(row.payment_status);
    const body = await this.#command(isPaid ? 'refund note' : 'adjustment note', '/creditnotes', {
      invoice_id: row.id,
      reason: 'BILLING_ERROR',
      line_items: [{ invoice_line_item_id: line.id, amount: money(amount) }],
      process_credit_note: true,
      memo: `note ${this.#commands}`,
      ...(isPaid && isToSource ? { refund_target: 'BACK_TO_SOURCE' } : {}),
    }); // prettier-ignore
    if (body === null) return;
    if (isPaid) return this.#ledger.returnMoney(invoice, amount, isToSource);
    invoice.adjusted += amount;
    if (!this.random.chance(0.2)) return;
    const voided = await this.#command('void note', `/creditnotes/${body.id}/void`, {});
    if (voided !== null) invoice.adjusted -= amount;
  }

  async #void(row: any): Promise<void> {
    const invoice = this.#ledger.invoices.get(row.id)!;
    const isToSource =
      this.#ledger.paymentsOf(invoice).every(({ kind }) => kind === 'bank') &&
      this.random.chance(0.3);
    const body = await this.#command('void', `/invoices/${row.id}/void`, {
      ...(isToSource ? { refund_target: 'BACK_TO_SOURCE' } : {}),
    }); // prettier-ignore
    if (body !== null) this.#ledger.void(invoice, isToSource, this.#now);
  }

  async #oneOff(): Promise<void> {
    const amounts = [1 + this.random.below(20_000), 1 + this.random.below(999)];
    const body = await this.#command('one-off invoice', '/invoices', {
      customer_id: this.customer.id,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      line_items: amounts.map((amount, index) => ({
        display_name: `Work ${index}`,
        amount: money(amount),
        quantity: '1',
      })),
    }); // prettier-ignore
    if (body !== null)
      this.#ledger.invoiceOf(body.id, this.customer).total = amounts[0]! + amounts[1]!;
  }

  async #dispute(row: any): Promise<void> {
    const payment = this.random.pick(
      this.#ledger
        .paymentsOf(this.#ledger.invoices.get(row.id)!)
        .filter(({ kind }) => kind === 'bank'),
    );
    if (payment === undefined) return;
    const path = `/test-gateway/payments/${payment.id}/outcome`;
    const body = await this.#command('dispute', path, { outcome: 'dispute' });
    if (body !== null) payment.refunded = payment.amount;
  }

  async #cancel(): Promise<void> {
    const running = this.customer.subscriptions.find(({ end }) => end === null);
    if (running === undefined) return await this.subscribe();
    const isNow = this.random.chance(0.4);
    const body = await this.#command(isNow ? 'cancel now' : 'cancel', `/subscriptions/${running.id}/cancel`, {
      cancellation_type: isNow ? 'immediate' : 'end_of_period',
      proration_behavior: 'none',
      ...(isNow ? { cancel_immediately_inovice_policy: 'generate_invoice' } : {}),
    }); // prettier-ignore
    if (body === null) return;
    running.end = isNow ? this.#now : periodEnd(running, this.#now);
    running.isCancelledAtOnce = isNow;
    await this.#bookNow();
  }

  /** Invoices of the customer that a command has just issued. */
  async #bookNow(): Promise<void> {
    const { body } = await this.#post('/v1/invoices/search', {
      customer_id: this.customer.id, invoice_status: ['FINALIZED'], limit: 200,
      sort: [{ field: 'created_at', direction: 'asc' }],
    }); // prettier-ignore
    for (const invoice of body.items)
      if (
        invoice.finalized_at === this.#now &&
        this.#ledger.invoices.get(invoice.id)?.total == null
      )
        this.#ledger.bookIssued(invoice);
  }

  /** The gateway reports the success of a payment that has waited, even of an invoice voided since. */
  async #late(): Promise<void> {
    const late = this.#pending.shift();
    if (late === undefined) return;
    const path = `/v1/test-gateway/payments/${late}/outcome`;
    const { status } = await this.#post(path, { outcome: 'late' });
    this.#business.count(`late success ${status}`);
    await this.#business.readBank(this.customer);
  }

  /** Sends a command with a key of its own; some a second time, which must answer the same and change nothing. */
  async #command(what: string, path: string, body: object): Promise<any> {
    this.#commands += 1;
    const headers = { 'idempotency-key': `business-${this.#name}-${this.#commands}` };
    const send = () => this.#post(`/v1${path}`, body, headers);
    const sendNow = () => this.#business.world.api.post(`/v1${path}`, body, headers);
    const first = this.#isCutOff ? await this.#cutOff(what, sendNow) : await send();
    const isDone = first.status < 300;
    if (isDone && this.random.chance(TWICE)) {
      const second = await send();
      if (second.status !== first.status || second.body.id !== first.body.id)
        throw new Error(
          `${what} sent twice: ${first.status} ${second.status} ${JSON.stringify(second.body)}`,
        );
      this.#business.count('sent twice');
    }
    this.#business.count(
      isDone ? what : `${what} refused: ${first.body.code} ${first.body.message}`,
    );
    await this.#business.readBank(this.customer);
    return isDone ? first.body : null;
  }

  /** Repeats a call while the database is unavailable: a connection that was cut off may be found later. */
  async #post(path: string, body: object, headers: object = {}): Promise<TestAnswer> {
    let answer = await this.#business.world.api.post(path, body, headers);
    while (answer.status === 503) answer = await this.#business.world.api.post(path, body, headers);
    return answer;
  }

  /** Ends the connections of the command while it runs, and repeats it until it is answered. */
  async #cutOff(what: string, send: () => Promise<TestAnswer>): Promise<TestAnswer> {
    const { pool } = this.#business.world.api;
    const sent = send();
    sent.catch(() => {});
    await pool`select pg_sleep(${this.random.below(COMMAND_MS) / 1000})`;
    const { count } = await pool`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and usename = ${API_ROLE}`;
    let answer = await sent;
    const isLost = answer.status === 503;
    while (answer.status === 503 || answer.body?.code === 'idempotency_key_in_use')
      answer = await send();
    this.#business.count(
      isLost ? `cut off: ${what}` : `cut off too late or too early (${count} connections)`,
    );
    return answer;
  }
}
