import type { BillingWorld } from '../../support/billing-world.ts';
import { createRandom } from '../../support/random.ts';
import { cents, money } from './cents.ts';
import { Dealings } from './dealings.ts';
import { taxOverride } from './invoices.ts';
import { autoTopUpOf, bookTopUp, type SeenTopUp } from './auto-top-ups.ts';
import { Ledger, type LedgerEvent } from './ledger.ts';
import type { Customer } from './records.ts';
import { WEBHOOK_SECRET } from './payments.ts';
import type { SoldPlan } from './desk.ts';
import { PLANS } from './plans.ts';
import { TAXES } from './taxes.ts';
import { WalletBook } from './wallet-book.ts';

/** What one credit is worth and costs, in dollars; exact in binary numbers (the price in whole cents a tenth). */
const WALLET_RATES = [
  { rate: 1, price: 1 },
  { rate: 1, price: 1 },
  { rate: 0.5, price: 0.4 },
  { rate: 4, price: 5 },
  { rate: 0.25, price: 0.3 },
] as const;

/** Saved cards of customers whose wallets buy credits with invoices; null saves none. */
const AUTO_CARDS = ['success', 'late', 'decline', 'duplicate', 'timeout', null] as const;

/** In cents. */
const ADDON_FEE = 1_795;

/** Customers whose commands run at once: beyond that the two cores are busy. */
const AT_ONCE = 5;
/** Most database connections that killed commands leave lost in the pool. */
const LOST_MAX = 10;
/** Share of the customers whose commands of a month lose their connections to Postgres in the middle. */
const CUT = Number(process.env['BUSINESS_CUT'] ?? 0.08);

/**
 * A company with customers on one test clock. Its people send random commands; it tells its ledger what each command
 * means that the product accepts. The same seed draws the same commands about each customer.
 */
export class Company {
  readonly ledger = new Ledger();
  readonly tally: Record<string, number> = {};
  readonly world: BillingWorld;
  readonly plans: SoldPlan[] = [];
  addon = { id: '', fee: ADDON_FEE };
  connection = '';
  readonly #seed: number;
  readonly #dealings: Dealings[] = [];
  meter: { id: string } = { id: '' };
  #clock = { id: '', now: '' };
  readonly #seenTopUps = new Set<string>();

  constructor(world: BillingWorld, seed: number) {
    this.world = world;
    this.#seed = seed;
  }

  get now(): string {
    return this.#clock.now;
  }

  async open(now: string, { first, count }: { first: number; count: number }): Promise<void> {
    const { api, catalog } = this.world;
    await this.#connect();
    const value = { enabled: true, intervals_days: [3, 7], final_action: 'none' };
    await api.put('/v1/settings/payment_retry_config', { value });
    this.meter = await catalog.meter();
    const rates = new Map(TAXES.flat().map((tax) => [tax.code, tax.rate]));
    for (const [code, rate] of rates)
      await api.post('/v1/taxes/rates', {
        name: code, code, tax_rate_type: 'percentage', percentage_value: money(rate),
      }); // prettier-ignore
    for (const terms of PLANS) {
      const plan = await catalog.plan(terms.name);
      const fee =
        terms.fee > 0
          ? await catalog.fixed(plan, money(terms.fee), { display_name: `${terms.name} fee` })
          : null;
      const usage = await catalog.usage(plan, this.meter, {
        display_name: 'Units',
        ...terms.price,
      });
      if (terms.credits > 0)
        await api.post('/v1/creditgrants', {
          name: 'Monthly credits', scope: 'PLAN', plan_id: plan.id, credits: String(terms.credits),
          cadence: 'RECURRING', period: 'MONTHLY', period_count: 1,
          expiration_type: 'DURATION', expiration_duration: 40, expiration_duration_unit: 'DAY',
        }); // prettier-ignore
      this.plans.push({
        id: plan.id, terms, fee_price_id: fee?.id ?? null, usage_price_id: usage.id,
      }); // prettier-ignore
    }
    const { id } = (await api.post('/v1/addons', { name: 'Setup', lookup_key: 'setup' })).body;
    await catalog.fixed({ id }, money(ADDON_FEE), {
      entity_type: 'ADDON', display_name: 'Setup', billing_period: 'ONETIME',
    }); // prettier-ignore
    this.addon = { id, fee: ADDON_FEE };
    const clock = (await api.post('/v1/test-clocks', { now })).body;
    this.#clock = { id: clock.id, now };
    await inTurns(
      Array.from({ length: count }, (_, position) => first + position),
      (index) => this.#addCustomer(index),
    );
    await this.#deal((dealings) => dealings.subscribe());
  }

  async #connect(): Promise<void> {
    const { body } = await this.world.api.post('/v1/connections', {
      name: 'Test',
      provider_type: 'test',
      encrypted_secret_data: { webhook_secret: WEBHOOK_SECRET },
    });
    this.connection = body.id;
  }

  /**
   * Deletes the connection to the bank while pages are open there, and makes a new one. Customers save their cards
   * again.
   */
  async changeBank(): Promise<void> {
    const { api } = this.world;
    const remove = async () => (await api.delete(`/v1/connections/${this.connection}`)).status;
    let status = await remove();
    // The pool still has database connections that killed commands have lost.
    for (let left = LOST_MAX; status === 503 && left > 0; left -= 1) status = await remove();
    if (status !== 204) throw new Error(`the connection cannot be deleted: ${status}`);
    this.count(`delete connection ${status}, again ${await remove()}`);
    await this.readBank(null);
    this.ledger.leaveBank();
    for (const dealings of this.#dealings) dealings.leaveBank();
    await this.#connect();
    for (const customer of this.ledger.customers)
      if (!customer.isGone) await this.#saveCard(customer);
  }

  async #saveCard({ id, card }: Pick<Customer, 'id' | 'card'>): Promise<void> {
    if (card === null) return;
    await this.world.api.post(`/v1/customers/${id}/payment-methods`, {
      gateway_method_id: `pm_test_${card}`,
      is_default: true,
    });
  }

  async #addCustomer(index: number): Promise<void> {
    const { api, catalog } = this.world;
    const taxes = TAXES[index % TAXES.length]!;
    const { id, external_id } = await catalog.customer({
      external_id: `customer-${index}`,
      test_clock_id: this.#clock.id,
      ...(taxes.length === 0 ? {} : { tax_rate_overrides: taxes.map((tax) => taxOverride(tax)) }),
    });
    const usual = index % 3 === 0 ? null : index % 7 === 1 ? 'decline' : 'success';
    const card = index % 4 === 0 ? AUTO_CARDS[(index / 4) % AUTO_CARDS.length]! : usual;
    await this.#saveCard({ id, card });
    const wallet = async (wallet_type: string, more: object) =>
      (await api.post('/v1/wallets', { customer_id: id, currency: 'usd', wallet_type, ...more }))
        .body;
    const rates = WALLET_RATES[index % WALLET_RATES.length]!;
    const book = new WalletBook({ paysAll: index % 4 === 2, ...(index % 2 === 0 ? rates : {}) });
    const hasWallet = index % 2 === 0;
    const isInvoiced = index % 4 === 0;
    if (isInvoiced || index % 12 === 2)
      book.auto = { isOn: true, isInvoiced, threshold: 2_000, credits: 5_000 };
    const prepaid = hasWallet
      ? await wallet('PRE_PAID', {
          initial_credits_to_load: '40',
          conversion_rate: String(rates.rate),
          topup_conversion_rate: String(rates.price),
          ...(book.auto === null ? {} : { auto_topup: autoTopUpOf(book.auto) }),
          ...(book.paysAll ? { config: { allowed_price_types: ['ALL'] } } : {}),
        })
      : null;
    if (hasWallet) book.credit(4_000 * rates.rate);
    const postpaid =
      index % 4 === 1
        ? {
            id: (await wallet('POST_PAID', { initial_credits_to_load: '300' })).id,
            book: new WalletBook(),
          }
        : null;
    postpaid?.book.credit(30_000);
    const customer: Customer = {
      id, external_id, card, book, euros: new WalletBook(), postpaid, wallet_id: prepaid?.id ?? null, subscriptions: [], usage: [],
      taxes, exemptions: [], isGone: false,
    }; // prettier-ignore
    this.ledger.customers.push(customer);
    const random = createRandom(this.#seed * 1_000_003 + index);
    this.#dealings.push(new Dealings(this, customer, random, String(index)));
  }

  /** Random commands about every customer, a random number below `limit` of each. */
  async commands(limit: number): Promise<void> {
    await this.#deal(async (dealings) => {
      await dealings.report();
      for (let left = dealings.random.below(limit); left > 0; left -= 1) await dealings.act();
    });
  }

  /**
   * Work with each customer: with some of them at once, then, with those whose commands are cut off, one after another,
   * because a cut hits every command that runs.
   */
  async #deal(work: (dealings: Dealings) => Promise<void>): Promise<void> {
    for (const dealings of this.#dealings) dealings.drawCut(CUT);
    await inTurns(
      this.#dealings.filter(({ isCutOff }) => !isCutOff),
      work,
    );
    for (const dealings of this.#dealings.filter(({ isCutOff }) => isCutOff)) await work(dealings);
  }

  count(what: string): void {
    this.tally[what] = (this.tally[what] ?? 0) + 1;
  }

  /** A month of usage, the clock, and the ledger of the automatic work at the month's end. Returns all invoices. */
  async month(to: string): Promise<readonly any[]> {
    const from = this.now;
    for (const { customer, random } of this.#dealings.filter((each) => !each.customer.isGone))
      for (let times = random.below(3); times >= 0; times -= 1) {
        const span = Date.parse(to) - Date.parse(from);
        const at = new Date(Date.parse(from) + random.below(span)).toISOString();
        const units = random.below(120);
        await this.world.usage.use(this.meter, customer, at, String(units));
        customer.usage.push({ at, units });
      }
    const clock = await this.world.advance(this.#clock, to);
    if (clock.status !== 'ready') throw new Error(`the clock stopped: ${clock.error}`);
    this.#clock.now = to;
    const invoices = await this.#everyInvoice();
    const topUps = await this.#topUps(null);
    const statement = await this.#statement(null);
    // Credits of a top-up pay what is issued after it; when other money came makes no difference.
    for (const { isOfTopUp, book } of statement) if (!isOfTopUp) book();
    const paid = statement.filter(({ isOfTopUp }) => isOfTopUp);
    this.ledger.bookMonth(invoices, from, to, [...topUps, ...paid]);
    return invoices;
  }

  /** The statement of the bank: charges that the test gateway made, independent of the product's records. */
  async readBank(customer: Customer | null): Promise<void> {
    for (const { book } of await this.#topUps(customer)) book();
    for (const { book } of await this.#statement(customer)) book();
  }

  /** Automatic top-ups that the ledger does not know. */
  async #topUps(customer: Customer | null): Promise<LedgerEvent[]> {
    const { pool, scope } = this.world.api;
    const rows = await pool<SeenTopUp[]>`
      select t.id, w.customer_id, t.wallet_id, i.id as invoice_id, t.credit_amount as credits, t.created_at as at
        from wallet_transactions t join wallets w on w.id = t.wallet_id
        left join invoices i on i.purchased_transaction_id = t.id
       where t.tenant_id = ${scope.tenant_id} and t.type = 'credit' and t.metadata ->> 'auto_topup' = 'true'
         ${customer === null ? pool`` : pool`and w.customer_id = ${customer.id}`}
       order by t.created_at, t.id`;
    return rows.flatMap((seen) => {
      if (this.#seenTopUps.has(seen.id)) return [];
      this.#seenTopUps.add(seen.id);
      const payer = this.ledger.customers.find(({ id }) => id === seen.customer_id) ?? customer!;
      this.count(`topped up ${seen.invoice_id === null ? 'directly' : 'by invoice'}`);
      return { at: seen.at, rank: 2, book: () => bookTopUp(this.ledger, payer, seen) };
    });
  }

  /** Charges on the statement that the ledger does not know. */
  async #statement(
    customer: Customer | null,
  ): Promise<(LedgerEvent & { readonly isOfTopUp: boolean })[]> {
    const { pool, scope } = this.world.api;
    const rows = await pool<
      {
        id: string;
        amount: string;
        invoice_id: string;
        customer_id: string;
        at: string | null;
        billing_reason: string | null;
      }[]
    >`
      select p.id, t.amount, p.destination_id as invoice_id, p.customer_id, p.succeeded_at as at, i.billing_reason
        from test_gateway_payments t join payments p on p.id = t.reference join invoices i on i.id = p.destination_id
       where t.tenant_id = ${scope.tenant_id} and t.state = 'succeeded'
         ${customer === null ? pool`` : pool`and p.customer_id = ${customer.id}`}
       order by p.id`;
    return rows.flatMap((row) => {
      if (this.ledger.payments.has(row.id)) return [];
      const payer = this.ledger.customers.find(({ id }) => id === row.customer_id) ?? customer!;
      const at = row.at ?? this.now;
      const book = () => {
        if (this.ledger.payments.has(row.id)) return;
        const invoice = this.ledger.invoiceOf(row.invoice_id, payer);
        this.ledger.pay(invoice, row.id, cents(row.amount), 'bank', at);
      };
      return { at, rank: 3, book, isOfTopUp: row.billing_reason === 'WALLET_AUTO_TOPUP' };
    });
  }

  /** All invoices of the product, oldest first, then those that lists leave out. */
  async #everyInvoice(): Promise<any[]> {
    const found: any[] = [];
    for (;;) {
      const { body } = await this.world.api.post('/v1/invoices/search', {
        limit: 1000, offset: found.length, sort: [{ field: 'created_at', direction: 'asc' }],
      }); // prettier-ignore
      found.push(...body.items);
      if (body.items.length < 1000) break;
    }
    for (const { id, isArchived } of this.ledger.invoices.values())
      if (isArchived) found.push((await this.world.api.get(`/v1/invoices/${id}`)).body);
    return found;
  }
}

/** Work with each item, of `AT_ONCE` at a time. */
async function inTurns<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const next = items.values();
  const worker = async (): Promise<void> => {
    for (const item of next) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
