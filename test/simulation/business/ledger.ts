import { Advances, type Settled } from './advances.ts';
import type { CouponTerms } from './coupon-terms.ts';
import { discount, type Attached, type Row } from './discounts.ts';
import {
  expectedCharge,
  monthsLater,
  periodEnd,
  segmentAt,
  termsAt,
  termsOfPeriod,
  usageRows,
  type BilledPeriod,
  type Terms,
} from './expected-charge.ts';
import type { Subscription } from './expected-charge.ts';
import type { PlanTerms } from './plans.ts';
import { bookOf, isExempt } from './records.ts';
import type { Asked, Currency, Customer, Invoice, Payment } from './records.ts';
import { WalletBook } from './wallet-book.ts';
import { taxesOn, UNTAXED, type TaxTerms } from './taxes.ts';

interface Setup {
  readonly subscription: Subscription;
  readonly at: string;
  readonly fee: number;
  invoice: Invoice;
}

/** What happened at a time; of what happened at once, the smaller rank came first. */
export interface LedgerEvent {
  readonly at: string;
  readonly rank: number;
  book(): void;
}

/**
 * The naive ledger of a company: what its invoices ask for, what was paid and returned, and what its customers' wallets
 * hold. Money is in cents; times are instants as text. It never asks the product for a figure.
 */
export class Ledger {
  readonly customers: Customer[] = [];
  readonly invoices = new Map<string, Invoice>();
  readonly payments = new Map<string, Payment>();
  readonly advances = new Advances();
  readonly coupons: CouponTerms[] = [];
  /** Invoices that are issued once a session is paid, with what happens then (money 11.6). */
  readonly #gates = new Map<
    Invoice,
    { readonly asked: Asked; readonly paid: () => void; readonly ended: () => void }
  >();
  /** One-time fees of addons, with the invoice that asks for each: the next one if it is void (billing 3.1). */
  readonly setups: Setup[] = [];
  /** Refunds that were retried. */
  readonly retried = new Set<string>();
  /** Invoices of periods, as they were at the last month's end. */
  #cycles: readonly any[] = [];

  /** The invoice, new if it is unknown. */
  invoiceOf(id: string, customer: Customer, currency: Currency = 'usd'): Invoice {
    const found = this.invoices.get(id);
    if (found !== undefined) return found;
    const made: Invoice = {
      id, customer, currency, total: null, net: 0, usage: 0, taxes: [], ...UNTAXED, prepaid: 0, off: 0, taken: [], adjusted: 0,
      credited: new Map(), rows: new Map(), setups: [], settlements: [], isWritten: false, isVoid: false, isArchived: false, purchase: null,
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
  bookMonth(
    invoices: readonly any[],
    from: string,
    to: string,
    others: readonly LedgerEvent[] = [],
  ): void {
    for (const invoice of [...this.#gates.keys()]) this.endGate(invoice);
    this.#cycles = invoices.filter(({ billing_reason }) => billing_reason === 'SUBSCRIPTION_CYCLE');
    const issued = invoices.filter(
      ({ finalized_at }) => finalized_at !== null && finalized_at > from && finalized_at <= to,
    );
    const events: LedgerEvent[] = issued
      .filter(({ billing_reason }) => billing_reason !== 'WALLET_AUTO_TOPUP')
      .map((invoice) => ({
        at: invoice.finalized_at,
        rank: 1,
        book: () => this.bookIssued(invoice),
      }));
    events.push(...others);
    for (const customer of this.customers)
      for (const subscription of customer.subscriptions)
        for (let month = 1; ; month += 1) {
          const { start, end } = subscription;
          const at = monthsLater(start, month);
          if (at > to || (end !== null && at >= end)) break;
          const { plan } = termsOfPeriod(subscription, at);
          if (at > from && plan.credits > 0)
            events.push({ at, rank: 0, book: () => this.grant(customer, plan, at) });
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
    const mine = this.invoiceOf(invoice.id, customer);
    if (mine.total !== null) return;
    // A period was closed, and its taxes pinned, before a change at its end (billing 8.3).
    const pinned = customer.exemptions.findLast(({ from }) => from < invoice.period_end);
    const isClosed = invoice.billing_reason !== 'SUBSCRIPTION_CREATE';
    const isFree = isClosed ? pinned?.isExempt === true : isExempt(customer);
    const taxes = isFree ? [] : customer.taxes;
    const { usage, net, fee, rows, subscription, off } = this.#charge(customer, invoice, mine);
    mine.rows = rows;
    const period = isClosed ? invoice.period_end : subscription.start;
    if (fee.gross > 0) this.advances.bill(mine, subscription, period, fee);
    this.issue(mine, { usage, net, taxes, off }, invoice.finalized_at);
  }

  /** The invoice of a period with all usage and the taxes of today; written rows stay (billing 8.3, 17.6). */
  issueAgain(mine: Invoice, replaced: Invoice, row: any, at: string): void {
    const { customer } = mine;
    const taxes = isExempt(customer) ? [] : customer.taxes;
    const isKept = replaced.isWritten || row.billing_reason === 'SUBSCRIPTION_UPDATE';
    if (isKept) {
      const { usage, net, off } = replaced;
      this.issue(mine, { usage, net, taxes, off }, at, row.period_end);
    } else {
      const { usage, net, fee, rows, off } = this.#charge(customer, row, mine);
      mine.rows = rows;
      this.advances.billAgain(mine, fee);
      this.issue(mine, { usage, net, taxes, off }, at, row.period_end);
    }
  }

  /** Taxes of an edited invoice: those of a closed period are pinned, others are those of today (billing 8.3). */
  taxesOfEdit({ customer, taxes }: Invoice, { billing_reason }: any): readonly TaxTerms[] {
    if (billing_reason !== 'SUBSCRIPTION_CREATE' && billing_reason !== 'SUBSCRIPTION_UPDATE')
      return billing_reason === null && isExempt(customer) ? [] : taxes;
    return isExempt(customer) ? [] : customer.taxes;
  }

  #charge(customer: Customer, invoice: any, mine: Invoice) {
    const subscription = customer.subscriptions.find(({ id }) => id === invoice.subscription_id);
    if (subscription === undefined) throw new Error(`invoice ${invoice.id} is of no one`);
    const { lines: billed, fee, rows } = expectedCharge(subscription, customer.usage, invoice);
    const lines = [...billed];
    for (const setup of this.setups) {
      const isIn = setup.at >= invoice.period_start && setup.at < invoice.period_end;
      const isDue = setup.invoice === mine || setup.invoice.isVoid;
      if (setup.subscription !== subscription || !isIn || !isDue) continue;
      setup.invoice = mine;
      lines.push(setupRow(subscription, setup.at, setup.fee));
    }
    mine.setups = lines.slice(billed.length);
    const { nets, used } = discount(lines, this.inForce(subscription, mine));
    this.use(used, mine);
    const sum = (of: readonly number[]) => of.reduce((total, amount) => total + amount, 0);
    const net = sum(nets);
    const off = sum(lines.map(({ amount }) => amount)) - net;
    const usage = sum(nets.filter((_, index) => lines[index]!.target === 'usage'));
    const feeNet = fee > 0 ? nets[billed.length - 1]! : 0;
    return { subscription, rows, usage, net, off, fee: { gross: fee, net: feeNet } };
  }

  attach(subscription: Subscription, attached: Attached): void {
    subscription.coupons.push(attached);
  }

  /** The coupons that may discount an invoice: one that counts once has one invoice that is not void (billing 7.2). */
  inForce(subscription: Subscription, invoice: Invoice | null): Attached[] {
    return subscription.coupons.filter(
      ({ coupon, usedBy }) =>
        coupon.cadence !== 'once' || usedBy === null || usedBy.isVoid || usedBy === invoice,
    );
  }

  use(used: readonly Attached[], invoice: Invoice): void {
    for (const each of used) if (each.coupon.cadence === 'once') each.usedBy = invoice;
  }

  /** What the opening invoice of a subscription asks for, without taxes. */
  opening(subscription: Subscription) {
    const { start } = subscription;
    const { lines, fee } = expectedCharge(subscription, [], {
      billing_reason: 'SUBSCRIPTION_CREATE',
      period_start: start,
      period_end: periodEnd(subscription, start),
    });
    const { nets, used } = discount(lines, this.inForce(subscription, null));
    const net = nets[0]!;
    const asked = { usage: 0, net, off: fee - net };
    return { asked, fee: { gross: fee, net }, used };
  }

  /** What usage rows of an invoice cost after discounts, by row (billing 17.6). */
  usageNets(
    subscription: Subscription,
    invoice: Invoice,
    charges: ReadonlyMap<string, number>,
    period: BilledPeriod,
  ): Map<string, number> {
    const lines = usageRows(subscription, charges, period);
    const { lines: all } = expectedCharge(subscription, invoice.customer.usage, period);
    const others = [...all.filter(({ target }) => target !== 'usage'), ...invoice.setups];
    const { nets } = discount([...lines, ...others], this.inForce(subscription, invoice));
    return new Map([...charges.keys()].map((from, index) => [from, nets[index]!]));
  }

  /**
   * A change of the terms, its charge less discounts. Only an invoice uses up a coupon that counts once, so a change
   * that makes none has only the others (billing 5.3).
   */
  settle(subscription: Subscription, next: Terms, at: string, taxes: readonly TaxTerms[]): Settled {
    const settled = this.advances.settle(subscription, next, at, taxes);
    const isOtherPlan = next.plan !== termsAt(subscription, at).plan;
    const row: Row = {
      target: 'fee',
      segment: segmentAt(subscription, at) + (isOtherPlan ? 1 : 0),
      start: at,
      end: periodEnd(subscription, at),
      amount: settled.gross,
    };
    const coupons = this.inForce(subscription, null);
    const all = discount([row], coupons);
    const isInvoice = all.nets[0]! > settled.credit;
    const { nets, used } = isInvoice
      ? all
      : discount(
          [row],
          coupons.filter(({ coupon }) => coupon.cadence !== 'once'),
        );
    return { ...settled, charge: nets[0]!, used };
  }

  /** Credits pay usage, or all rows, before exclusive taxes are added (billing 9.1). */
  issue(mine: Invoice, { usage, net, taxes, off = 0 }: Asked, at: string, ownEnd?: string): void {
    const { customer } = mine;
    const open = this.#openPeriods(customer.id, at);
    const book = bookOf(mine);
    book.expire(at, open);
    if (ownEnd !== undefined) open.push(ownEnd);
    const { inclusive, exclusive } = taxesOn(net, taxes);
    const payable = book.paysAll ? net : usage;
    const prepaid = Math.min(wholeCents(book.spendable(at, open)), payable);
    const taken = book.debit(prepaid, at, open);
    const total = net - prepaid + exclusive;
    Object.assign(mine, { usage, net, taxes, off, inclusive, exclusive, prepaid, taken, total });
  }

  /** A draft takes the place of the invoice, with its payments; the credits that paid it go back (money 9.15). */
  replace(invoice: Invoice, id: string, at: string): Invoice {
    const draft = this.invoiceOf(id, invoice.customer, invoice.currency);
    invoice.isVoid = true;
    bookOf(invoice).giveBack(invoice.taken, at);
    for (const payment of this.paymentsOf(invoice)) payment.invoice_id = id;
    this.advances.move(invoice, draft);
    for (const setup of this.setups) if (setup.invoice === invoice) setup.invoice = draft;
    for (const { coupons } of invoice.customer.subscriptions)
      for (const each of coupons) if (each.usedBy === invoice) each.usedBy = draft;
    return draft;
  }

  /** The credits of a plan for one month. */
  grant(customer: Customer, plan: PlanTerms, at: string, credits = plan.credits * 100): void {
    this.expire(customer, at);
    customer.book.credit(credits * customer.book.rate, {
      expiry: new Date(Date.parse(at) + 40 * 86_400_000).toISOString(),
    });
  }

  /** The wallet is closed; another one may follow. Its unpaid purchases have failed (money 2.11.9). */
  endWallet(customer: Customer): void {
    for (const { purchase } of this.invoices.values())
      if (purchase?.state === 'unpaid' && purchase.book === customer.book)
        purchase.state = 'failed';
    customer.book = new WalletBook();
    customer.wallet_id = null;
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

  /** A draft whose amount is locked until its session is paid; credits pay nothing of it. Returns the amount. */
  gate(invoice: Invoice, asked: Asked, paid: () => void, ended: () => void): number {
    this.#gates.set(invoice, { asked, paid, ended });
    return asked.net + taxesOn(asked.net, asked.taxes).exclusive;
  }

  /** The end of an unpaid session voids its invoice (money 11.17). */
  endGate(invoice: Invoice): void {
    const gate = this.#leaveGate(invoice);
    if (gate === undefined) return;
    gate.ended();
    invoice.isVoid = true;
    invoice.isArchived = true;
  }

  #leaveGate(invoice: Invoice) {
    const gate = this.#gates.get(invoice);
    if (gate === undefined) return;
    this.#gates.delete(invoice);
    const { net, taxes, off = 0 } = gate.asked;
    const taxed = taxesOn(net, taxes);
    Object.assign(invoice, { net, taxes, off, ...taxed, total: net + taxed.exclusive });
    return gate;
  }

  /** A payment that arrived: for a void invoice it goes back, and a paid purchase gives its credits. */
  pay(invoice: Invoice, id: string, amount: number, kind: Payment['kind'], at: string): void {
    this.#leaveGate(invoice)?.paid();
    this.payments.set(id, {
      id,
      invoice_id: invoice.id,
      amount,
      kind,
      refunded: 0,
      toSource: 0,
      isGone: false,
    });
    const isRefused = invoice.isVoid || invoice.purchase?.state === 'failed';
    if (isRefused) this.backToSource(this.payments.get(id)!, amount);
    this.#completePurchase(invoice, at);
  }

  /** The invoice sells credits that are worth as many cents, at a price. */
  sell(invoice: Invoice, credits: number, price: number, at: string, isAuto = false): void {
    invoice.total = price;
    invoice.net = price;
    invoice.purchase = {
      credits,
      book: invoice.customer.book,
      isAuto,
      recalled: 0,
      state: 'unpaid',
    };
    this.#completePurchase(invoice, at);
  }

  #completePurchase(invoice: Invoice, at: string): void {
    const { purchase, total, customer } = invoice;
    if (purchase?.state !== 'unpaid' || total === null || invoice.isVoid) return;
    if (this.paid(invoice) < total - invoice.adjusted) return;
    purchase.state = 'done';
    this.expire(customer, at);
    customer.book.credit(purchase.credits, { reference: invoice.id });
  }

  /** The bank does not know us any more: what is open there ends, and what was paid there stays there. */
  leaveBank(): void {
    for (const payment of this.payments.values()) payment.isGone ||= payment.kind === 'bank';
    for (const invoice of [...this.#gates.keys()]) this.endGate(invoice);
  }

  /** The gateway refuses to refund amounts that end in .13, and all of a connection that is gone: false. */
  backToSource(payment: Payment, amount: number): boolean {
    if (amount % 100 === 13 || payment.isGone) return false;
    payment.refunded += amount;
    payment.toSource += amount;
    return true;
  }

  /** Returns a part of a payment as credits: those that paid to their own wallet, other money to the prepaid one. */
  backToWallet(payment: Payment, amount: number, customer: Customer): void {
    payment.refunded += amount;
    if (payment.kind === 'credits') customer.postpaid!.book.credit(amount);
    else bookOf(this.invoices.get(payment.invoice_id)!).credit(amount);
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
    if (toWallet > 0) bookOf(invoice).credit(toWallet);
  }

  /**
   * Credits that a refund takes back: the refunded share of what was sold, less what earlier refunds took back (money
   * 9.16). May be a fraction.
   */
  soldFor(invoice: Invoice, amount: number): number {
    const { purchase } = invoice;
    if (purchase?.state !== 'done') return 0;
    const returned = Math.min(this.refunded(invoice) + amount, invoice.total!);
    return Math.max((purchase.credits * returned) / invoice.total! - purchase.recalled, 0);
  }

  /** Takes them back, before the money goes back; false if some of them are spent. */
  recallSold(invoice: Invoice, amount: number): boolean {
    const { purchase } = invoice;
    const credits = this.soldFor(invoice, amount);
    if (purchase === null || credits === 0) return true;
    if (!purchase.book.recall(invoice.id, credits)) return false;
    purchase.recalled += credits;
    return true;
  }

  /** A dispute takes back as many of them as are unspent, and leaves nothing to refund (money 9.9, 9.16). */
  dispute(invoice: Invoice, payment: Payment): void {
    const { purchase } = invoice;
    const credits = this.soldFor(invoice, payment.amount - payment.refunded);
    if (purchase !== null && credits > 0)
      purchase.recalled += purchase.book.recallUnspent(invoice.id, credits);
    payment.refunded = payment.amount;
  }

  /** A voided invoice: credits that it sold are taken out, money and credits that paid it go back. */
  /** `credited` has returned already (money 9.12). */
  void(invoice: Invoice, isToSource: boolean, at: string, credited: number): void {
    const { purchase } = invoice;
    invoice.isVoid = true;
    const sold = purchase === null ? 0 : purchase.credits - purchase.recalled;
    if (purchase?.state === 'done' && !purchase.book.recall(invoice.id, sold))
      throw new Error(`the purchase of ${invoice.id} was voided though its credits are spent`);
    const back = this.paid(invoice) - this.refunded(invoice) - credited;
    if (back > 0) this.returnMoney(invoice, back, isToSource);
    bookOf(invoice).giveBack(invoice.taken, at);
  }
}

/** A one-time fee is due at an instant. */
export const setupRow = (subscription: Subscription, at: string, amount: number): Row => ({
  target: null,
  segment: segmentAt(subscription, at),
  start: at,
  end: at,
  amount,
});

/** Credits below a cent pay nothing (money 2.6.4): a share of a grant has such a rest. */
const wholeCents = (credits: number): number => Math.floor(credits + 1e-6);
