import { BillingError } from '../../../domain/errors.ts';
import { decimal, decimalText, sum, ZERO } from '../../../domain/money.ts';
import { epochMs } from '../../../domain/time/instant.ts';
import {
  isSpendable,
  spendableCredits,
  takeCredits,
  type CreditBlock,
} from '../../../domain/wallet/credit-block.ts';
import type { Consumption } from '../../../domain/wallet/transaction.ts';
import { creditWallet, debitWallet, type Wallet } from '../../../domain/wallet/wallet.ts';
import { type Answer, inAnyOrder } from '../compare.ts';
import { oneOf, type AreaOperations } from '../operation.ts';
import { emptyLedger, keep, type WalletLedger } from './wallet-ledger.ts';

interface CaseCredit {
  readonly id: string;
  readonly credits: string;
  readonly priority: number | null;
  readonly expiry_date: string | null;
  readonly effective_at: string;
  readonly created_at: string;
}

interface CaseOperation {
  readonly type: 'debit' | 'apply';
  readonly at: string;
  readonly credits: string;
}

export const credits: AreaOperations = {
  /** A credit enters the ledger at the moment it takes effect; `apply` takes what there is. */
  peers(given) {
    const of = given as unknown as {
      credits: CaseCredit[];
      operations: CaseOperation[];
      wallet?: Partial<Wallet>;
      as_of?: string;
    };
    const breakdown: Answer[] = [];
    const uncovered: Answer[] = [];
    const debits: Answer[] = [];
    const balances: Answer[] = [];
    let ledger = emptyLedger(of.wallet ?? {});
    for (const operation of of.operations) {
      ledger = creditsUntil(ledger, of.credits, operation.at);
      const asked = decimal(operation.credits);
      const taken = takeCredits(ledger.blocks, asked, operation.at);
      const covered = asked.minus(taken.uncovered);
      const type = oneOf('type', operation.type, ['debit', 'apply']);
      const step = debit(ledger, operation, type === 'apply' ? covered : asked);
      ledger = step.ledger;
      breakdown.push(step.consumed === null ? null : inAnyOrder(step.consumed.map(asAnswer)));
      uncovered.push(taken.uncovered);
      debits.push(ledger.rows.at(-1)?.amount ?? '0');
      balances.push(ledger.wallet.balance);
    }
    const at = of.as_of ?? of.operations.at(-1)!.at;
    ledger = creditsUntil(ledger, of.credits, at);
    return {
      breakdown,
      uncovered,
      amounts: { debits, balance_after: balances },
      remaining: Object.fromEntries(
        of.credits.map(({ id }) => [
          id,
          spendableCredits(
            ledger.blocks.filter((block) => block.id === id && isSpendable(block, at)),
            at,
          ),
        ]),
      ),
    };
  },
};

const asAnswer = ({ credit_transaction_id, credits: taken }: Consumption): Answer => ({
  credit_id: credit_transaction_id,
  credits: taken,
});

function creditsUntil(ledger: WalletLedger, all: readonly CaseCredit[], at: string): WalletLedger {
  const due = all.filter(
    (credit) =>
      epochMs(credit.effective_at) <= epochMs(at) &&
      !ledger.blocks.some((block: CreditBlock) => block.id === credit.id),
  );
  return due.reduce(
    (current, credit) =>
      keep(
        current,
        creditWallet(
          current.wallet,
          current.blocks,
          {
            id: credit.id,
            credits: decimal(credit.credits),
            transaction_reason: 'FREE_CREDIT_GRANT',
            priority: credit.priority,
            expiry_date: credit.expiry_date,
            parent_transaction_id: null,
          },
          credit.created_at,
        ),
      ),
    ledger,
  );
}

/** All or nothing; without anything to apply there is no request. */
function debit(
  ledger: WalletLedger,
  operation: CaseOperation,
  amount: ReturnType<typeof sum>,
): { ledger: WalletLedger; consumed: readonly Consumption[] | null } {
  if (amount.eq(ZERO)) return { ledger, consumed: [] };
  try {
    const decision = debitWallet(
      ledger.wallet,
      ledger.blocks,
      {
        id: `debit-${ledger.rows.length}`,
        credits: decimal(decimalText(amount)),
        transaction_reason: 'INVOICE_PAYMENT',
        arrears_period_end: null,
      },
      operation.at,
    );
    return { ledger: keep(ledger, decision), consumed: decision.rows[0]!.consumption_breakdown };
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    return { ledger, consumed: null };
  }
}
