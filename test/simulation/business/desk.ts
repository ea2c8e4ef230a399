import { API_ROLE } from '../../../postgres/scoped-pool.ts';
import type { TestAnswer } from '../../support/api.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import type { Random } from '../../support/random.ts';
import type { Ledger } from './ledger.ts';
import type { CouponTerms } from './coupon-terms.ts';
import type { Customer, Invoice } from './records.ts';
import type { PlanTerms } from './plans.ts';
import type { Session } from './sessions.ts';

/** Share of the commands that are sent twice. */
const TWICE = 0.05;
/** Milliseconds in which a command is in the middle. */
const COMMAND_MS = 40;

/** A plan with the ids of its prices. */
export interface SoldPlan {
  readonly id: string;
  readonly terms: PlanTerms;
  readonly fee_price_id: string | null;
  readonly usage_price_id: string;
}

/** What the desks of all customers share. */
export interface Business {
  readonly world: BillingWorld;
  readonly ledger: Ledger;
  readonly plans: readonly SoldPlan[];
  readonly meter: { readonly id: string };
  /** An addon with a fee that is due once, in cents. */
  readonly addon: { readonly id: string; readonly fee: number };
  /** The connection to the gateway. */
  readonly connection: string;
  readonly now: string;
  count(what: string): void;
  readBank(customer: Customer): Promise<void>;
}

/** Sends the commands about one customer. */
export class Desk {
  readonly business: Business;
  readonly ledger: Ledger;
  readonly customer: Customer;
  readonly random: Random;
  /** Tells its commands from those about other customers. */
  readonly name: string;
  /** Whether its commands lose their connections to Postgres in the middle. */
  isCutOff = false;
  /** Commands sent so far. */
  commands = 0;
  /** Why the last command was refused. */
  refusal = '';
  /** Payments whose outcome the gateway has not reported. */
  readonly pending: string[] = [];
  /** Adjustments that are not void. */
  readonly adjustments: { readonly id: string; readonly invoice: Invoice; undo(): void }[] = [];
  /** Coupons that were made for the customer. */
  readonly coupons: CouponTerms[] = [];
  /** Sessions whose page may be open. */
  readonly sessions: Session[] = [];

  constructor(business: Business, customer: Customer, random: Random, name: string) {
    this.business = business;
    this.ledger = business.ledger;
    this.customer = customer;
    this.random = random;
    this.name = name;
  }

  get now(): string {
    return this.business.now;
  }

  /** Sends a command with a key of its own; some a second time, which must answer the same and change nothing. */
  async command(
    what: string,
    path: string,
    body: object,
    verb: 'post' | 'delete' = 'post',
  ): Promise<any> {
    this.commands += 1;
    const headers = { 'idempotency-key': `business-${this.name}-${this.commands}` };
    const send = () => this.#untilAnswered(sendNow);
    const sendNow = () => {
      const { api } = this.business.world;
      return verb === 'post'
        ? api.post(`/v1${path}`, body, headers)
        : api.delete(`/v1${path}`, undefined, headers);
    };
    const first = this.isCutOff ? await this.#cutOff(what, sendNow) : await send();
    const isDone = first.status < 300;
    this.refusal = isDone ? '' : `${first.status} ${first.body.code} ${first.body.message}`;
    if (isDone && this.random.chance(TWICE)) {
      const second = await send();
      if (second.status !== first.status || second.body?.id !== first.body?.id)
        throw new Error(
          `${what} sent twice: ${first.status} ${second.status} ${JSON.stringify(second.body)}`,
        );
      this.business.count('sent twice');
    }
    this.business.count(isDone ? what : `${what} refused: ${this.refusal}`);
    await this.business.readBank(this.customer);
    return isDone ? (first.body ?? {}) : null;
  }

  /** Repeats a call while the database is unavailable: a connection that was cut off may be found later. */
  async post(path: string, body: object, headers: object = {}): Promise<TestAnswer> {
    return await this.#untilAnswered(() =>
      this.business.world.api.post(`/v1${path}`, body, headers),
    );
  }

  async #untilAnswered(send: () => Promise<TestAnswer>): Promise<TestAnswer> {
    let answer = await send();
    while (answer.status === 503) answer = await send();
    return answer;
  }

  /** The customer's issued invoices, oldest first. */
  async issued(): Promise<any[]> {
    const { body } = await this.post('/invoices/search', {
      customer_id: this.customer.id, invoice_status: ['FINALIZED'], limit: 200,
      sort: [{ field: 'created_at', direction: 'asc' }],
    }); // prettier-ignore
    return body.items;
  }

  /** Books the invoices of the customer's subscriptions that a command has just issued. */
  async bookIssued(): Promise<void> {
    for (const invoice of await this.issued())
      if (invoice.finalized_at === this.now && this.ledger.invoices.get(invoice.id)?.total == null)
        this.ledger.bookIssued(invoice);
  }

  /** Ends the connections of the command while it runs, and repeats it until it is answered. */
  async #cutOff(what: string, send: () => Promise<TestAnswer>): Promise<TestAnswer> {
    const { pool } = this.business.world.api;
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
    this.business.count(
      isLost ? `cut off: ${what}` : `cut off too late or too early (${count} connections)`,
    );
    return answer;
  }
}
