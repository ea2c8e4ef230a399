import { expectedCharge, monthsLater, type Subscription, type Use } from './expected-charge.ts';
import type { PlanTerms } from './plans.ts';
import type { Taken, WalletBook } from './wallet-book.ts';

export interface Payment {
  readonly id: string;
  readonly invoice_id: string;
  readonly amount: number;
  readonly kind: 'offline' | 'credits' | 'bank';
  refunded: number;
  /** The part of `refunded` that the bank paid back. */
  toSource: number;
}

export interface Invoice {
  readonly id: string;
  readonly customer: Customer;
  /** Null until it is finalized. */
  total: number | null;
  prepaid: number;
  taken: readonly Taken[];
  adjusted: number;
  isVoid: boolean;
  /** Credits that this invoice sells, and whether the customer has them. */
  purchase: { readonly credits: number; isDone: boolean } | null;
}

export interface Customer {
  readonly id: string;
  readonly external_id: string;
  readonly card: string | null;
  readonly book: WalletBook;
  readonly postpaid: { readonly id: string; readonly book: WalletBook } | null;
  wallet_id: string | null;
  readonly subscriptions: Subscription[];
  readonly usage: Use[];
}

/**
 * The naive ledger of a company: what its invoices ask for, what was paid and returned, and what its customers' wallets
 * hold. Money is in cents; times are instants as text. It never asks the product for a figure.
 */
export class Ledger {
  readonly customers: Customer[] = [];
  readonly invoices = new Map<string, Invoice>();
  readonly payments = new Map<string, Payment>();
  /** Invoices of periods, as they were at the last month's end. */
  #cycles: readonly any[] = [];

  /** The invoice, new if it is unknown. */
  invoiceOf(id: string, customer: Customer): Invoice {
    const found = this.invoices.get(id);
    if (found !== undefined) return found;
    const made: Invoice = {
      id, customer, total: null, prepaid: 0, taken: [], adjusted: 0, isVoid: false, purchase: null,
    }; // prettier-ignore
    this.invoices.set(id, made);
    return made;
  }

  /** In the order of their ids. */
  paymentsOf({ id }: Invoice): Payment[] {
    return [...this.payments.values()]
      .filter(({ invoice_id }) => invoice_id === id)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  paid(invoice: Invoice): number {
    return this.paymentsOf(invoice).reduce((sum, { amount }) => sum + amount, 0);
  }

  refunded(invoice: Invoice): number {
    return this.paymentsOf(invoice).reduce((sum, { refunded }) => sum + refunded, 0);
  }

  /** Books grants, prepaid credits of issued invoices and expiries of a month, in the order of their times. */
  bookMonth(invoices: readonly any[], from: string, to: string): void {
    this.#cycles = invoices.filter(({ billing_reason }) => billing_reason === 'SUBSCRIPTION_CYCLE');
    const issued = invoices.filter(
      ({ finalized_at }) => finalized_at !== null && finalized_at > from && finalized_at <= to,
    );
    const events: { at: string; rank: number; book(): void }[] = issued.map((invoice) => ({
      at: invoice.finalized_at,
      rank: 1,
      book: () => this.bookIssued(invoice),
    }));
    for (const customer of this.customers)
      for (const { plan, start, end } of customer.subscriptions)
        for (let month = 1; plan.credits > 0; month += 1) {
          const at = monthsLater(start, month);
          if (at > to || (end !== null && at >= end)) break;
          if (at > from) events.push({ at, rank: 0, book: () => this.grant(customer, plan, at) });
        }
    events.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.rank - b.rank));
    for (const event of events) event.book();
    for (const customer of this.customers) this.expire(customer, to);
  }

  /**
   * An invoice of a subscription that the jobs issued, or a command: its total from the plan's terms, and the credits
   * that pay it.
   */
  bookIssued(invoice: any): void {
    const customer = this.customers.find(({ id }) => id === invoice.customer_id)!;
    const subscription = customer.subscriptions.find(({ id }) => id === invoice.subscription_id);
    const mine = this.invoiceOf(invoice.id, customer);
    if (mine.total !== null) return;
    if (subscription === undefined) throw new Error(`invoice ${invoice.id} is of no one`);
    const { usage, fee } = expectedCharge(subscription, customer.usage, invoice);
    const open = this.#openPeriods(customer.id, invoice.finalized_at);
    customer.book.expire(invoice.finalized_at, open);
    const prepaid = Math.min(customer.book.spendable(invoice.finalized_at, open), usage);
    mine.taken = customer.book.debit(prepaid, invoice.finalized_at, open);
    mine.prepaid = prepaid;
    mine.total = usage + fee - prepaid;
  }

  /** The credits of a plan for one month. */
  grant(customer: Customer, { credits }: PlanTerms, at: string): void {
    this.expire(customer, at);
    customer.book.credit(credits * 100, {
      expiry: new Date(Date.parse(at) + 40 * 86_400_000).toISOString(),
    });
  }

  /** Writes off the prepaid credits that have expired by a time. */
  expire({ id, book }: Customer, at: string): void {
    book.expire(at, this.#openPeriods(id, at));
  }

  /** Ends of the customer's periods whose invoices were not issued before a time. */
  #openPeriods(customerId: string, at: string): string[] {
    return this.#cycles
      .filter(
        ({ customer_id, invoice_status, period_end, finalized_at }) =>
          customer_id === customerId &&
          (invoice_status === 'DRAFT' || finalized_at >= at) &&
          period_end <= at,
      )
      .map(({ period_end }) => period_end);
  }

  /** A payment that arrived: for a void invoice it goes back, and a paid purchase gives its credits. */
  pay(invoice: Invoice, id: string, amount: number, kind: Payment['kind'], at: string): void {
    this.payments.set(id, { id, invoice_id: invoice.id, amount, kind, refunded: 0, toSource: 0 });
    if (invoice.isVoid) this.backToSource(this.payments.get(id)!, amount);
    this.#completePurchase(invoice, at);
  }

  /** The invoice sells credits for as many cents. */
  sell(invoice: Invoice, credits: number, at: string): void {
    invoice.total = credits;
    invoice.purchase = { credits, isDone: false };
    this.#completePurchase(invoice, at);
  }

  #completePurchase(invoice: Invoice, at: string): void {
    const { purchase, total, customer } = invoice;
    if (purchase === null || purchase.isDone || total === null || invoice.isVoid) return;
    if (this.paid(invoice) < total - invoice.adjusted) return;
    purchase.isDone = true;
    this.expire(customer, at);
    customer.book.credit(purchase.credits, { reference: invoice.id });
  }

  /** The gateway refuses to refund amounts that end in .13: false. */
  backToSource(payment: Payment, amount: number): boolean {
    if (amount % 100 === 13) return false;
    payment.refunded += amount;
    payment.toSource += amount;
    return true;
  }

  /** Returns a part of a payment as credits: those that paid to their own wallet, other money to the prepaid one. */
  backToWallet(payment: Payment, amount: number, customer: Customer): void {
    payment.refunded += amount;
    if (payment.kind === 'credits') customer.postpaid!.book.credit(amount);
    else customer.book.credit(amount);
  }

  /** Returns money of an invoice, from the newest payment on; credits go back to their own wallet. */
  returnMoney(invoice: Invoice, amount: number, isToSource: boolean): void {
    let left = amount;
    let toWallet = 0;
    for (const payment of this.paymentsOf(invoice).reverse()) {
      const part = Math.min(left, payment.amount - payment.refunded);
      if (part === 0) continue;
      left -= part;
      if (payment.kind === 'credits') {
        payment.refunded += part;
        invoice.customer.postpaid!.book.credit(part);
      } else if (isToSource) this.backToSource(payment, part);
      else {
        payment.refunded += part;
        toWallet += part;
      }
    }
    if (left > 0) throw new Error(`returned more than was paid for ${invoice.id}`);
    if (toWallet > 0) invoice.customer.book.credit(toWallet);
  }

  /** A voided invoice: credits that it sold are taken out, money and credits that paid it go back. */
  void(invoice: Invoice, isToSource: boolean, at: string): void {
    const { customer, purchase } = invoice;
    invoice.isVoid = true;
    if (purchase?.isDone === true && !customer.book.recall(invoice.id, purchase.credits))
      throw new Error(`the purchase of ${invoice.id} was voided though its credits are spent`);
    const back = this.paid(invoice) - this.refunded(invoice);
    if (back > 0) this.returnMoney(invoice, back, isToSource);
    customer.book.giveBack(invoice.taken, at);
  }
}
