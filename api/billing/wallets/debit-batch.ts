import { BillingError, notFound } from '../../../domain/errors.ts';
import { decimal } from '../../../domain/money.ts';
import { assertClientKey, isReplay } from '../../../domain/wallet/transaction-key.ts';
import { debitWallet } from '../../../domain/wallet/wallet.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { noteActorsOfRows, type Actor } from '../../../postgres/scoped-pool.ts';
import type { DebitWalletBody } from '../../../schemas/wallet-requests.ts';
import type { BillingDeps } from '../../deps.ts';
import { groupBy } from '../../../domain/group-by.ts';
import type { Caller } from '../../conventions/record.ts';
import { ledgerAfter, writeDecisions, type Decided, type Ledger } from '../credits/ledger.ts';
import { lockFreeWallets, lockWallets, type WalletRow } from '../credits/wallet-repository.ts';
import {
  findBlocks,
  findTransactionsByKey,
  type TransactionRow,
} from '../credits/wallet-transaction-repository.ts';

/** A manual debit, which may take the wallet below zero (money 2.4.1). */
export interface Debit {
  readonly caller: Caller;
  readonly walletId: string;
  readonly body: DebitWalletBody;
  /** The actor of its audit rows; null: the actor of the transaction. */
  readonly actor: Actor | null;
}

/** `busy`: another transaction holds the wallet, or it is unknown; nothing was done. */
export type DebitOutcome =
  { readonly wallet: WalletRow } | { readonly refusal: BillingError } | 'busy';

type Keyed = Pick<TransactionRow, 'wallet_id' | 'type' | 'transaction_reason' | 'credit_amount'>;

/**
 * Debits of wallets of one environment, decided one after another in their order and written in a fixed
 * number of statements. Each may be refused on its own; a repeated key changes nothing, also within the batch
 * (money 2.10.2). `wait`: waits for wallets that are locked, and refuses unknown ones with 404.
 * `skip`: leaves both as `busy`. The outcomes are in the order of the debits; each wallet is as
 * its debit left it.
 */
export async function debitInOneTransaction(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock' | 'ids'>,
  debits: readonly Debit[],
  locking: 'wait' | 'skip',
): Promise<DebitOutcome[]> {
  const { scope } = debits[0]!.caller;
  const ids = [...new Set(debits.map(({ walletId }) => walletId))];
  const keys = debits.map(({ body }) => body.idempotency_key);
  // Sent together: blocks and keys are read after the locks are held.
  const [wallets, blocks, rows] = await Promise.all([
    locking === 'wait' ? lockWallets(tx, scope, ids) : lockFreeWallets(tx, scope, ids),
    findBlocks(tx, scope, ids),
    findTransactionsByKey(tx, scope, keys),
  ]);
  const at = isoTime(deps.clock.now());
  const blocksOf = groupBy(blocks, ({ wallet_id }) => wallet_id);
  const ledgers = new Map<string, Ledger>(
    wallets.map((wallet) => [wallet.id, { wallet, at, blocks: blocksOf.get(wallet.id) ?? [] }]),
  );
  const known = new Map<string, Keyed>(rows.map((row) => [row.idempotency_key!, row]));
  const decided: Decided[] = [];
  const actors: Record<string, Actor> = {};

  const outcomes = debits.map((debit): DebitOutcome => {
    const ledger = ledgers.get(debit.walletId);
    if (ledger === undefined)
      return locking === 'skip' ? 'busy' : { refusal: notFound('Wallet', debit.walletId) };
    try {
      const one = decide(deps, ledger, debit, known);
      if (one === null) return { wallet: ledger.wallet };
      const after = ledgerAfter(ledger, one.decision, debit.caller.user_id);
      for (const row of one.decision.rows) {
        known.set(debit.body.idempotency_key, row);
        if (debit.actor !== null) actors[row.id] = debit.actor;
      }
      ledgers.set(debit.walletId, after);
      decided.push(one);
      return { wallet: after.wallet };
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      return { refusal: error };
    }
  });
  if (decided.length === 0) return outcomes;
  await Promise.all([noteActorsOfRows(tx, actors), writeDecisions(tx, debits[0]!.caller, decided)]);
  return outcomes;
}

/** The decision about one debit; null if its key was used for the same debit before. */
function decide(
  deps: Pick<BillingDeps, 'ids'>,
  ledger: Ledger,
  { body, caller }: Debit,
  known: ReadonlyMap<string, Keyed>,
): Decided | null {
  const { transaction_reason, idempotency_key } = body;
  assertClientKey(idempotency_key);
  const credits = decimal(body.credits);
  const asked = {
    wallet_id: ledger.wallet.id,
    type: 'debit',
    transaction_reason,
    credits,
  } as const;
  if (isReplay(known.get(idempotency_key) ?? null, asked)) return null;
  const id = deps.ids.next('wtxn');
  const command = { id, credits, transaction_reason, arrears_period_end: null };
  return {
    ledger,
    decision: debitWallet(ledger.wallet, ledger.blocks, command, ledger.at),
    userId: caller.user_id,
    causeOf: () => ({
      reference_type: 'REQUEST',
      reference_id: id,
      idempotency_key,
      description: body.description ?? null,
      metadata: body.metadata ?? {},
    }),
  };
}

/** A debit in the caller's own transaction. */
export async function debitAlone(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock' | 'ids'>,
  debit: Omit<Debit, 'actor'>,
): Promise<WalletRow> {
  const [outcome] = await debitInOneTransaction(tx, deps, [{ ...debit, actor: null }], 'wait');
  return walletOf(outcome!);
}

/** The wallet after the debit; throws its refusal. */
function walletOf(outcome: DebitOutcome): WalletRow {
  if (outcome === 'busy') throw new Error('a debit that waits is never busy');
  if ('refusal' in outcome) throw outcome.refusal;
  return outcome.wallet;
}
