import { feeOf, periodEnd, periodStart, termsAt, termsOfPeriod } from './expected-charge.ts';
import type { Subscription, Terms } from './expected-charge.ts';
import type { Attached } from './discounts.ts';
import type { Invoice } from './records.ts';
import { share, taxesOn, type TaxTerms } from './taxes.ts';

/** An amount that was charged for the terms' fee in a period. */
interface Advance {
  readonly subscription: Subscription;
  readonly terms: Terms;
  readonly period: string;
  readonly isOfChange: boolean;
  /** Changes link what they credit with what they charge. */
  readonly link: object;
  /** Null if it was settled through the wallet. */
  invoice: Invoice | null;
  /** After discounts. Negative: credited. */
  amount: number;
  /** Before discounts; 0 for a credit. */
  gross: number;
  /** What credit notes credit of it. */
  noted: number;
}

/** A fee before and after its discounts. */
export interface Fee {
  readonly gross: number;
  readonly net: number;
}

/** What a change in a period charges and credits. */
export interface Settled {
  /** After discounts, and before. */
  readonly charge: number;
  readonly gross: number;
  readonly used: readonly Attached[];
  readonly credit: number;
  /** Exclusive tax that was charged on what is credited, in proportion; not rounded. */
  readonly tax: number;
}

/** Fees that were charged in advance, so that a change credits no more than was billed (billing 5.3). */
export class Advances {
  #rows: Advance[] = [];

  bill(
    invoice: Invoice | null,
    subscription: Subscription,
    period: string,
    { gross, net: amount }: Fee,
  ): void {
    const terms = termsOfPeriod(subscription, period);
    const link = this.#linkOf(subscription, terms, period);
    this.#rows.push({
      ...{ subscription, terms, period, link, isOfChange: false, invoice, amount, gross, noted: 0 },
    });
  }

  /** The invoice was computed again: its coupons may discount the fee otherwise. */
  billAgain(invoice: Invoice, { net }: Fee): void {
    const row = this.#rows.find((each) => each.invoice === invoice && !each.isOfChange);
    if (row !== undefined) row.amount = net;
  }

  /** The replacement has what the replaced invoice charged. */
  move(from: Invoice, to: Invoice): void {
    for (const row of this.#rows) if (row.invoice === from) row.invoice = to;
  }

  /** An edit of the invoice changes its fees by this amount. */
  edit(invoice: Invoice, amount: number): void {
    const charge = this.#rows.findLast((row) => row.invoice === invoice && row.amount >= 0);
    if (charge === undefined) return;
    charge.amount += amount;
    charge.gross += amount;
  }

  /** A credit note credits a part of the invoice's fees; negative: it is void. */
  credit(invoice: Invoice, amount: number): void {
    for (const row of this.#rows)
      if (row.invoice === invoice && row.amount > 0) row.noted += amount;
  }

  /**
   * What notes may still credit of the fees of the invoice, if a change has credited a part of them; otherwise null
   * (money 10.6).
   */
  left(invoice: Invoice): number | null {
    const fee = this.#rows.find((row) => row.invoice === invoice && row.amount > 0);
    const rows = this.#rows.filter((row) => row.link === fee?.link && row.invoice?.isVoid !== true);
    if (!rows.some(({ amount }) => amount < 0)) return null;
    return Math.max(
      rows.reduce((sum, { amount, noted }) => sum + amount - noted, 0),
      0,
    );
  }

  /** What changes have credited of the fees of the invoice, without taxes; a void leaves it out (money 9.12). */
  credited(invoice: Invoice): number {
    const own = this.#rows.filter((row) => row.invoice === invoice);
    let credited = 0;
    for (const link of new Set(own.map((row) => row.link))) {
      const rows = this.#rows.filter((row) => row.link === link && row.invoice?.isVoid !== true);
      if (!rows.some(({ amount }) => amount < 0)) continue;
      const sum = (of: readonly Advance[]) => of.reduce((total, { amount }) => total + amount, 0);
      const noted = rows.reduce((total, row) => total + row.noted, 0);
      const left = Math.max(sum(rows) - noted, 0);
      credited += Math.max(sum(own.filter((row) => row.link === link)) - noted - left, 0);
    }
    return credited;
  }

  /** A change of the terms at a time: the slices of the rest of the period, the credit at most what was billed. */
  settle(subscription: Subscription, next: Terms, at: string, taxes: readonly TaxTerms[]): Settled {
    const period = periodStart(subscription, at);
    const [start, end, now] = [period, periodEnd(subscription, at), at].map((text) =>
      Date.parse(text),
    );
    const slice = (fee: number) => share(fee, end! - now!, end! - start!);
    const old = termsAt(subscription, at);
    const billed =
      this.#billed(subscription, old, period) - this.#notedBeyond(subscription, old, period);
    const { gross, net } = this.#charged(subscription, old, period);
    const worth =
      gross > net
        ? share(feeOf(old), (end! - now!) * net, (end! - start!) * gross)
        : slice(feeOf(old));
    const credit = Math.min(worth, Math.max(billed, 0));
    const tax = credit * this.#taxShare(subscription, old, period, taxes);
    const charge = slice(feeOf(next));
    return { charge, gross: charge, used: [], credit, tax };
  }

  /** Books a settled change; without an invoice the wallet has the net. */
  change(
    subscription: Subscription,
    next: Terms,
    { charge, gross, credit }: Settled,
    invoice: Invoice | null,
  ): void {
    const period = periodStart(subscription, next.from);
    const old = termsAt(subscription, next.from);
    const link = this.#linkOf(subscription, old, period);
    const row = { subscription, period, link, isOfChange: true, invoice, noted: 0 };
    this.#rows.push(
      { ...row, terms: old, amount: -credit, gross: 0 },
      { ...row, terms: next, amount: charge, gross },
    );
  }

  /** Tax of a cent of the fee: that of the invoice that charged it, or of today. */
  #taxShare(
    subscription: Subscription,
    terms: Terms,
    period: string,
    taxes: readonly TaxTerms[],
  ): number {
    const row = this.#rows.findLast(
      (each) =>
        each.subscription === subscription &&
        each.period === period &&
        each.terms === terms &&
        each.amount > 0,
    );
    const invoice = row?.invoice;
    if (invoice != null && invoice.net > 0) return invoice.exclusive / invoice.net;
    return taxesOn(1_000_000, taxes).exclusive / 1_000_000;
  }

  #billed(subscription: Subscription, terms: Terms, period: string): number {
    const rows = this.#rows.filter(
      (row) => row.subscription === subscription && row.period === period && row.terms === terms,
    );
    const isOfPeriod = termsOfPeriod(subscription, period) === terms;
    // The invoice of a period that has just begun is a draft that the ledger has not seen.
    const unseen = isOfPeriod && !rows.some(({ isOfChange }) => !isOfChange) ? feeOf(terms) : 0;
    return rows.reduce(
      (sum, { invoice, amount, noted }) => sum + (invoice?.isVoid ? 0 : amount - noted),
      unseen,
    );
  }

  /** What was charged for the fee in the period, before and after discounts. */
  #charged(subscription: Subscription, terms: Terms, period: string): Fee {
    const rows = this.#rows.filter(
      (row) =>
        row.subscription === subscription &&
        row.period === period &&
        row.terms === terms &&
        row.amount >= 0 &&
        row.gross > 0 &&
        row.invoice?.isVoid !== true,
    );
    return {
      gross: rows.reduce((sum, { gross }) => sum + gross, 0),
      net: rows.reduce((sum, { amount }) => sum + amount, 0),
    };
  }

  #linkOf(subscription: Subscription, terms: Terms, period: string): object {
    const row = this.#rows.find(
      (each) =>
        each.subscription === subscription && each.period === period && each.terms === terms,
    );
    return row?.link ?? {};
  }

  /** What notes on fees of earlier terms have credited beyond what changes had left of these. */
  #notedBeyond(subscription: Subscription, terms: Terms, period: string): number {
    const link = this.#linkOf(subscription, terms, period);
    const rows = this.#rows.filter((row) => row.link === link && row.invoice?.isVoid !== true);
    let beyond = 0;
    for (const each of new Set(rows.map((row) => row.terms))) {
      if (each === terms) continue;
      const own = rows.filter((row) => row.terms === each);
      const left = own.reduce((sum, { amount }) => sum + amount, 0);
      const noted = own.reduce((sum, row) => sum + row.noted, 0);
      beyond += Math.max(noted - Math.max(left, 0), 0);
    }
    return beyond;
  }
}
