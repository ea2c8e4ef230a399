import { roundToCurrency } from '../../../domain/currency.ts';
import { invalidField } from '../../../domain/errors.ts';
import { CHECKOUT_SOURCE } from '../../../domain/invoicing/gated-invoice.ts';
import { decimalText, type Decimal } from '../../../domain/money.ts';
import { requestPurchase } from '../../../domain/wallet/purchase.ts';
import type { CreditCommand } from '../../../domain/wallet/wallet.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { createInvoiceOfRows } from '../computing/invoice-of-rows.ts';
import { writePending, type Ledger, type RowCause } from '../credits/ledger.ts';
import type { TransactionRow } from '../credits/wallet-transaction-repository.ts';

/** A purchase, and its bonus if it has one. */
export interface InvoicedPurchase {
  readonly purchase: CreditCommand & { readonly amount: Decimal };
  readonly bonus: CreditCommand | null;
  readonly isAuto: boolean;
  /** The invoice is issued once a checkout session is paid. */
  readonly isGated?: boolean;
  /** The tenant completes purchases at once: the caller reports the invoice as paid. */
  readonly isCompleted?: boolean;
  readonly cause: RowCause;
  readonly bonusCause: RowCause;
}

/**
 * Writes the pending rows of a purchase and the invoice that sells it, due at once; its payment completes the
 * rows (money 2.11.5, 2.11.6). The wallet is locked.
 */
export async function buyWithInvoice(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  ledger: Ledger,
  { purchase, bonus, isAuto, isGated = false, isCompleted = false, ...causes }: InvoicedPurchase,
): Promise<{ readonly invoice: InvoiceRecord; readonly transaction: TransactionRow }> {
  const { wallet, at } = ledger;
  const amount = roundToCurrency(purchase.amount, wallet.currency);
  if (amount.lte(0))
    throw invalidField('amount', `must be at least one minor unit of ${wallet.currency}`);
  const commands = bonus === null ? [purchase] : [purchase, bonus];
  const rows = requestPurchase(wallet, commands);
  const { invoice } = await createInvoiceOfRows(tx, deps, caller, {
    invoice_type: 'ONE_OFF',
    billing_reason: isAuto ? 'WALLET_AUTO_TOPUP' : null,
    customer: await getCustomer(tx, caller.scope, wallet.customer_id),
    subscription: null,
    currency: wallet.currency,
    rows: [
      {
        display_name: `Purchase ${decimalText(purchase.credits)} Credits`,
        amount: decimalText(amount),
        quantity: '1',
      },
    ],
    taxes: { rates: [], exemption: null },
    isIssued: !isGated,
    source_type: isGated ? CHECKOUT_SOURCE : null,
    purchased_transaction_id: purchase.id,
    due_date: at,
    metadata: {
      auto_completed: isCompleted ? 'true' : 'false',
      auto_topup: isAuto ? 'true' : '',
      credits_amount: decimalText(purchase.credits),
      wallet_id: wallet.id,
      wallet_transaction_id: purchase.id,
    },
  });
  const source = { source_type: 'INVOICE', source_id: invoice.id } as const;
  const [transaction] = await writePending(tx, caller, ledger, rows, (row) => ({
    ...(row.id === purchase.id ? causes.cause : causes.bonusCause),
    ...source,
  }));
  return { invoice, transaction: transaction! };
}
