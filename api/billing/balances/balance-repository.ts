import type { TopUpHistory } from '../../../domain/wallet/auto-top-up.ts';
import type { AlertState } from '../../../domain/wallet/balance-alert.ts';
import type { ClaimingInvoice } from '../../../domain/wallet/real-time-balance.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import type { AlertSettings } from '../../../schemas/feature.ts';
import { SUBSCRIPTION_COLUMNS, type SubscriptionRow } from '../../../schemas/subscription.ts';
import type { WalletRow } from '../credits/wallet-repository.ts';
import { openInvoiceLines } from '../records/open-invoice-line-repository.ts';
import { subscriptionsPaidBy } from '../records/usage-payer-repository.ts';

/**
 * Features with an enabled alert, and those with a last state other than `ok` for the wallet. `walletId` is the
 * expression of an id.
 */
const watched = (db: Db, scope: Scope, walletId: Fragment): Fragment => db`
    select * from (
      select f.id, f.alert_settings,
             (select l.alert_status from alert_logs l
               where ${inScope(db, scope, 'l')} and l.parent_entity_id = ${walletId} and l.entity_id = f.id
                 and l.alert_type = 'feature_wallet_balance'
               order by l.created_at desc, l.id desc limit 1) as previous
        from features f
       where ${inScope(db, scope, 'f')} and f.status = 'published' and f.alert_settings is not null) watched
     where (alert_settings ->> 'alert_enabled')::boolean or coalesce(previous, 'ok') <> 'ok'`;

/** A feature whose levels are compared with the credits of a wallet. */
export interface WatchedFeature {
  readonly wallet_id: string;
  readonly id: string;
  readonly alert_settings: AlertSettings;
  /** The last state that was logged for the wallet; null if none was. */
  readonly previous: AlertState | null;
}

/** The features that are compared with the credits of each wallet, by wallet and id. */
export async function watchedFeatures(
  db: Db,
  scope: Scope,
  walletIds: readonly string[],
): Promise<WatchedFeature[]> {
  return await db<WatchedFeature[]>`
    select w.id as wallet_id, f.id, f.alert_settings, f.previous
      from unnest(${walletIds as string[]}::text[]) as w (id)
      cross join lateral (${watched(db, scope, db`w.id`)}) f
     order by w.id, f.id`;
}

/**
 * The wallets that are evaluated: a wallet has levels, its environment has, a feature has, or it has an automatic
 * top-up. The value tells whether the wallet ever held credits: without, it is evaluated once something unsettled
 * lowers its balance. One statement, because every command on a wallet asks it.
 */
export async function findWatched(
  db: Db,
  scope: Scope,
  wallets: readonly WalletRow[],
): Promise<ReadonlyMap<string, { readonly has_held_credits: boolean }>> {
  const active = wallets.filter(({ wallet_status }) => wallet_status === 'active');
  if (active.length === 0) return new Map();
  const idsOf = (is: (wallet: WalletRow) => boolean): string[] =>
    active.filter(is).map(({ id }) => id);
  const certain = idsOf(
    (wallet) =>
      wallet.auto_topup?.enabled === true ||
      wallet.alert_state !== 'ok' ||
      wallet.alert_settings?.alert_enabled === true,
  );
  const followers = idsOf(({ alert_settings }) => alert_settings === null);
  const ofEnvironment = db`exists (
      select from settings
       where ${inScope(db, scope)} and key = 'wallet_balance_alert_config'
         and (value ->> 'alert_enabled')::boolean)`;
  const rows = await db<{ id: string; has_held_credits: boolean }[]>`
    select w.id,
           exists (
             select from wallet_transactions t
              where ${inScope(db, scope, 't')} and t.wallet_id = w.id
                and t.transaction_status = 'completed') as has_held_credits
      from unnest(${idsOf(() => true)}::text[]) as w (id)
     where w.id = any(${certain}::text[]) or (w.id = any(${followers}::text[]) and ${ofEnvironment})
        or exists (${watched(db, scope, db`w.id`)})`;
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Pending purchases of the wallet, and what its earlier automatic top-ups mean for the next one (money 3.4 to 3.8). The
 * earlier ones are not read: a wallet that tops itself up each hour has 8,760 of them a year.
 */
export async function topUpHistory(
  db: Db,
  scope: Scope,
  { id, customer_id }: Pick<WalletRow, 'id' | 'customer_id'>,
): Promise<TopUpHistory> {
  const isAuto = db`coalesce(t.metadata ->> 'auto_topup', '') = 'true'`;
  const isCredit = db`${inScope(db, scope, 't')} and t.wallet_id = ${id} and t.type = 'credit'`;
  const [pending, [known]] = await Promise.all([
    db<TopUpHistory['pending'][number][]>`
      select t.credit_amount, ${isAuto} as is_auto from wallet_transactions t
       where ${isCredit} and t.transaction_status = 'pending'`,
    db<Omit<TopUpHistory, 'pending'>[]>`
      select (select t.created_at from wallet_transactions t where ${isCredit} and ${isAuto}
               order by t.created_at desc, t.id desc limit 1) as last_auto_top_up_at,
             exists (select from invoices i join wallet_transactions t on t.id = i.purchased_transaction_id
                      where ${inScope(db, scope, 'i')} and i.customer_id = ${customer_id}
                        and i.invoice_status = 'FINALIZED' and i.amount_remaining > 0
                        and ${isCredit} and ${isAuto}) as has_unpaid_auto_invoice`,
  ]);
  return { pending, ...known! };
}

/** A subscription with the customer who is billed for the usage of its running period. */
export type PaidSubscription = SubscriptionRow & { readonly usage_payer_id: string };

/** Running subscriptions whose usage these customers pay, each once, unordered. */
export async function runningSubscriptions(
  db: Db,
  scope: Scope,
  payers: readonly string[],
): Promise<PaidSubscription[]> {
  if (payers.length === 0) return [];
  return await db<PaidSubscription[]>`
    select ${columnList(db, SUBSCRIPTION_COLUMNS)}, usage_payer_id
      from ${subscriptionsPaidBy(db, scope, payers)} paid
     where subscription_status in ('active', 'trialing') and subscription_type <> 'inherited'`;
}

/** Running periods of the subscriptions that the customer pays, inherited ones included, unordered. */
export async function runningPeriods(
  db: Db,
  scope: Scope,
  payer: string,
): Promise<{ readonly subscription_status: string; readonly current_period_start: string }[]> {
  return await db<{ subscription_status: string; current_period_start: string }[]>`
    select subscription_status, current_period_start
      from ${subscriptionsPaidBy(db, scope, [payer])} paid
     where subscription_status in ('active', 'trialing')`;
}

/** Open invoices of the customers, the rows of each price type added up. */
export async function claimingInvoices(
  db: Db,
  scope: Scope,
  customerIds: readonly string[],
): Promise<(ClaimingInvoice & { readonly customer_id: string })[]> {
  if (customerIds.length === 0) return [];
  return await db<(ClaimingInvoice & { readonly customer_id: string })[]>`
    select i.customer_id, i.currency, i.invoice_status, i.payment_status, i.amount_paid,
           i.amount_remaining, i.period_end, i.purchased_transaction_id is not null as is_top_up,
           ${openInvoiceLines(db, scope)}
      from invoices i
     where ${inScope(db, scope, 'i')} and i.customer_id = any(${customerIds as string[]})
       and i.status = 'published' and i.invoice_status in ('DRAFT', 'FINALIZED')
       and i.amount_remaining > 0 and i.payment_status <> 'SUCCEEDED'`;
}
