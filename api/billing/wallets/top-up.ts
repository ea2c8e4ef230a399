import { invalidField, invalidOperation } from '../../../domain/errors.ts';
import { decimal, type Decimal } from '../../../domain/money.ts';
import { bonusCredits } from '../../../domain/wallet/purchase.ts';
import {
  checkTopUp,
  creditsAndAmount,
  isPurchase,
  purchaseTrigger,
  type TopUpRequest,
} from '../../../domain/wallet/top-up.ts';
import { isReplay } from '../../../domain/wallet/transaction-key.ts';
import { creditWallet, type CreditCommand } from '../../../domain/wallet/wallet.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { CheckoutRecord, CheckoutSession } from '../../../schemas/checkout.ts';
import type { TopUpBody } from '../../../schemas/wallet-requests.ts';
import { lockCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { buyWithInvoice } from '../balances/buy-with-invoice.ts';
import { readInvoiceConfig } from '../computing/invoice-config.ts';
import { reportInvoicePayment } from '../computing/report-payment.ts';
import { lifetimeEnd, lifetimeMetadata, type BonusLifetime } from '../credits/bonus-expiry.ts';
import { openLedger, writeDecision, type Ledger, type RowCause } from '../credits/ledger.ts';
import { findCheckoutOfInvoice } from '../records/checkout-repository.ts';
import { hashReference } from './references.ts';
import { getWallet, type WalletRow } from '../credits/wallet-repository.ts';
import {
  findPurchaseOfInvoice,
  findTransactionByKey,
  getTransaction,
  type TransactionRow,
} from '../credits/wallet-transaction-repository.ts';

export interface ToppedUp {
  readonly wallet: WalletRow;
  readonly transaction: TransactionRow;
  /** The invoice that sells the credits. */
  readonly invoice_id: string | null;
  /** The session that waits for the payment of the invoice. */
  readonly checkout: CheckoutRecord | null;
}

/**
 * Sends the payment of a purchase to its gateway, after the commit. Then the wallet and the transaction are read again:
 * if a saved method pays at once, the credits are there (money 11.22).
 */
export async function offerPurchase(
  deps: BillingDeps,
  caller: Caller,
  { wallet, transaction, checkout }: ToppedUp,
): Promise<
  Pick<ToppedUp, 'wallet' | 'transaction'> & { readonly session: CheckoutSession | null }
> {
  if (checkout === null) return { wallet, transaction, session: null };
  const session = await deps.checkoutGates.offer(deps, caller, checkout.id);
  return {
    wallet: await getWallet(deps.pool, caller.scope, wallet.id),
    transaction: await getTransaction(deps.pool, caller.scope, transaction.id),
    session,
  };
}

/**
 * Adds credits to the wallet: free credits, credits paid elsewhere, or credits sold by an invoice, which
 * become available with its payment, or at once if `invoice_config` says so (money 2.11.4). A purchase may have free
 * bonus credits, in a separate row. A repeated key returns the first row (money 2.10, 2.11). 400 if an invoice
 * would sell credits to an archived customer (2.11.1).
 */
export async function topUpWallet(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  walletId: string,
  body: TopUpBody,
  { isOfEndCustomer = false }: { readonly isOfEndCustomer?: boolean } = {},
): Promise<ToppedUp> {
  const { scope } = caller;
  const isSold = body.transaction_reason === 'PURCHASED_CREDIT_INVOICED';
  // The deletion of the customer waits for the invoice. It locks the customer, then the wallets.
  const buyer = isSold ? await lockCustomerOf(tx, scope, walletId) : null;
  const ledger = await openLedger(tx, deps, scope, walletId);
  const request = requestOf(body);
  const { transaction_reason, idempotency_key } = request;
  const { credits } = creditsAndAmount(ledger.wallet, request);
  const stored = idempotency_key ? await findTransactionByKey(tx, scope, idempotency_key) : null;
  const asked = { wallet_id: walletId, type: 'credit', transaction_reason, credits } as const;
  if (isReplay(stored, asked)) {
    const invoice_id = stored!.source_type === 'INVOICE' ? stored!.source_id : null;
    const checkout = invoice_id && (await findCheckoutOfInvoice(tx, scope, invoice_id));
    return { wallet: ledger.wallet, transaction: stored!, invoice_id, checkout: checkout || null };
  }

  if (buyer !== null && buyer.status !== 'published')
    throw invalidOperation(`The customer of the wallet is ${buyer.status}.`, 'customer_id');
  const config = await readSetting(tx, scope, 'wallet_topup_config');
  const bought = checkTopUp(ledger.wallet, request, config, ledger.at);
  const id = deps.ids.next('wtxn');
  const purchase = {
    id,
    credits: bought.credits,
    amount: bought.amount,
    transaction_reason,
    priority: request.priority,
    expiry_date: request.expiry_date,
    parent_transaction_id: null,
  } satisfies CreditCommand;
  const cause: RowCause = {
    reference_type: 'EXTERNAL',
    reference_id: idempotency_key ?? hashReference('wallet_topup', id),
    idempotency_key,
    description: body.description ?? null,
    metadata: body.metadata ?? {},
  };
  const { wallet, blocks, at } = ledger;
  const bonus = await bonusOf(tx, deps, scope, body, bought.credits, at, id);
  if (isSold)
    return await sellCredits(tx, deps, caller, ledger, {
      body,
      purchase,
      bonus,
      cause,
      isOfEndCustomer,
    });
  const decision = creditWallet(wallet, blocks, purchase, at);
  const written = await writeDecision(tx, caller, ledger, decision, () => cause);
  const transaction = written.rows[0]!;
  const direct = { transaction, invoice_id: null, checkout: null };
  if (bonus === null) return { wallet: written.ledger.wallet, ...direct };
  const after = written.ledger;
  const given = creditWallet(after.wallet, after.blocks, bonus.command, at);
  const last = await writeDecision(tx, caller, after, given, () => BONUS_CAUSE);
  return { wallet: last.ledger.wallet, ...direct };
}

async function lockCustomerOf(tx: Transaction, scope: Scope, walletId: string) {
  const { customer_id } = await getWallet(tx, scope, walletId);
  return await lockCustomer(tx, scope, { id: customer_id });
}

/**
 * Sells the credits with an invoice. They become available with its payment, or at once where the tenant reports
 * such invoices as paid (money 2.11.4).
 */
async function sellCredits(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  ledger: Ledger,
  sale: {
    readonly body: TopUpBody;
    readonly purchase: CreditCommand & { readonly amount: Decimal };
    readonly bonus: Bonus | null;
    readonly cause: RowCause;
    readonly isOfEndCustomer: boolean;
  },
): Promise<ToppedUp> {
  const { body, bonus, cause } = sale;
  const { wallet } = ledger;
  const config = await readInvoiceConfig(tx, caller.scope);
  const isCompleted =
    purchaseTrigger(body.transaction_reason, {
      auto_complete: config.auto_complete_purchased_credit_transaction ?? false,
      has_checkout: body.checkout != null,
      by_end_customer: sale.isOfEndCustomer,
    }) === 'record';
  const description = isCompleted ? 'Purchased credits' : 'Purchased credits - pending payment';
  const { invoice, transaction } = await buyWithInvoice(tx, deps, caller, ledger, {
    purchase: sale.purchase,
    // The lifetime of a pending bonus counts from its completion.
    bonus: bonus && { ...bonus.command, expiry_date: body.bonus_credits_expiry_date_utc ?? null },
    isAuto: false,
    isGated: body.checkout != null,
    isCompleted,
    cause: { ...cause, description: cause.description ?? description },
    bonusCause: { ...BONUS_CAUSE, metadata: lifetimeMetadata(bonus?.lifetime ?? {}) },
  });
  const sold = { invoice_id: invoice.id, checkout: null };
  if (isCompleted) {
    await reportInvoicePayment(tx, deps, caller, invoice.id, { payment_status: 'SUCCEEDED' });
    const rows = await findPurchaseOfInvoice(tx, caller.scope, invoice.id);
    const completed = rows.find(({ id }) => id === transaction.id)!;
    return {
      ...sold,
      wallet: await getWallet(tx, caller.scope, wallet.id),
      transaction: completed,
    };
  }
  if (body.checkout == null) return { ...sold, wallet, transaction };
  const checkout = await deps.checkoutGates.open(tx, deps, caller, body.checkout, {
    action: 'wallet_topup',
    invoice,
    target_key: wallet.id,
    configuration: {
      wallet_topup_params: { wallet_id: wallet.id, wallet_transaction_id: transaction.id },
    },
  });
  return { ...sold, wallet, transaction, checkout };
}

const BONUS_CAUSE: RowCause = {
  reference_type: null,
  reference_id: null,
  description: 'Bonus credits for purchase',
};

const requestOf = (body: TopUpBody): TopUpRequest => ({
  credits_to_add: body.credits_to_add == null ? null : decimal(body.credits_to_add),
  amount: body.amount == null ? null : decimal(body.amount),
  transaction_reason: body.transaction_reason,
  bonus_credits_to_add:
    body.bonus_credits_to_add == null ? null : decimal(body.bonus_credits_to_add),
  bonus_expiry_date: body.bonus_credits_expiry_date_utc ?? null,
  priority: body.priority ?? null,
  expiry_date: body.expiry_date_utc ?? null,
  has_checkout: body.checkout != null,
  idempotency_key: body.idempotency_key || null,
});

interface Bonus {
  readonly command: CreditCommand;
  readonly lifetime: BonusLifetime;
}

/**
 * The bonus of a purchase: the requested one, else the one of the tenant's slabs, else null (money 2.11.10). 400 for an
 * expiry without a bonus.
 */
async function bonusOf(
  tx: Transaction,
  deps: BillingDeps,
  scope: Scope,
  body: TopUpBody,
  bought: Decimal,
  at: string,
  purchaseId: string,
): Promise<Bonus | null> {
  if (!isPurchase(body.transaction_reason)) return null;
  const explicit = body.bonus_credits_to_add == null ? null : decimal(body.bonus_credits_to_add);
  const config = await readSetting(tx, scope, 'bonus_credits_topup_config');
  const slabs = config.enabled ? config.slabs : [];
  const { credits, threshold } = bonusCredits(bought, slabs, explicit);
  if (credits.lte(0)) {
    if (body.bonus_credits_expiry_date_utc != null)
      throw invalidField(
        'bonus_credits_expiry_date_utc',
        'is for bonus credits, and this purchase has none; send bonus_credits_to_add too, or leave it out',
      );
    return null;
  }
  const slab = slabs.find((candidate) => candidate.threshold === threshold);
  const lifetime = body.bonus_credits_expiry_date_utc == null ? (slab ?? {}) : {};
  return {
    lifetime,
    command: {
      id: deps.ids.next('wtxn'),
      credits,
      transaction_reason: 'PURCHASED_CREDIT_BONUS',
      priority: null,
      expiry_date: body.bonus_credits_expiry_date_utc ?? lifetimeEnd(lifetime, at),
      parent_transaction_id: purchaseId,
    },
  };
}
