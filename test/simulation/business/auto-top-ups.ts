import { cents } from './cents.ts';
import type { Desk } from './desk.ts';
import type { Ledger } from './ledger.ts';
import type { Customer } from './records.ts';
import type { AutoTopUp } from './wallet-book.ts';

const HOUR_MS = 3_600_000;
/** Whole tens of credits have whole cents at every rate. */
const AMOUNTS = [2_000, 5_000, 12_000] as const;
const THRESHOLDS = [0, 1_000, 3_000] as const;

/** Terms of an automatic top-up, as the API takes them. */
export const autoTopUpOf = ({ isOn, isInvoiced, threshold, credits }: AutoTopUp) => ({
  enabled: isOn,
  invoicing: isInvoiced,
  threshold: String(threshold / 100),
  amount: String(credits / 100),
});

/** The customer switches the automatic top-up of the wallet on or off, or changes its terms. */
export async function changeAutoTopUp(desk: Desk): Promise<void> {
  const { business, customer, random } = desk;
  if (customer.wallet_id === null) return;
  const auto: AutoTopUp = {
    isOn: random.chance(0.8),
    isInvoiced: random.chance(0.7),
    threshold: random.pick(THRESHOLDS)!,
    credits: random.pick(AMOUNTS)!,
  };
  const path = `/v1/wallets/${customer.wallet_id}`;
  const { status, body } = await business.world.api.put(path, { auto_topup: autoTopUpOf(auto) });
  if (status !== 200) throw new Error(`no automatic top-up: ${JSON.stringify(body)}`);
  customer.book.auto = auto;
  business.count(
    `automatic top-up ${auto.isOn ? (auto.isInvoiced ? 'invoiced' : 'direct') : 'off'}`,
  );
  await business.readBank(customer);
}

/** An automatic top-up as the product shows it: its invoice, or the credits of one without an invoice. */
export interface SeenTopUp {
  readonly id: string;
  readonly customer_id: string;
  readonly wallet_id: string;
  readonly invoice_id: string | null;
  readonly credits: string;
  readonly at: string;
}

/**
 * Books an automatic top-up by the wallet's terms: the credits, their price, and the invoice that waits for its
 * payment. At most one waits at a time, and what is charged to a saved card comes at most once an hour (money 3.6 to
 * 3.8).
 */
export function bookTopUp(ledger: Ledger, customer: Customer, seen: SeenTopUp): void {
  const { book } = customer;
  const { auto } = book;
  const name = `the automatic top-up ${seen.id} of ${customer.external_id} at ${seen.at}`;
  if (auto === null || !auto.isOn || auto.isInvoiced !== (seen.invoice_id !== null))
    throw new Error(`${name} is not due by ${JSON.stringify(auto)}`);
  if (cents(seen.credits) !== auto.credits)
    throw new Error(`${name} adds ${seen.credits} credits, not ${auto.credits / 100}`);
  if (book.isFrozen) throw new Error(`${name} is of a frozen wallet`);
  const waiting = [...ledger.invoices.values()].find(
    ({ isVoid, purchase }) => !isVoid && purchase?.state === 'unpaid' && purchase.isAuto && purchase.book === book,
  ); // prettier-ignore
  if (waiting !== undefined) throw new Error(`${name} comes while ${waiting.id} is not paid`);
  const pause = Date.parse(seen.at) - Date.parse(book.toppedUpAt ?? '1970-01-01');
  const least = !auto.isInvoiced ? HOUR_MS / 60 : customer.card === null ? 0 : HOUR_MS;
  if (pause < least) throw new Error(`${name} comes after a pause of ${pause} ms`);
  book.toppedUpAt = seen.at;
  const worth = auto.credits * book.rate;
  if (seen.invoice_id === null) {
    ledger.expire(customer, seen.at);
    return book.credit(worth);
  }
  const invoice = ledger.invoiceOf(seen.invoice_id, customer);
  ledger.sell(invoice, worth, Math.round(auto.credits * book.price), seen.at, true);
}

/** Whether credits are so few that a top-up must have come or wait; claims of usage can only make them fewer. */
export function isMissingTopUp(ledger: Ledger, { book }: Customer, now: string): boolean {
  const { auto, toppedUpAt } = book;
  if (auto === null || !auto.isOn || book.isFrozen || book.overdraft > 0) return false;
  if (book.balance > auto.threshold * book.rate) return false;
  if (toppedUpAt !== null && Date.parse(now) - Date.parse(toppedUpAt) < HOUR_MS) return false;
  return ![...ledger.invoices.values()].some(
    ({ isVoid, purchase }) => !isVoid && purchase?.state === 'unpaid' && purchase.book === book,
  );
}
