import { EMPTY_LEDGER } from '../../../domain/invoicing/payment-ledger.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { Ledger } from '../credits/ledger.ts';
import { storedDiscounts } from './coupon-applications.ts';
import { prepaidLedgers, walletsPaying } from './prepaid-credits.ts';
import { settle, type Settled } from './settle.ts';
import { storedTaxes } from './tax-rows.ts';

/**
 * A computed invoice as a preview shows it: with the prepaid credits that would pay it if it were issued at `at`
 * (billing 17.7, 9.2). A draft uses no credits; they are taken when it is issued.
 */
export async function withProjectedCredits(
  db: Db,
  scope: Scope,
  computed: Settled,
  at: string,
): Promise<Settled> {
  const ledgers = await prepaidLedgers(db, scope, computed.invoice.customer_id, at);
  return paidFrom(ledgers, computed, at);
}

/** The same for wallets that were read before: `ledgers` are those of the customer who pays the invoice. */
export function paidFrom(
  ledgers: readonly Ledger[],
  { invoice, lines }: Settled,
  at: string,
): Settled {
  const wallets = walletsPaying(invoice, ledgers, at);
  if (wallets.length === 0) return { invoice, lines };
  const settled = settle(invoice, lines, {
    coupons: storedDiscounts(invoice),
    taxes: storedTaxes(invoice),
    wallets,
    ledger: EMPTY_LEDGER,
  });
  return { invoice: settled.invoice, lines: settled.lines };
}
