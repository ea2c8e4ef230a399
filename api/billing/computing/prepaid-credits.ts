import { decimal, roundToStorage, type Decimal } from '../../../domain/money.ts';
import type { PrepaidWallet, WalletDebit } from '../../../domain/invoicing/prepaid-credits.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import { debitWallet } from '../../../domain/wallet/wallet.ts';
import { prepaidWalletOrder } from '../../../domain/wallet/wallet-order.ts';
import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { ledgerAfter, writeDecisions, type Decided, type Ledger } from '../credits/ledger.ts';
import {
  findPrepaidWallets,
  lockPrepaidWallets,
  type WalletRow,
} from '../credits/wallet-repository.ts';
import { findBlocks } from '../credits/wallet-transaction-repository.ts';

/** Prepaid credits for a page of invoices that are being issued. */
export interface PrepaidCreditsOfPage {
  /** Wallets that pay this invoice, in order of use; none for an invoice that sells credits. */
  walletsFor(invoice: InvoiceRecord): PrepaidWallet[];
  /** Takes the credits that the issued invoice used, so that the next invoice cannot use them. */
  take(invoice: InvoiceRecord, debits: readonly WalletDebit[]): void;
  /** Writes everything taken. */
  write(): Promise<void>;
}

/**
 * Locks the prepaid wallets of the invoices' customers and reads their blocks: two statements for a whole
 * page (billing 9.2, money 2.6).
 */
export async function openPrepaidCredits(
  tx: Transaction,
  deps: Pick<BillingDeps, 'ids'>,
  scope: Scope,
  invoices: readonly InvoiceRecord[],
  { at, user_id }: { readonly at: string; readonly user_id: string },
): Promise<PrepaidCreditsOfPage> {
  const customers = [...new Set(invoices.map(({ customer_id }) => customer_id))];
  const wallets = await lockPrepaidWallets(tx, scope, customers.sort());
  const ledgers = new Map<string, Ledger>(
    (await withBlocks(tx, scope, wallets, at)).map((ledger) => [ledger.wallet.id, ledger]),
  );
  const taken: Decided[] = [];
  return {
    walletsFor: (invoice) => walletsPaying(invoice, [...ledgers.values()], at),
    take(invoice, debits) {
      for (const debit of debits) {
        const ledger = ledgers.get(debit.wallet_id)!;
        const key = transactionKey.prepaid(invoice.id, FIRST_APPLICATION, debit.wallet_id);
        const decision = debitWallet(
          ledger.wallet,
          ledger.blocks,
          {
            id: deps.ids.next('wtxn'),
            credits: decimal(debit.credits),
            amount: amountIn(ledger.wallet, invoice, debit.amount),
            transaction_reason: 'CREDIT_ADJUSTMENT',
            arrears_period_end: invoice.period_end,
          },
          at,
        );
        taken.push({ ledger, decision, causeOf: () => causeOf(invoice, ledger, key) });
        ledgers.set(debit.wallet_id, ledgerAfter(ledger, decision, user_id));
      }
    },
    async write() {
      await writeDecisions(tx, { scope, user_id }, taken);
    },
  };
}

/** The prepaid wallets of a customer with their blocks. Locks and writes nothing. */
export async function prepaidLedgers(
  db: Db,
  scope: Scope,
  customerId: string,
  at: string,
): Promise<Ledger[]> {
  return await withBlocks(db, scope, await findPrepaidWallets(db, scope, customerId), at);
}

async function withBlocks(
  db: Db,
  scope: Scope,
  wallets: readonly WalletRow[],
  at: string,
): Promise<Ledger[]> {
  const ids = wallets.map(({ id }) => id);
  const blocks = groupBy(await findBlocks(db, scope, ids), ({ wallet_id }) => wallet_id);
  return wallets.map((wallet) => ({ wallet, blocks: blocks.get(wallet.id) ?? [], at }));
}

/** The wallets that would pay a computed invoice if it were issued at `at`, in order of use (billing 17.7). */
export function walletsPaying(
  invoice: InvoiceRecord,
  ledgers: readonly Ledger[],
  at: string,
): PrepaidWallet[] {
  // Credits do not buy credits (money 2.11.5).
  if (invoice.purchased_transaction_id !== null) return [];
  const candidates = ledgers
    .filter(({ wallet }) => wallet.customer_id === invoice.customer_id)
    .map(({ wallet, blocks }) => ({
      wallet,
      blocks,
      allowed_price_types: wallet.allowed_price_types,
      created_at: wallet.created_at,
      custom: customOf(invoice),
    }));
  return prepaidWalletOrder(candidates, invoice.currency, at, invoice.period_end);
}

const customOf = ({ custom_currency }: Pick<InvoiceRecord, 'custom_currency'>) =>
  custom_currency === null
    ? null
    : { currency: custom_currency.currency, factor: custom_currency.conversion_factor };

/** What a debit is in the currency of the wallet: its amount is money of the invoice (money 12.7). */
const amountIn = (
  wallet: Ledger['wallet'],
  { currency, custom_currency }: InvoiceRecord,
  amount: string,
): Decimal =>
  custom_currency === null || wallet.currency === currency
    ? decimal(amount)
    : roundToStorage(decimal(amount).div(custom_currency.conversion_factor));

/** An invoice is issued once; a replacement is another invoice. */
const FIRST_APPLICATION = 1;

const causeOf = (invoice: InvoiceRecord, { wallet }: Ledger, key: string) => ({
  reference_type: 'INVOICE' as const,
  reference_id: invoice.id,
  source_type: 'INVOICE' as const,
  source_id: invoice.id,
  idempotency_key: key,
  description: `Amount applied as credit adjustment to invoice ${invoice.id} from wallet ${wallet.id}`,
  metadata: {
    adjustment_type: 'amount_application',
    customer_id: wallet.customer_id,
    invoice_id: invoice.id,
    wallet_type: wallet.wallet_type,
  },
});
