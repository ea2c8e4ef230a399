import { BillingError } from '../../../domain/errors.ts';
import type { Pool } from '../../../postgres/client.ts';
import { originOf, type Session } from '../../../postgres/scoped-pool.ts';
import type { DebitWalletBody } from '../../../schemas/wallet-requests.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { isOutage } from '../../outage.ts';
import { evaluated, evaluatedWatched } from '../balances/evaluate-wallet.ts';
import { findWatched } from '../balances/balance-repository.ts';
import type { WalletRow } from '../credits/wallet-repository.ts';
import { debitAlone, debitInOneTransaction, type Debit, type DebitOutcome } from './debit-batch.ts';

/** Debits of one transaction at most: more hold the locks longer and cost the same for each debit. */
const BATCH_MAX = 100;

/** Debits that may wait in one process, for each environment and each locked wallet; more are refused with 503. */
const WAITING_MAX = 1_000;

interface Waiting extends Debit {
  readonly deps: BillingDeps;
  resolve(wallet: WalletRow): void;
  reject(error: unknown): void;
}

/**
 * Transactions of one environment at once, if the second is full: while one waits for Postgres, this process decides
 * and answers the other.
 */
const AT_ONCE = 2;

/** Debits in their order of arrival. */
interface Lane {
  waiting: Waiting[];
  /** The wallets of the transactions that run: their further debits wait. */
  readonly running: Set<ReadonlySet<string>>;
  /** The wallet of a lane that waits for locks; null for the lane of an environment, which skips them. */
  readonly walletId: string | null;
}

/**
 * A manual debit of a wallet; returns the wallet after it and after its evaluation. Debits of one environment
 * that arrive while transactions run share the next one, in their order (`debit-batch.ts`): 50 callers of one
 * wallet would otherwise wait for each other's commits. A debit then takes 1.3 ms of CPU instead of 9.8, three
 * quarters of it in Postgres (`bench/wallets.ts`, two cores under load). A wallet that another transaction has locked
 * delays only its own debits. An outage fails every debit of its transaction and nothing is written. A debit inside a
 * transaction of its caller, as with an `Idempotency-Key`, is done there.
 */
export async function debitWallet(
  deps: BillingDeps,
  caller: Caller,
  walletId: string,
  body: DebitWalletBody,
): Promise<WalletRow> {
  const origin = originOf(deps.pool);
  if (origin === null) {
    const wallet = await deps.pool.begin((tx) => debitAlone(tx, deps, { caller, walletId, body }));
    return await evaluated(deps, caller, wallet);
  }
  const { pool, session } = origin;
  const queue = queues.get(pool) ?? new DebitQueue();
  queues.set(pool, queue);
  return await queue.add(session, { deps, caller, walletId, body, actor: session.actor });
}

/** One queue for each pool of the process. */
const queues = new WeakMap<Pool, DebitQueue>();

class DebitQueue {
  private readonly lanes = new Map<string, Lane>();

  add(session: Session, debit: Omit<Waiting, 'resolve' | 'reject'>): Promise<WalletRow> {
    // A transaction has the time of one test clock.
    const { tenant_id, environment_id } = debit.caller.scope;
    const key = JSON.stringify([tenant_id, environment_id, session.time ?? null]);
    return new Promise((resolve, reject) => this.enter(key, { ...debit, resolve, reject }));
  }

  private enter(key: string, debit: Waiting): void {
    const ownKey = keyOfWallet(key, debit.walletId);
    if (this.lanes.has(ownKey)) this.join(key, ownKey, debit.walletId, debit);
    else this.join(key, key, null, debit);
  }

  private join(key: string, laneKey: string, walletId: string | null, debit: Waiting): void {
    const lane = this.lanes.get(laneKey);
    if (lane !== undefined) {
      if (lane.waiting.length >= WAITING_MAX) return debit.reject(tooMany());
      lane.waiting.push(debit);
      // Fewer debits wait for the running transaction and share the next one.
      if (lane.waiting.length >= BATCH_MAX) this.start(key, laneKey, lane);
      return;
    }
    const started: Lane = { waiting: [debit], running: new Set(), walletId };
    this.lanes.set(laneKey, started);
    this.start(key, laneKey, started);
  }

  /** Starts transactions until enough run or no debit can be taken. Removes a lane without debits. */
  private start(key: string, laneKey: string, lane: Lane): void {
    while (lane.running.size < AT_ONCE) {
      const batch = this.take(key, lane);
      if (batch.length === 0) break;
      const wallets = new Set(batch.map(({ walletId }) => walletId));
      lane.running.add(wallets);
      void this.attempt(key, batch, lane.walletId === null ? 'skip' : 'wait').then(() => {
        lane.running.delete(wallets);
        this.start(key, laneKey, lane);
      });
    }
    if (lane.waiting.length === 0 && lane.running.size === 0) this.lanes.delete(laneKey);
  }

  /** Removes the first debits from a lane whose wallets have no running transaction. */
  private take(key: string, lane: Lane): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const isRunning = (id: string): boolean => [...lane.running].some((ids) => ids.has(id));
    for (const debit of lane.waiting) {
      const own = this.lanes.get(keyOfWallet(key, debit.walletId));
      // Behind the earlier debits of a wallet that was locked.
      if (own !== undefined && own !== lane) own.waiting.push(debit);
      else if (batch.length === BATCH_MAX || isRunning(debit.walletId)) left.push(debit);
      else batch.push(debit);
    }
    lane.waiting = left;
    return batch;
  }

  /** Settles every debit of the batch or gives it to the lane of its wallet. Never rejects. */
  private async attempt(key: string, batch: Waiting[], locking: 'skip' | 'wait'): Promise<void> {
    const { deps } = batch[0]!;
    let outcomes: DebitOutcome[];
    try {
      outcomes = await deps.pool.begin((tx) => debitInOneTransaction(tx, deps, batch, locking));
    } catch (error) {
      if (batch.length === 1 || isOutage(error))
        return batch.forEach((debit) => debit.reject(error));
      // Nothing is written. One debit is the reason; the others must not fail with it.
      for (const debit of batch) await this.attempt(key, [debit], locking);
      return;
    }
    const done: Done[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      const debit = batch[index]!;
      if (outcome === 'busy')
        this.join(key, keyOfWallet(key, debit.walletId), debit.walletId, debit);
      else if ('refusal' in outcome) debit.reject(outcome.refusal);
      else done.push({ debit, wallet: outcome.wallet });
    }
    // The next transaction does not wait for it.
    void settle(done).catch((error: unknown) => done.forEach(({ debit }) => debit.reject(error)));
  }
}

const keyOfWallet = (key: string, walletId: string): string => `${key} ${walletId}`;

interface Done {
  readonly debit: Waiting;
  readonly wallet: WalletRow;
}

/** Evaluates each wallet once after the commit, as its last debit left it, and answers its debits. */
async function settle(done: readonly Done[]): Promise<void> {
  const last = new Map(done.map((one) => [one.wallet.id, one]));
  const [first] = done;
  if (first === undefined) return;
  const { deps, caller } = first.debit;
  const wallets = [...last.values()].map(({ wallet }) => wallet);
  const watched = await findWatched(deps.pool, caller.scope, wallets);
  const answers = new Map<string, Promise<WalletRow>>();
  for (const { debit, wallet } of last.values())
    if (watched.has(wallet.id))
      answers.set(wallet.id, evaluatedWatched(debit.deps, debit.caller, wallet));
  for (const { debit, wallet } of done)
    (answers.get(wallet.id) ?? Promise.resolve(wallet)).then(debit.resolve, debit.reject);
}

const tooMany = (): BillingError =>
  new BillingError(
    'unavailable',
    'service_unavailable',
    'Too many debits wait. Repeat the request with the same idempotency_key.',
    [],
    0,
    1,
  );
