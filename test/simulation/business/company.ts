import { createHmac } from 'node:crypto';
import { API_ROLE } from '../../../postgres/scoped-pool.ts';
import type { TestAnswer } from '../../support/api.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import type { Random } from '../../support/random.ts';
import { monthsLater, periodEnd } from './expected-charge.ts';
import { Ledger, type Customer } from './ledger.ts';
import { PLANS, type PlanTerms } from './plans.ts';
import { WalletBook } from './wallet-book.ts';

/** Money is in cents. */
export const cents = (text: string): number => Math.round(Number(text) * 100);
export const money = (amount: number): string =>
  `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, '0')}`;

const WEBHOOK_SECRET = 'whsec_of_a_business';
const METHODS = ['success', 'success', 'success', 'decline', '3ds', 'late'] as const;
/** Share of the commands that are sent twice. */
const TWICE = 0.05;
/** Share of the commands whose connections to Postgres end in the middle. */
const CUT = Number(process.env['BUSINESS_CUT'] ?? 0.05);
/** Milliseconds in which a command is in the middle. */
const COMMAND_MS = 40;

/**
 * A company with customers on one test clock. Its people send random commands; it tells its ledger what each command
 * means that the product accepts.
 */
export class Company {
  readonly ledger = new Ledger();
  readonly tally: Record<string, number> = {};
  readonly #world: BillingWorld;
  readonly #random: Random;
  #plans: { id: string; terms: PlanTerms }[] = [];
  #meter: { id: string } = { id: '' };
  #clock = { id: '', now: '' };
  #connection = '';
  #commands = 0;
  readonly #pending: { readonly id: string; readonly of: Customer }[] = [];

  constructor(world: BillingWorld, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  get now(): string {
    return this.#clock.now;
  }

  async open(now: string, customers: number): Promise<void> {
    const { api, catalog } = this.#world;
    const sent = {
      name: 'Test',
      provider_type: 'test',
      encrypted_secret_data: { webhook_secret: WEBHOOK_SECRET },
    };
    this.#connection = (await api.post('/v1/connections', sent)).body.id;
    const value = { enabled: true, intervals_days: [3, 7], final_action: 'none' };
    await api.put('/v1/settings/payment_retry_config', { value });
    this.#meter = await catalog.meter();
    for (const terms of PLANS) {
      const plan = await catalog.plan(terms.name);
      if (terms.fee > 0)
        await catalog.fixed(plan, money(terms.fee), { display_name: `${terms.name} fee` });
      await catalog.usage(plan, this.#meter, { display_name: 'Units', ...terms.price });
      if (terms.credits > 0)
        await api.post('/v1/creditgrants', {
          name: 'Monthly credits', scope: 'PLAN', plan_id: plan.id, credits: String(terms.credits),
          cadence: 'RECURRING', period: 'MONTHLY', period_count: 1,
          expiration_type: 'DURATION', expiration_duration: 40, expiration_duration_unit: 'DAY',
        }); // prettier-ignore
      this.#plans.push({ id: plan.id, terms });
    }
    const clock = (await api.post('/v1/test-clocks', { now })).body;
    this.#clock = { id: clock.id, now };
    for (let index = 0; index < customers; index += 1) await this.#addCustomer(index);
  }

  async #addCustomer(index: number): Promise<void> {
    const { api, catalog } = this.#world;
    const { id, external_id } = await catalog.customer({ test_clock_id: this.#clock.id });
    const card = index % 3 === 0 ? null : index % 7 === 1 ? 'decline' : 'success';
    if (card !== null)
      await api.post(`/v1/customers/${id}/payment-methods`, {
        gateway_method_id: `pm_test_${card}`,
      });
    const wallet = async (wallet_type: string, more: object) =>
      (await api.post('/v1/wallets', { customer_id: id, currency: 'usd', wallet_type, ...more }))
        .body;
    const book = new WalletBook();
    const hasWallet = index % 2 === 0;
    const prepaid = hasWallet ? await wallet('PRE_PAID', { initial_credits_to_load: '40' }) : null;
    if (hasWallet) book.credit(4_000);
    const postpaid =
      index % 4 === 1
        ? {
            id: (await wallet('POST_PAID', { initial_credits_to_load: '300' })).id,
            book: new WalletBook(),
          }
        : null;
    postpaid?.book.credit(30_000);
    const customer: Customer = {
      id, external_id, card, book, postpaid, wallet_id: prepaid?.id ?? null, subscriptions: [], usage: [],
    }; // prettier-ignore
    this.ledger.customers.push(customer);
    await this.#subscribe(customer);
  }

  /** Sends a command with a key of its own; some a second time, which must answer the same and change nothing. */
  async #command(what: string, path: string, body: object, customer: Customer): Promise<any> {
    this.#commands += 1;
    const headers = { 'idempotency-key': `business-${this.#commands}` };
    const send = () => this.#post(`/v1${path}`, body, headers);
    const sendNow = () => this.#world.api.post(`/v1${path}`, body, headers);
    const first = this.#random.chance(CUT) ? await this.#cutOff(what, sendNow) : await send();
    const isDone = first.status < 300;
    if (isDone && this.#random.chance(TWICE)) {
      const second = await send();
      if (second.status !== first.status || second.body.id !== first.body.id)
        throw new Error(
          `${what} sent twice: ${first.status} ${second.status} ${JSON.stringify(second.body)}`,
        );
      this.#count('sent twice');
    }
    this.#count(isDone ? what : `${what} refused: ${first.body.code} ${first.body.message}`);
    await this.readBank(customer);
    return isDone ? first.body : null;
  }

  /** Repeats a call while the database is unavailable: a connection that was cut off may be found later. */
  async #post(path: string, body: object, headers: object = {}): Promise<TestAnswer> {
    let answer = await this.#world.api.post(path, body, headers);
    while (answer.status === 503) answer = await this.#world.api.post(path, body, headers);
    return answer;
  }

  /** Ends the connections of the command while it runs, and repeats it until it is answered. */
  async #cutOff(what: string, send: () => Promise<TestAnswer>): Promise<TestAnswer> {
    const { pool } = this.#world.api;
    const sent = send();
    sent.catch(() => {});
    await pool`select pg_sleep(${this.#random.below(COMMAND_MS) / 1000})`;
    const { count } = await pool`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and usename = ${API_ROLE}`;
    let answer = await sent;
    const isLost = answer.status === 503;
    while (answer.status === 503 || answer.body?.code === 'idempotency_key_in_use')
      answer = await send();
    this.#count(
      isLost ? `cut off: ${what}` : `cut off too late or too early (${count} connections)`,
    );
    return answer;
  }

  #count(what: string): void {
    this.tally[what] = (this.tally[what] ?? 0) + 1;
  }

  async #subscribe(customer: Customer): Promise<void> {
    const plan = this.#random.pick(this.#plans);
    const body = await this.#command('subscribe', '/subscriptions', {
      customer_id: customer.id, plan_id: plan.id, currency: 'usd',
      billing_period: 'MONTHLY', billing_period_count: 1,
    }, customer); // prettier-ignore
    if (body === null) throw new Error(`no subscription: ${JSON.stringify(this.tally)}`);
    customer.subscriptions.push({
      id: body.id,
      plan: plan.terms,
      start: this.now,
      end: null,
      isCancelledAtOnce: false,
    });
    if (plan.terms.credits > 0) this.ledger.grant(customer, plan.terms, this.now);
    await this.#bookNow(customer);
  }

  /** A month of usage, the clock, and the ledger of the automatic work at the month's end. */
  async month(to: string): Promise<void> {
    const from = this.now;
    for (const customer of this.ledger.customers)
      for (let times = this.#random.below(3); times >= 0; times -= 1) {
        const span = Date.parse(to) - Date.parse(from);
        const at = new Date(Date.parse(from) + this.#random.below(span)).toISOString();
        const units = this.#random.below(120);
        await this.#world.usage.use(this.#meter, customer, at, String(units));
        customer.usage.push({ at, units });
      }
    const clock = await this.#world.advance(this.#clock, to);
    if (clock.status !== 'ready') throw new Error(`the clock stopped: ${clock.error}`);
    this.#clock.now = to;
    await this.readBank(null);
    this.ledger.bookMonth(await this.everyInvoice(), from, to);
  }

  /** The statement of the bank: charges that the test gateway made, independent of the product's records. */
  async readBank(customer: Customer | null): Promise<void> {
    const { pool, scope } = this.#world.api;
    const rows = await pool<
      { id: string; amount: string; invoice_id: string; customer_id: string }[]
    >`
      select p.id, t.amount, p.destination_id as invoice_id, p.customer_id
        from test_gateway_payments t join payments p on p.id = t.reference
       where t.tenant_id = ${scope.tenant_id} and t.state = 'succeeded'
         ${customer === null ? pool`` : pool`and p.customer_id = ${customer.id}`}
       order by p.id`;
    for (const row of rows) {
      if (this.ledger.payments.has(row.id)) continue;
      const payer = this.ledger.customers.find(({ id }) => id === row.customer_id) ?? customer!;
      const invoice = this.ledger.invoiceOf(row.invoice_id, payer);
      this.ledger.pay(invoice, row.id, cents(row.amount), 'bank', this.now);
    }
  }

  /** One random command of a customer or of a person of the company. */
  async act(customer: Customer): Promise<void> {
    this.ledger.expire(customer, this.now);
    const { body } = await this.#post('/v1/invoices/search', {
      customer_id: customer.id, invoice_status: ['FINALIZED'], limit: 200,
    }); // prettier-ignore
    const invoices: any[] = body.items.filter(
      ({ id }: any) => this.ledger.invoices.get(id)?.total != null,
    );
    const open = invoices.filter(({ amount_remaining }) => amount_remaining !== '0');
    const settled = this.#random.pick(invoices.filter(({ amount_paid }) => amount_paid !== '0'));
    const dice = this.#random.below(100);
    if (dice < 34 && open.length > 0) return await this.#pay(this.#random.pick(open), customer);
    if (dice < 46) return await this.#topUp(customer);
    if (dice < 52) return await this.#debit(customer);
    if (dice < 58 && settled !== undefined) return await this.#refund(settled, customer);
    if (dice < 70 && invoices.length > 0)
      return await this.#note(this.#random.pick(invoices), customer);
    if (dice < 76 && invoices.length > 0)
      return await this.#void(this.#random.pick(invoices), customer);
    if (dice < 80) return await this.#oneOff(customer);
    if (dice < 84 && settled !== undefined) return await this.#dispute(settled, customer);
    if (dice < 90) return await this.#cancel(customer);
    if (dice < 95) return await this.#late(customer);
    this.#count('nothing');
  }

  async #pay(row: any, customer: Customer): Promise<void> {
    const invoice = this.ledger.invoices.get(row.id)!;
    const due = cents(row.amount_remaining);
    const isWhole = this.#random.chance(0.6) || invoice.purchase !== null;
    const amount = isWhole ? due : 1 + this.#random.below(due);
    const sent = { destination_type: 'INVOICE', destination_id: row.id, currency: 'usd' };
    const choice = this.#random.below(10);
    if (choice < 3) {
      const over = this.#random.chance(0.1) ? 500 : 0;
      const body = await this.#command('pay offline', '/payments', {
        ...sent, payment_method_type: 'OFFLINE', amount: money(amount + over),
      }, customer); // prettier-ignore
      if (body?.payment_status === 'SUCCEEDED')
        this.ledger.pay(invoice, body.id, amount + over, 'offline', this.now);
    } else if (choice < 5 && customer.postpaid !== null) {
      const body = await this.#command('pay with credits', '/payments', {
        ...sent, payment_method_type: 'CREDITS', payment_method_id: customer.postpaid.id, amount: money(amount),
      }, customer); // prettier-ignore
      if (body?.payment_status === 'SUCCEEDED') {
        customer.postpaid.book.debit(amount, this.now);
        this.ledger.pay(invoice, body.id, amount, 'credits', this.now);
      }
    } else {
      const isLink = choice === 9 && invoice.purchase === null;
      const how = invoice.purchase === null ? this.#random.pick(METHODS) : 'success';
      const body = await this.#command(isLink ? 'pay by link' : `pay by card ${how}`, '/payments', {
        ...sent, payment_gateway: 'test', amount: money(amount),
        ...(isLink
          ? { payment_method_type: 'PAYMENT_LINK' }
          : { payment_method_type: 'CARD', payment_method_id: `pm_test_${how}` }),
      }, customer); // prettier-ignore
      if (body?.payment_status !== 'PENDING') return;
      if (this.#random.chance(0.6)) await this.#outcome(body, customer);
      else this.#pending.push({ id: body.id, of: customer });
    }
  }

  /** The gateway reports: once, twice, late or out of order, and some of it by signed webhooks. */
  async #outcome(payment: any, customer: Customer): Promise<void> {
    const outcome = this.#random.pick([
      'success',
      'duplicate',
      'reordered',
      'late',
      'decline',
    ] as const);
    const { api } = this.#world;
    await this.#post(`/v1/test-gateway/payments/${payment.id}/outcome`, { outcome });
    this.#count(`gateway reports ${outcome}`);
    for (let again = this.#random.below(3); again > 0; again -= 1) {
      const raw = JSON.stringify({
        id: `webhook-${payment.id}-${this.#random.below(2)}`,
        type: 'payment',
        gateway_payment_id: payment.gateway_payment_id,
        reference: payment.id,
      });
      const seconds = Math.floor(api.clock.now() / 1000);
      const mac = createHmac('sha256', WEBHOOK_SECRET).update(`${seconds}.${raw}`).digest('hex');
      const { tenant_id, environment_id } = api.scope;
      const answer = await api.app.inject({
        method: 'POST',
        url: `/v1/webhooks/test/${tenant_id}/${environment_id}/${this.#connection}`,
        headers: {
          'content-type': 'application/json',
          'x-test-signature': `t=${seconds},v1=${mac}`,
        },
        payload: raw,
      });
      this.#count(`webhook ${answer.statusCode}`);
    }
    await this.readBank(customer);
  }

  async #topUp(customer: Customer): Promise<void> {
    if (customer.wallet_id === null) return;
    const credits = 100 + this.#random.below(9_900);
    const reason = this.#random.pick([
      'FREE_CREDIT_GRANT', 'PURCHASED_CREDIT_DIRECT', 'PURCHASED_CREDIT_INVOICED',
    ] as const); // prettier-ignore
    const isInvoiced = reason === 'PURCHASED_CREDIT_INVOICED';
    const month = `${monthsLater(this.now, 1 + this.#random.below(3)).slice(0, 8)}15T12:00:00.000Z`;
    const expiry = !isInvoiced && this.#random.chance(0.5) ? month : null;
    const priority = this.#random.chance(0.4) ? this.#random.below(3) : null;
    const body = await this.#command(`top up ${reason}`, `/wallets/${customer.wallet_id}/top-up`, {
      credits_to_add: money(credits),
      transaction_reason: reason,
      ...(expiry === null ? {} : { expiry_date_utc: expiry }),
      ...(priority === null || isInvoiced ? {} : { priority }),
    }, customer); // prettier-ignore
    if (body === null) return;
    if (!isInvoiced) customer.book.credit(credits, { expiry, priority });
    else {
      const invoice = this.ledger.invoiceOf(body.invoice_id, customer);
      this.ledger.sell(invoice, credits, this.now);
    }
  }

  async #debit(customer: Customer): Promise<void> {
    if (customer.wallet_id === null) return;
    const credits = 1 + this.#random.below(4_000);
    const body = await this.#command('debit', `/wallets/${customer.wallet_id}/debit`, {
      credits: money(credits),
      transaction_reason: 'MANUAL_BALANCE_DEBIT',
      idempotency_key: `debit-${this.#commands}`,
    }, customer); // prettier-ignore
    if (body !== null) customer.book.debit(credits, this.now);
  }

  async #refund(row: any, customer: Customer): Promise<void> {
    const payment = this.#random.pick(this.ledger.paymentsOf(this.ledger.invoices.get(row.id)!));
    if (payment === undefined) return;
    const capacity = payment.amount - payment.refunded;
    const amount = this.#random.chance(0.5) ? capacity : 1 + this.#random.below(payment.amount);
    const isToSource = payment.kind === 'bank' && this.#random.chance(0.5);
    const body = await this.#command('refund', '/refunds', {
      payment_id: payment.id,
      amount: money(amount),
      target: isToSource ? 'BACK_TO_SOURCE' : 'PREPAID_WALLET',
    }, customer); // prettier-ignore
    if (body === null) return;
    if (isToSource) {
      if (this.ledger.backToSource(payment, amount)) return;
      const retried = await this.#command(
        'retry refund',
        `/refunds/${body.id}/retry`,
        {},
        customer,
      );
      if (retried === null) return;
    }
    this.ledger.backToWallet(payment, amount, customer);
  }

  async #note(row: any, customer: Customer): Promise<void> {
    const invoice = this.ledger.invoices.get(row.id)!;
    const line = this.#random.pick(
      row.line_items.filter((each: any) => each.amount !== '0'),
    ) as any;
    if (line === undefined || invoice.purchase !== null) return;
    const amount = 1 + this.#random.below(cents(line.amount));
    const isToSource = this.#random.chance(0.3);
    const isPaid = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED'].includes(row.payment_status);
    const body = await this.#command(isPaid ? 'refund note' : 'adjustment note', '/creditnotes', {
      invoice_id: row.id,
      reason: 'BILLING_ERROR',
      line_items: [{ invoice_line_item_id: line.id, amount: money(amount) }],
      process_credit_note: true,
      memo: `note ${this.#commands}`,
      ...(isPaid && isToSource ? { refund_target: 'BACK_TO_SOURCE' } : {}),
    }, customer); // prettier-ignore
    if (body === null) return;
    if (isPaid) return this.ledger.returnMoney(invoice, amount, isToSource);
    invoice.adjusted += amount;
    if (!this.#random.chance(0.2)) return;
    const voided = await this.#command('void note', `/creditnotes/${body.id}/void`, {}, customer);
    if (voided !== null) invoice.adjusted -= amount;
  }

  async #void(row: any, customer: Customer): Promise<void> {
    const invoice = this.ledger.invoices.get(row.id)!;
    const isToSource =
      this.ledger.paymentsOf(invoice).every(({ kind }) => kind === 'bank') &&
      this.#random.chance(0.3);
    const body = await this.#command('void', `/invoices/${row.id}/void`, {
      ...(isToSource ? { refund_target: 'BACK_TO_SOURCE' } : {}),
    }, customer); // prettier-ignore
    if (body !== null) this.ledger.void(invoice, isToSource, this.now);
  }

  async #oneOff(customer: Customer): Promise<void> {
    const amounts = [1 + this.#random.below(20_000), 1 + this.#random.below(999)];
    const body = await this.#command('one-off invoice', '/invoices', {
      customer_id: customer.id,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      line_items: amounts.map((amount, index) => ({
        display_name: `Work ${index}`,
        amount: money(amount),
        quantity: '1',
      })),
    }, customer); // prettier-ignore
    if (body !== null) this.ledger.invoiceOf(body.id, customer).total = amounts[0]! + amounts[1]!;
  }

  async #dispute(row: any, customer: Customer): Promise<void> {
    const payment = this.#random.pick(
      this.ledger
        .paymentsOf(this.ledger.invoices.get(row.id)!)
        .filter(({ kind }) => kind === 'bank'),
    );
    if (payment === undefined) return;
    const path = `/test-gateway/payments/${payment.id}/outcome`;
    const body = await this.#command('dispute', path, { outcome: 'dispute' }, customer);
    if (body !== null) payment.refunded = payment.amount;
  }

  async #cancel(customer: Customer): Promise<void> {
    const running = customer.subscriptions.find(({ end }) => end === null);
    if (running === undefined) return await this.#subscribe(customer);
    const isNow = this.#random.chance(0.4);
    const body = await this.#command(isNow ? 'cancel now' : 'cancel', `/subscriptions/${running.id}/cancel`, {
      cancellation_type: isNow ? 'immediate' : 'end_of_period',
      proration_behavior: 'none',
      ...(isNow ? { cancel_immediately_inovice_policy: 'generate_invoice' } : {}),
    }, customer); // prettier-ignore
    if (body === null) return;
    running.end = isNow ? this.now : periodEnd(running, this.now);
    running.isCancelledAtOnce = isNow;
    await this.#bookNow(customer);
  }

  /** Invoices of the customer that a command has just issued. */
  async #bookNow(customer: Customer): Promise<void> {
    const { body } = await this.#post('/v1/invoices/search', {
      customer_id: customer.id, invoice_status: ['FINALIZED'], limit: 200,
      sort: [{ field: 'created_at', direction: 'asc' }],
    }); // prettier-ignore
    for (const invoice of body.items)
      if (invoice.finalized_at === this.now && this.ledger.invoices.get(invoice.id)?.total == null)
        this.ledger.bookIssued(invoice);
  }

  /** The gateway reports the success of a payment that has waited, even of an invoice voided since. */
  async #late(customer: Customer): Promise<void> {
    const index = this.#pending.findIndex(({ of }) => of === customer);
    const [late] = index < 0 ? [] : this.#pending.splice(index, 1);
    if (late === undefined) return;
    const path = `/v1/test-gateway/payments/${late.id}/outcome`;
    const { status } = await this.#post(path, { outcome: 'late' });
    this.#count(`late success ${status}`);
    await this.readBank(customer);
  }

  /** All invoices of the product, oldest first. */
  async everyInvoice(): Promise<any[]> {
    const found: any[] = [];
    for (;;) {
      const { body } = await this.#post('/v1/invoices/search', {
        limit: 1000, offset: found.length, sort: [{ field: 'created_at', direction: 'asc' }],
      }); // prettier-ignore
      found.push(...body.items);
      if (body.items.length < 1000) return found;
    }
  }
}
