import { payFromWallets } from '../../../domain/invoicing/pay-from-wallets.ts';
import {
  applyPrepaidCredits,
  type AllowedPriceType,
} from '../../../domain/invoicing/prepaid-credits.ts';
import { BillingError } from '../../../domain/errors.ts';
import { decimal, Decimal, sum, ZERO } from '../../../domain/money.ts';
import type { PriceType } from '../../../domain/pricing/price.ts';
import { rateUsageLine } from '../../../domain/pricing/rate-usage-line.ts';
import { moveTransaction } from '../../../domain/states/wallet-transaction.ts';
import {
  cooldownMs,
  decideAutoTopUp,
  type AutoTopUp,
  type TopUpHistory,
} from '../../../domain/wallet/auto-top-up.ts';
import {
  alertState,
  alertTransition,
  type AlertSettings,
  type AlertState,
} from '../../../domain/wallet/balance-alert.ts';
import {
  creditsAvailableBreakdown,
  type CreditBlock,
} from '../../../domain/wallet/credit-block.ts';
import { terminateWallet } from '../../../domain/wallet/end-of-credits.ts';
import { bonusCredits, type BonusSlab } from '../../../domain/wallet/purchase.ts';
import { realTimeBalance } from '../../../domain/wallet/real-time-balance.ts';
import {
  checkTopUp,
  expiryFromDateNumber,
  purchaseTrigger,
  type TopUpReason,
} from '../../../domain/wallet/top-up.ts';
import { creditWallet, debitWallet, type Wallet } from '../../../domain/wallet/wallet.ts';
import type { Answer, JsonObject } from '../compare.ts';
import { oneOf, type AreaOperations } from '../operation.ts';
import { creditPayments, openInvoice } from './invoice.ts';
import { caseTerms, wholeCell, wholeUsage } from './price.ts';
import { deriveInvoicePayment } from '../../../domain/invoicing/payment-ledger.ts';
import { type WalletLedger, emptyLedger, keep } from './wallet-ledger.ts';

const NOW = '2026-01-15T00:00:00.000Z';
const NO_LIMITS = { free_credit_limit_per_transaction: '0', min_topup_amount_per_currency: {} };

export const wallets: AreaOperations = {
  topup(given) {
    const { wallet } = topUp(emptyLedger(given['wallet'] as object), {
      credits: given['credits_to_add'] as string,
      transaction_reason: given['transaction_reason'] as TopUpReason,
    });
    return { credit_balance: wallet.credit_balance, balance: wallet.balance };
  },

  wallet_operations: (given) => ledgerAnswer(runOperations(given)),

  terminate_wallet(given) {
    const { ledger } = runOperations(given);
    const closed = keep(ledger, terminateWallet(ledger.wallet, ledger.blocks, 'end', false));
    return { wallet_status: closed.wallet.wallet_status, ...ledgerAnswer({ ledger: closed }) };
  },

  topup_expiry: (given) => ({ expiry_date: expiryFromDateNumber(given['expiry_date'] as number) }),

  credits_available_breakdown: (given) => ({
    ...creditsAvailableBreakdown(given['transactions'] as unknown as CreditBlock[]),
  }),

  real_time_balance(given) {
    const used = given['current_period_usage'] as unknown as {
      meter: string;
      price: JsonObject;
      quantity: string;
    }[];
    const entitlement = given['entitlement'] as unknown as CaseEntitlement | undefined;
    return realTime(given, sum(used.map((usage) => usageCharge(usage, entitlement))), []);
  },

  real_time_balance_unpaid(given) {
    const invoices = given['unpaid_finalized_invoices'] as JsonObject[];
    return realTime(given, decimal(given['current_period_usage_amount'] as string), invoices);
  },

  auto_topup(given) {
    const history = autoHistory((given['history'] ?? []) as string[]);
    const config = autoTopUpOf(given['auto_topup'] as JsonObject, given['cooldown']);
    const balance = decimal(given['balance'] as string);
    const decision = decideAutoTopUp({ wallet_status: 'active' }, config, balance, history, NOW);
    const credits = decision.tops_up ? decision.credits : ZERO;
    const direct = !config.invoicing && decision.tops_up;
    const ledger = emptyLedger({ credit_balance: given['balance'] as string });
    const after = direct
      ? topUp(ledger, {
          credits: credits.toFixed(),
          transaction_reason: 'PURCHASED_CREDIT_DIRECT',
        }).wallet
      : ledger.wallet;
    return {
      new_invoices: config.invoicing && decision.tops_up ? 1 : 0,
      topups: direct ? 1 : 0,
      credit_balance: after.credit_balance,
      last_auto_topup: history.last_auto_top_up_at,
    };
  },

  balance_alert(given) {
    const settings = alertSettingsOf(given['alert_settings'] as JsonObject | null);
    const auto = given['auto_topup'] as JsonObject | null;
    let state: AlertState | null = null;
    let logs = 0;
    let invoices = 0;
    for (const balance of given['balances'] as string[]) {
      const next = alertState(settings, decimal(balance));
      if (next !== null && alertTransition(state, next) !== null) logs += 1;
      state = next;
      if (auto === null) continue;
      const config = autoTopUpOf({ invoicing: true, ...auto }, null);
      const decision = decideAutoTopUp(
        { wallet_status: 'active' },
        config,
        decimal(balance),
        autoHistory([]),
        NOW,
      );
      if (decision.tops_up) invoices += 1;
    }
    return { alert_state: state, alert_logs: logs, auto_topup_invoices: invoices };
  },

  bonus_credits(given) {
    const bonus = bonusCredits(
      decimal(given['credits_to_add'] as string),
      given['slabs'] as unknown as BonusSlab[],
    );
    return { matched_threshold: bonus.threshold, bonus_credits: bonus.credits };
  },

  topup_with_bonus(given) {
    const reason = given['transaction_reason'] as TopUpReason;
    const bought = decimal(given['credits_to_add'] as string);
    const { credits } = bonusCredits(
      bought,
      (given['slabs'] ?? []) as unknown as BonusSlab[],
      given['bonus_credits_to_add'] == null
        ? null
        : decimal(given['bonus_credits_to_add'] as string),
    );
    const status = moveTransaction(
      null,
      purchaseTrigger(reason, {
        auto_complete: given['auto_complete_purchased_credit'] === true,
        has_checkout: false,
        by_end_customer: false,
      }),
    );
    const ledger = emptyLedger({ credit_balance: (given['credit_balance'] ?? '0') as string });
    const purchased = topUp(ledger, { credits: bought.toFixed(), transaction_reason: reason });
    const both = keep(
      purchased,
      creditWallet(
        purchased.wallet,
        purchased.blocks,
        creditCommand({ credits: credits.toFixed(), transaction_reason: 'PURCHASED_CREDIT_BONUS' }),
        NOW,
      ),
    );
    return {
      purchase_status: status,
      bonus_status: status,
      bonus_credits: credits,
      credit_balance: both.wallet.credit_balance,
    };
  },

  pay_invoice_from_wallets(given) {
    const due = decimal(given['amount_due'] as string);
    const payments = payFromWallets(
      { remaining: due, usage: due, fixed: ZERO },
      [payingWallet('w', given['postpaid_wallet_balance'] as string, ['ALL'])],
      'usd',
    );
    const { amount_paid } = deriveInvoicePayment('FINALIZED', due, creditPayments(payments));
    return { amount_paid, payments_created: payments.length };
  },

  apply_prepaid_credits(given) {
    const lines = given['line_items'] as unknown as {
      price_type: PriceType;
      amount: string;
      line_item_discount?: string;
      invoice_level_discount?: string;
    }[];
    const rows = lines.map((line) => ({
      price_type: line.price_type,
      net: decimal(line.amount)
        .minus(decimal(line.line_item_discount ?? '0'))
        .minus(decimal(line.invoice_level_discount ?? '0')),
    }));
    const credits = applyPrepaidCredits(
      rows,
      (
        given['wallets'] as unknown as {
          id: string;
          balance: string;
          allowed_price_types?: AllowedPriceType[];
        }[]
      ).map((wallet) => ({
        id: wallet.id,
        credits_available: wallet.balance,
        conversion_rate: '1',
        allowed_price_types: wallet.allowed_price_types ?? ['USAGE'],
      })),
      sum(rows.map((row) => row.net)),
      given['currency'] as string,
    );
    return {
      prepaid_credits_applied: credits.applied,
      wallet_debits: Object.fromEntries(
        credits.debits.map((debit) => [debit.wallet_id, debit.amount]),
      ),
    };
  },

  wallet_card_split(given) {
    const amounts = given['invoice_amounts'] as { USAGE: string; FIXED: string };
    const [usage, fixed] = [decimal(amounts.USAGE), decimal(amounts.FIXED)];
    const found = (given['wallets'] ?? [given['wallet']]) as unknown as CasePayingWallet[];
    const open = { remaining: usage.plus(fixed), usage, fixed };
    const payments = payFromWallets(
      open,
      found.map((wallet, index) =>
        payingWallet(String(index), wallet.balance, wallet.allowed_price_types),
      ),
      'usd',
    );
    const paidBy = found.map(
      (_, index) => payments.find(({ wallet_id: id }) => id === String(index))?.amount ?? ZERO,
    );
    return {
      wallet_pays: paidBy[0]!,
      wallets_pay: paidBy,
      card_pays: open.remaining.minus(sum(payments.map(({ amount }) => amount))),
    };
  },
};

interface CasePayingWallet {
  readonly balance: string;
  readonly allowed_price_types: AllowedPriceType[];
}

interface CaseEntitlement {
  readonly meter: string;
  readonly usage_limit: number | null;
  readonly is_enabled: boolean;
  readonly usage_reset_period: string;
}

interface CaseOperation {
  readonly type: 'credit' | 'debit' | 'manual_debit';
  readonly credits: string;
  readonly priority?: number | null;
  /** YYYYMMDD. */
  readonly expiry_date?: string;
}

const payingWallet = (id: string, balance: string, allowed: readonly AllowedPriceType[]) => ({
  id,
  balance,
  allowed_price_types: allowed,
});

const creditCommand = (row: {
  readonly credits: string;
  readonly transaction_reason: Parameters<typeof creditWallet>[2]['transaction_reason'];
  readonly priority?: number | null;
  readonly expiry_date?: string | null;
}) => ({
  id: '',
  credits: decimal(row.credits),
  transaction_reason: row.transaction_reason,
  priority: row.priority ?? null,
  expiry_date: row.expiry_date ?? null,
  parent_transaction_id: null,
});

/** A checked top-up and the credit that it becomes. */
function topUp(
  ledger: WalletLedger,
  row: {
    readonly credits: string;
    readonly transaction_reason: TopUpReason;
    readonly priority?: number | null;
    readonly expiry_date?: string | null;
  },
  now: string = NOW,
): WalletLedger {
  const command = creditCommand(row);
  const { credits } = checkTopUp(
    ledger.wallet,
    {
      credits_to_add: command.credits,
      amount: null,
      transaction_reason: row.transaction_reason,
      bonus_credits_to_add: null,
      priority: command.priority,
      expiry_date: command.expiry_date,
      has_checkout: false,
      idempotency_key: null,
    },
    NO_LIMITS,
    now,
  );
  const id = `row-${ledger.rows.length + 1}`;
  return keep(ledger, creditWallet(ledger.wallet, ledger.blocks, { ...command, id, credits }, now));
}

function runOperations(given: JsonObject): { ledger: WalletLedger; failed?: number } {
  let ledger = emptyLedger({ conversion_rate: (given['conversion_rate'] ?? '1') as string });
  const operations = given['operations'] as unknown as CaseOperation[];
  const now = (given['now'] ?? NOW) as string;
  for (const [index, operation] of operations.entries()) {
    try {
      ledger = apply(ledger, operation, `row-${index + 1}`, now);
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      return { ledger, failed: index + 1 };
    }
  }
  return { ledger };
}

function apply(
  ledger: WalletLedger,
  operation: CaseOperation,
  id: string,
  now: string,
): WalletLedger {
  const type = oneOf('type', operation.type, ['credit', 'debit', 'manual_debit']);
  if (type === 'credit') {
    const credit = {
      credits: operation.credits,
      transaction_reason: 'FREE_CREDIT_GRANT',
      priority: operation.priority ?? null,
      expiry_date:
        operation.expiry_date == null ? null : expiryFromDateNumber(Number(operation.expiry_date)),
    } as const;
    return topUp(ledger, credit, now);
  }
  return keep(
    ledger,
    debitWallet(
      ledger.wallet,
      ledger.blocks,
      {
        id,
        credits: decimal(operation.credits),
        transaction_reason: type === 'manual_debit' ? 'MANUAL_BALANCE_DEBIT' : 'INVOICE_PAYMENT',
        arrears_period_end: null,
      },
      now,
    ),
  );
}

function ledgerAnswer(run: { ledger: WalletLedger; failed?: number }): { [key: string]: Answer } {
  const { wallet, rows, blocks } = run.ledger;
  const last = rows.at(-1);
  const priorities = [...new Set(blocks.map((block) => String(block.priority ?? 'none')))];
  return {
    error_on_operation: run.failed ?? null,
    credit_balance: wallet.credit_balance,
    balance: wallet.balance,
    transactions: rows.length,
    last_transaction: last === undefined ? null : { ...last, consumption_breakdown: null },
    credits_available_by_priority: Object.fromEntries(
      priorities.map((priority) => [
        priority,
        sum(
          blocks
            .filter((block) => String(block.priority ?? 'none') === priority)
            .map((block) => decimal(block.credits_available)),
        ),
      ]),
    ),
  };
}

function usageCharge(
  usage: { readonly meter: string; readonly price: JsonObject; readonly quantity: string },
  entitlement: CaseEntitlement | undefined,
): Decimal {
  const limit =
    entitlement?.meter === usage.meter && entitlement.is_enabled ? entitlement.usage_limit : '0';
  const free = limit === null ? decimal(usage.quantity) : decimal(String(limit));
  const [rated] = rateUsageLine({
    line: {},
    price: caseTerms(usage.price),
    aggregation: 'SUM',
    bucket_size: null,
    timezone: '',
    rows: wholeUsage(Decimal.max(decimal(usage.quantity).minus(free), 0).toFixed()),
    cell: wholeCell(),
    proration_behavior: 'none',
  });
  return rated!.amount;
}

function realTime(given: JsonObject, usage: Decimal, invoices: readonly JsonObject[]): Answer {
  const of = given['wallet'] as unknown as {
    balance: string;
    allowed_price_types: AllowedPriceType[];
  } & Partial<Wallet>;
  const ledger = emptyLedger({ currency: 'usd', ...of, credit_balance: of.balance });
  return {
    ...realTimeBalance(
      ledger.wallet,
      ledger.blocks,
      of.allowed_price_types,
      {
        usage,
        invoices: invoices.map((invoice) => ({
          ...openInvoice(invoice),
          period_end: null,
          is_top_up: false,
        })),
      },
      NOW,
    ),
  };
}

const autoTopUpOf = (given: JsonObject, cooldown: unknown): AutoTopUp => ({
  enabled: given['enabled'] as boolean,
  invoicing: given['invoicing'] as boolean,
  threshold: given['threshold'] as string,
  amount: given['amount'] as string,
  cooldown_ms: cooldown == null ? null : cooldownMs(cooldown as Parameters<typeof cooldownMs>[0]),
  off_session: false,
});

const AUTO_HISTORY = [
  'pending_invoice_and_transaction',
  'pending_transaction',
  'pending_manual_topup',
  'paid_invoice_and_completed_transaction',
  'completed_transaction_just_now',
] as const;

/** What earlier top-ups left, by the words of the case bank. */
function autoHistory(history: readonly string[]): TopUpHistory {
  for (const word of history) oneOf('history', word, AUTO_HISTORY);
  const has = (name: (typeof AUTO_HISTORY)[number]) => history.includes(name);
  const pending = [
    ...(has('pending_invoice_and_transaction') || has('pending_transaction')
      ? [{ credit_amount: '10', is_auto: true }]
      : []),
    ...(has('pending_manual_topup') ? [{ credit_amount: '10', is_auto: false }] : []),
  ];
  return {
    pending,
    has_unpaid_auto_invoice: has('pending_invoice_and_transaction'),
    last_auto_top_up_at: has('completed_transaction_just_now') ? NOW : null,
  };
}

const alertSettingsOf = (given: JsonObject | null): AlertSettings | null =>
  given === null
    ? null
    : {
        alert_enabled: false,
        alert_threshold_type: 'absolute',
        critical: null,
        warning: null,
        info: null,
        ...(given as Partial<AlertSettings>),
      };
