import { EMPTY_LEDGER } from '../../../domain/invoicing/payment-ledger.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { storedDiscounts } from './coupon-applications.ts';
import { projectedWallets } from './prepaid-credits.ts';
import { settle, type Settled } from './settle.ts';
import { storedTaxes } from './tax-rows.ts';

/**
 * A computed invoice as a preview shows it: with the prepaid credits that would pay it if it were issued at `at`
 * (billing 17.7, 9.2). A draft uses no credits; they are taken when it is issued.
 */
export async function withProjectedCredits(
  db: Db,
  scope: Scope,
  { invoice, lines }: Settled,
  at: string,
): Promise<Settled> {
  const wallets = await projectedWallets(db, scope, invoice, at);
  if (wallets.length === 0) return { invoice, lines };
  const settled = settle(invoice, lines, {
    coupons: storedDiscounts(invoice),
    taxes: storedTaxes(invoice),
    wallets,
    ledger: EMPTY_LEDGER,
  });
  return { invoice: settled.invoice, lines: settled.lines };
}
