import type { Row } from './discounts.ts';
import type { Subscription, Use } from './expected-charge.ts';
import type { TaxTerms } from './taxes.ts';
import type { Taken, WalletBook } from './wallet-book.ts';

/** Plans are sold in dollars, other work in both. */
export type Currency = 'usd' | 'eur';

export interface Payment {
  readonly id: string;
  /** The replacement's after the invoice was replaced. */
  invoice_id: string;
  readonly amount: number;
  readonly kind: 'offline' | 'credits' | 'bank';
  refunded: number;
  /** The connection to the bank is deleted: nothing goes back there. */
  isGone: boolean;
  /** The part of `refunded` that the bank paid back. */
  toSource: number;
}

/** A settlement of late usage: what it charged, negative for a credit, by row. */
export interface Settlement {
  readonly rows: ReadonlyMap<string, number>;
  /** Whether its document still holds. */
  readonly holds: () => boolean;
  readonly isCharge: boolean;
}

/** Credits that an invoice sells. */
export interface Purchase {
  readonly credits: number;
  /** The wallet that they are for. */
  readonly book: WalletBook;
  /** The wallet bought them by itself. */
  readonly isAuto?: boolean;
  /** Credits that refunds of their price took back. */
  recalled: number;
  state: 'unpaid' | 'done' | 'failed';
}

export interface Invoice {
  readonly id: string;
  readonly customer: Customer;
  readonly currency: Currency;
  /** Null until it is finalized. */
  total: number | null;
  /** Rows before prepaid credits and exclusive taxes, and those of usage among them. */
  net: number;
  usage: number;
  taxes: readonly TaxTerms[];
  exclusive: number;
  inclusive: number;
  prepaid: number;
  /** What coupons took off the rows; `net` and `usage` are without it. */
  off: number;
  taken: readonly Taken[];
  adjusted: number;
  /** Amounts that finalized notes credit, by row; the tax is `tax`. */
  readonly credited: Map<string, number>;
  /** Charges of its usage rows, and what settlements of late usage charged of each since. */
  rows: ReadonlyMap<string, number>;
  /** One-time fees among its rows. */
  setups: readonly Row[];
  readonly settlements: Settlement[];
  /** A person wrote the rows: later computations keep them (billing 17.6). */
  isWritten: boolean;
  isVoid: boolean;
  /** Its session ended unpaid: lists leave it out. */
  isArchived: boolean;
  /** Credits that this invoice sells, and whether the customer has them. */
  purchase: Purchase | null;
}

export interface Customer {
  readonly id: string;
  /** The customer was deleted: nothing is sold any more. */
  isGone: boolean;
  readonly external_id: string;
  readonly card: string | null;
  /** The prepaid wallet of dollars that is not closed. */
  book: WalletBook;
  /** The prepaid wallet of euros, made when the first of them return. */
  readonly euros: WalletBook;
  readonly postpaid: { readonly id: string; readonly book: WalletBook } | null;
  wallet_id: string | null;
  readonly subscriptions: Subscription[];
  readonly usage: Use[];
  readonly taxes: readonly TaxTerms[];
  /** Whether the customer pays no taxes, from which time on; the newest is last. */
  readonly exemptions: { readonly from: string; readonly isExempt: boolean }[];
}

/** The prepaid wallet that an invoice takes credits from, and that its money returns to. */
export const bookOf = ({ customer, currency }: Invoice): WalletBook =>
  currency === 'usd' ? customer.book : customer.euros;

export const isExempt = ({ exemptions }: Customer): boolean => exemptions.at(-1)?.isExempt === true;

/** What an invoice asks for before credits and taxes, less discounts: its usage is a part of its net. */
export interface Asked {
  /** What coupons took off; absent without coupons. */
  readonly off?: number;
  readonly usage: number;
  readonly net: number;
  readonly taxes: readonly TaxTerms[];
}
