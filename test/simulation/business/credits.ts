import { money } from './cents.ts';
import type { Desk } from './desk.ts';
import { monthsLater } from './expected-charge.ts';

const REASONS = [
  'FREE_CREDIT_GRANT', 'PURCHASED_CREDIT_DIRECT', 'PURCHASED_CREDIT_INVOICED',
] as const; // prettier-ignore

export async function topUp(desk: Desk): Promise<void> {
  const { customer, ledger, random } = desk;
  if (customer.wallet_id === null) return;
  // Whole tenths have whole cents at every rate.
  const credits = 10 * (10 + random.below(990));
  const reason = random.pick(REASONS);
  const isInvoiced = reason === 'PURCHASED_CREDIT_INVOICED';
  const month = `${monthsLater(desk.now, 1 + random.below(3)).slice(0, 8)}15T12:00:00.000Z`;
  const expiry = !isInvoiced && random.chance(0.5) ? month : null;
  const priority = random.chance(0.4) ? random.below(3) : null;
  const body = await desk.command(`top up ${reason}`, `/wallets/${customer.wallet_id}/top-up`, {
    credits_to_add: money(credits),
    transaction_reason: reason,
    ...(expiry === null ? {} : { expiry_date_utc: expiry }),
    ...(priority === null || isInvoiced ? {} : { priority }),
  });
  if (body === null) return;
  const { rate, price } = customer.book;
  if (!isInvoiced) return customer.book.credit(credits * rate, { expiry, priority });
  const invoice = ledger.invoiceOf(body.invoice_id, customer);
  ledger.sell(invoice, credits * rate, Math.round(credits * price), desk.now);
}

export async function debit(desk: Desk): Promise<void> {
  const { customer, random } = desk;
  if (customer.wallet_id === null) return;
  const credits = 1 + random.below(4_000);
  const body = await desk.command('debit', `/wallets/${customer.wallet_id}/debit`, {
    credits: money(credits),
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: `debit-${desk.name}-${desk.commands}`,
  });
  if (body !== null) customer.book.debit(credits * customer.book.rate, desk.now);
}
