import { setImmediate as nextTurn } from 'node:timers/promises';
import { BillingError } from '../../../domain/errors.ts';
import { decimal } from '../../../domain/money.ts';
import { statusWhenDue } from '../../../domain/wallet/grant-pauses.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';
import { paidPeriodAt } from '../../../domain/subscription/schedule.ts';
import { moveGrantApplication } from '../../../domain/states/grant-application.ts';
import { earlierOf } from '../../../domain/time/instant.ts';
import { assertWalletAccepts } from '../../../domain/wallet/credit-grant.ts';
import {
  decideApplication,
  grantExpiry,
  retryAt,
  type FirstPeriodProration,
  type GrantApplication,
} from '../../../domain/wallet/grant-application.ts';
import {
  cancelledFrom,
  firstApplication,
  nextApplication,
} from '../../../domain/wallet/grant-schedule.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import { creditOverdrawn } from '../../../domain/wallet/wallet.ts';
import { derivedId } from '../../../platform/ids.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CreditGrant } from '../../../schemas/credit-grant.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { findCreditGrantsOf } from '../../catalog/credit-grants/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import {
  ledgerAfter,
  ledgerOfCredits,
  writeDecisions,
  type Decided,
  type Ledger,
} from '../credits/ledger.ts';
import { knownPauses } from '../records/pause-repository.ts';
import { pendingSchedules, type ScheduleRow } from '../records/schedule-repository.ts';
import { usagePayerOf } from '../records/usage-payer-repository.ts';
import type { WalletRow } from '../credits/wallet-repository.ts';
import { announceWallet } from '../wallets/create-wallet.ts';
import { prepaidWallet } from '../wallets/credit-wallet.ts';
import {
  lastApplications,
  removeApplications,
  writeApplications,
  type ApplicationRow,
} from './application-repository.ts';
import { runningGrant } from './running-grant.ts';

/** Credits between two pauses for other requests: a back-dated daily grant gives thousands at once. */
const CREDITS_OF_TURN = 100;

export interface GrantReport {
  readonly applied: number;
  readonly failed: number;
}

/**
 * Adds the credits that a subscription's grants owe by `at`: for every period that has begun, including
 * missed ones. Then stores the next application of each recurring grant, in the same transaction (money 5.3,
 * 5.4). The caller holds the lock of the subscription. A draft gets nothing and has no applications yet.
 *
 * `refusal`: a command fails with the grant's error, for example different rates of the wallet; a job stores
 * the error and retries. `proration` applies to first periods that are attached inside a billing period.
 */
export async function applyGrants(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  options: {
    readonly at: string;
    readonly refusal: 'throw' | 'store';
    readonly proration?: (grant: CreditGrant) => FirstPeriodProration | null;
  },
): Promise<GrantReport> {
  if (subscription.subscription_status === 'draft') return { applied: 0, failed: 0 };
  const grants = await findCreditGrantsOf(tx, caller.scope, 'subscription_id', [subscription.id]);
  if (grants.length === 0) return { applied: 0, failed: 0 };
  const stored = await lastApplications(tx, caller.scope, subscription.id);
  const lastOf = new Map(stored.map((row) => [row.credit_grant_id, row]));
  const run = new GrantRun(tx, deps, caller, subscription, options.at);
  for (const grant of grants.reverse()) {
    const proration = options.proration?.(grant) ?? null;
    const open = openApplication(run, grant, lastOf.get(grant.id) ?? null, proration);
    if (open === null) continue;
    try {
      await run.follow(grant, open);
    } catch (error) {
      if (options.refusal === 'throw' || !(error instanceof BillingError)) throw error;
      run.fail(error.message);
    }
  }
  return await run.write();
}

/**
 * The open application of the grant; the first application if the grant has none yet; null if none is open.
 */
function openApplication(
  run: GrantRun,
  grant: CreditGrant,
  last: ApplicationRow | null,
  proration: FirstPeriodProration | null,
): ApplicationRow | null {
  const first = () => firstApplication(runningGrant(grant, run.subscription), proration);
  if (last === null) {
    const made = first();
    return made === null ? null : run.newRow(grant, made);
  }
  if (last.application_status !== 'pending' && last.application_status !== 'failed') return null;
  const isFirst = last.application_reason !== 'recurring_credit_grant';
  if (!isFirst || last.period_start === grant.start_date) return last;
  // The start of the grant has moved with the end of the trial (money 5.2.1).
  const moved = first();
  if (moved === null) return run.without(last);
  return { ...last, ...moved, next_attempt_at: moved.scheduled_for };
}

/** The applications of one subscription, decided one after the other and written together. */
class GrantRun {
  readonly tx: Transaction;
  readonly deps: BillingDeps;
  readonly caller: Caller;
  readonly subscription: SubscriptionRow;
  readonly at: string;
  private readonly rows = new Map<string, ApplicationRow>();
  private readonly removed: ApplicationRow[] = [];
  private readonly decided: Decided[] = [];
  private ledger: Ledger | null = null;
  /** The wallet that this run created, still empty; null if it created none. */
  private created: WalletRow | null = null;
  private current: ApplicationRow | null = null;
  private failures = 0;
  /** Pending plan changes; null until they are asked for. */
  private changes: ScheduleRow[] | null = null;
  /** The subscription's pauses; null until they are asked for. */
  private pauses: readonly PausedTime[] | null = null;

  constructor(
    tx: Transaction,
    deps: BillingDeps,
    caller: Caller,
    subscription: SubscriptionRow,
    at: string,
  ) {
    this.tx = tx;
    this.deps = deps;
    this.caller = caller;
    this.subscription = subscription;
    this.at = at;
  }

  /** Follows the grant from its open application until nothing is due. */
  async follow(grant: CreditGrant, open: ApplicationRow): Promise<void> {
    let row: ApplicationRow | null = open;
    while (row !== null) {
      this.keep(row);
      if (row.next_attempt_at > this.at) return;
      if (this.waitsForResumption(row) || (await this.waitsForPlan(grant, row))) return;
      const done: ApplicationRow = await this.decide(grant, row);
      if (this.decided.length % CREDITS_OF_TURN === 0) await nextTurn();
      this.keep(done);
      if (done.application_status !== 'applied' && done.application_status !== 'skipped') return;
      const next = nextApplication(runningGrant(grant, this.subscription), done);
      row = next === null ? null : this.newRow(grant, next);
    }
  }

  /** Whether a pause has ended before, and the resumption is not made yet, which moves the credits (billing 12.4). */
  private waitsForResumption({ scheduled_for }: ApplicationRow): boolean {
    const { subscription_status, resume_at } = this.subscription;
    return subscription_status === 'paused' && resume_at !== null && resume_at <= scheduled_for;
  }

  /** Whether the grant ends with a plan change that is due, but not made yet (money 5.6.2). */
  private async waitsForPlan(grant: CreditGrant, { scheduled_for }: ApplicationRow) {
    if (grant.plan_id === null) return false;
    this.changes ??= (
      await pendingSchedules(this.tx, this.caller.scope, [this.subscription.id])
    ).filter(({ schedule_type }) => schedule_type === 'plan_change');
    return this.changes.some(({ scheduled_at }) => scheduled_at <= scheduled_for);
  }

  /** Stores why the current application failed and when it is retried. */
  fail(reason: string): void {
    const row = this.current!;
    const retry_count = row.retry_count + 1;
    this.failures += 1;
    this.keep({
      ...row,
      application_status: moveGrantApplication(row.application_status, 'fail'),
      failure_reason: reason,
      retry_count,
      next_attempt_at: retryAt(retry_count, this.at),
    });
  }

  async write(): Promise<GrantReport> {
    if (this.created !== null)
      await announceWallet(this.tx, this.caller, this.ledger?.wallet ?? this.created);
    await writeDecisions(this.tx, this.caller, this.decided);
    await removeApplications(this.tx, this.caller.scope, this.removed);
    const rows = [...this.rows.values()];
    // The unique index on the open row is checked row by row: closed ones first.
    const isOpen = (row: ApplicationRow) =>
      row.application_status === 'pending' || row.application_status === 'failed';
    await writeApplications(
      this.tx,
      rows.filter((row) => !isOpen(row)),
    );
    await writeApplications(this.tx, rows.filter(isOpen));
    return { applied: this.decided.length, failed: this.failures };
  }

  newRow(grant: CreditGrant, application: GrantApplication): ApplicationRow {
    const { scope, user_id } = this.caller;
    const id = derivedId('cga', grant.id, application.period_start);
    return {
      id,
      ...scopeOf(scope),
      credit_grant_id: grant.id,
      subscription_id: this.subscription.id,
      ...application,
      subscription_status_at_application: this.subscription.subscription_status,
      applied_at: null,
      next_attempt_at: application.scheduled_for,
      deferrals: 0,
      retry_count: 0,
      failure_reason: null,
      idempotency_key: id,
      metadata: {},
      status: 'published',
      created_at: this.at,
      updated_at: this.at,
      created_by: user_id,
      updated_by: user_id,
    };
  }

  /**
   * Removes an application that has not been made, because no period of the grant fits any more. A grant that begins
   * without a period has none either, and gets its first one if the trial is moved again.
   */
  without(row: ApplicationRow): null {
    this.removed.push(row);
    return null;
  }

  private ended(row: ApplicationRow): ApplicationRow {
    return {
      ...row,
      application_status: moveGrantApplication(row.application_status, 'cancel'),
      next_attempt_at: this.at,
    };
  }

  private keep(row: ApplicationRow): void {
    this.current = row;
    this.rows.set(row.id, { ...row, updated_at: this.at, updated_by: this.caller.user_id });
  }

  private async decide(grant: CreditGrant, row: ApplicationRow): Promise<ApplicationRow> {
    if (grant.status !== 'published') return this.ended(row);
    const end = endOf(grant, this.subscription);
    const left = end === null ? row : cancelledFrom(row, end);
    if (left !== row) return { ...left, next_attempt_at: this.at };
    const { subscription, at } = this;
    const cell = paidPeriodAt(subscription, row.period_start);
    const timezone = subscription.customer_timezone;
    const expiry = grantExpiry(grant, row.period_start, timezone, cell?.end ?? null);
    this.pauses ??= await knownPauses(this.tx, this.caller.scope, subscription);
    const subscription_status = statusWhenDue(subscription, this.pauses, row.scheduled_for);
    const { trial_end } = subscription;
    const decision = decideApplication(
      { subscription_status, trial_end },
      expiry,
      row.deferrals,
      at,
    );
    const known = { ...row, subscription_status_at_application: subscription_status };
    switch (decision.action) {
      case 'cancel':
        return this.ended(known);
      case 'wait':
        return {
          ...known,
          application_status: moveGrantApplication(row.application_status, 'defer'),
          deferrals: row.deferrals + 1,
          next_attempt_at: decision.next_attempt_at,
        };
      case 'skip':
        return {
          ...known,
          application_status: moveGrantApplication(row.application_status, 'skip'),
          failure_reason: decision.reason,
        };
      case 'apply':
        await this.credit(grant, row, decision.expiry_date);
        return {
          ...known,
          application_status: moveGrantApplication(row.application_status, 'apply'),
          applied_at: at,
          failure_reason: null,
        };
      default:
        return decision satisfies never;
    }
  }

  private async credit(
    grant: CreditGrant,
    row: ApplicationRow,
    expiry_date: string | null,
  ): Promise<void> {
    const ledger = await this.open(grant);
    assertWalletAccepts(ledger.wallet, grant);
    const decision = creditOverdrawn(
      ledger.wallet,
      decimal(ledger.wallet.overdraft),
      {
        id: this.deps.ids.next('wtxn'),
        credits: decimal(row.credits),
        transaction_reason: 'SUBSCRIPTION_CREDIT_GRANT',
        priority: grant.priority,
        expiry_date,
        parent_transaction_id: null,
      },
      ledger.at,
    );
    const causeOf = () => ({
      reference_type: 'EXTERNAL' as const,
      reference_id: row.id,
      source_type: 'CREDIT_GRANT_APPLICATION' as const,
      source_id: row.id,
      idempotency_key: transactionKey.grantApplication(row.id),
      metadata: { cga_id: row.id, grant_id: grant.id, subscription_id: this.subscription.id },
    });
    this.decided.push({ ledger, decision, causeOf });
    this.ledger = { ...ledgerAfter(ledger, decision, this.caller.user_id), blocks: [] };
  }

  /**
   * The wallet of the customer who is billed for the subscription's usage (money 5.5.2); created with the grant's
   * rates.
   */
  private async open(grant: CreditGrant): Promise<Ledger> {
    if (this.ledger !== null) return this.ledger;
    const { tx, deps, caller, subscription } = this;
    const { wallet, isNew } = await prepaidWallet(tx, deps, caller, {
      customer_id: await usagePayerOf(tx, caller.scope, subscription),
      currency: subscription.currency,
      wallet_name: null,
      ...(grant.conversion_rate === null ? {} : { conversion_rate: grant.conversion_rate }),
      ...(grant.topup_conversion_rate === null
        ? {}
        : { topup_conversion_rate: grant.topup_conversion_rate }),
    });
    if (isNew) this.created = wallet;
    return ledgerOfCredits(deps, wallet);
  }
}

const scopeOf = ({ tenant_id, environment_id }: Caller['scope']) => ({ tenant_id, environment_id });

/** From when on the grant gives nothing: its own end or that of its subscription. Null without an end. */
function endOf(grant: CreditGrant, subscription: SubscriptionRow): string | null {
  const { end_date, cancel_at, cancelled_at } = subscription;
  const ends = [grant.end_date, end_date, cancel_at, cancelled_at].filter((end) => end !== null);
  return ends.length === 0 ? null : ends.reduce((end, other) => earlierOf(end, other));
}
